/** What an empty room shows: who is here, and what to try first. */

import { clean } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { face, namesOf } from "./faces.js";

const TRY = [
  ["reply to me", "a reply that quotes your message"],
  ["react with 🎉", "an emoji on your message"],
  ["stay silent", "it reads your message and says nothing"],
  ["/think high", "it thinks harder from now on"],
];
const OWNER = "you";
const TRY_TOGETHER = [
  ["Hello @all, who are you?", "everybody answers"],
  ["@all should we ship on Friday?", "several opinions"],
];

const WRITE = "Write below, or try one of these. Replies, reactions and threads work as in any chat.";
const WHO = /** @type {Record<string, (first?: string) => string>} */ ({
  lead: (first) => `${first} answers messages that name nobody. Write @ and a name to ask another agent, @all to ask everybody.`,
  all: () => "A message that names nobody goes to every agent, and each may stay silent. Write @ and a name to ask one of them.",
  mentions: () => "An agent answers when it is named: write @ and its name, @all to ask everybody.",
});

/** @param {import("./app.js").App} app */
export function welcome(app) {
  const room = app.state.rooms.get(app.navigation.room);
  if (!room) return h("div", { class: "empty" }, h("p", {}, "No room yet."));
  const agents = room.agents.map((id) => app.state.member(id));
  const named = room.kind === "group" && app.state.wake === "mentions";
  // Commands of people who may not use them are silently ignored, so they would be a poor first try.
  const tries = TRY.filter(([words]) => app.state.me?.id === OWNER || !words.startsWith("/"));
  const alone = named ? tries.map(([words, meaning]) => [`@${room.agents[0]} ${words}`, meaning]) : tries;
  const suggestions = agents.length > 1 ? [...TRY_TOGETHER, ...alone.slice(0, 2)] : alone;
  const title = room.kind === "direct" ? `Say hello to ${namesOf(agents)}` : `Welcome to ${clean(room.title)}`;
  const lead = named ? WHO.mentions() : agents.length > 1 ? WHO[app.state.wake](clean(agents[0].name)) : WRITE;
  return h(
    "div",
    { class: "empty" },
    h("div", { class: "empty-faces" }, ...agents.slice(0, 5).map((agent) => face(agent, "large"))),
    h("h2", {}, title),
    h("p", {}, lead),
    h(
      "div",
      { class: "suggestions", role: "group", "aria-label": "Things to try" },
      ...suggestions.map(([words, meaning]) =>
        h(
          "button",
          { type: "button", class: "suggestion", onclick: () => app.pane.say(words) },
          h("strong", {}, words),
          h("span", {}, meaning),
        ),
      ),
    ),
  );
}
