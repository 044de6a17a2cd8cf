/** The cards of the console: channels, sessions with their queues, the outbox, pairing requests, jobs. */

import { clean, oneLine, sentence } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { post } from "../shared/api.js";
import { Card, since, until } from "./card.js";
import { drawHooks } from "./hooks.js";
import { drawJobs } from "./jobs.js";
import { drawProcesses } from "./processes.js";
import { drawSubagents } from "./subagents.js";

export const cards = () => ({
  sessions: new Card("sessions", "Sessions", "sessions", drawSessions),
  lanes: new Card("lanes", "Waiting for a turn", "lanes", drawLanes),
  channels: new Card("channels", "Channels", "channels", drawChannels),
  pairing: new Card("pairing", "Pairing requests", "pairing", drawPairing),
  people: new Card("people", "People", "people", drawPeople),
  outbox: new Card("outbox", "Outbox", "outbox", drawOutbox),
  quarantine: new Card("quarantine", "Quarantine", "quarantine", drawQuarantine),
  jobs: new Card("jobs", "Scheduled jobs", "jobs", drawJobs),
  subagents: new Card("subagents", "Sub-agents", "subagents", drawSubagents),
  processes: new Card("processes", "Processes", "processes", drawProcesses),
  hooks: new Card("hooks", "Hooks", "hooks", drawHooks),
});

/** @param {any} answer */
const drawChannels = ({ channels }) => [
  h(
    "ul",
    { class: "rows" },
    ...channels.map((/** @type {any} */ channel) =>
      h(
        "li",
        { class: channel.listening && !channel.problem ? "good" : "bad" },
        icon(channel.listening && !channel.problem ? "check" : "alert"),
        h("strong", {}, clean(channel.name)),
        channel.kind === channel.name ? null : h("span", { class: "quiet-text" }, channel.kind),
        h("span", { class: "state" }, channel.listening ? "listening" : "not listening"),
        channel.silent_for == null ? null : h("span", { class: "state" }, `last heard ${Math.round(channel.silent_for)} s ago`),
        channel.problem ? h("p", { class: "reason" }, clean(channel.problem)) : null,
        ...(channel.places ?? []).map((/** @type {string} */ trouble) => h("p", { class: "reason" }, clean(trouble))),
      ),
    ),
  ),
];

/** @param {any} answer @param {Card} card */
const drawPairing = ({ requests }, card) =>
  requests.length
    ? [
        h(
          "ul",
          { class: "rows" },
          ...requests.map((/** @type {any} */ request) =>
            h(
              "li",
              {},
              icon("person"),
              h("strong", {}, clean(request.sender)),
              h("span", { class: "quiet-text" }, clean(request.channel), " · ", since(request.asked)),
              h("code", {}, request.code),
              h(
                "button",
                {
                  type: "button",
                  class: "primary",
                  "aria-label": `Let ${clean(request.sender)} in`,
                  onclick: (/** @type {any} */ event) =>
                    card.act(`pairing/${encodeURIComponent(request.code)}/approve`, event.currentTarget),
                },
                "Let in",
              ),
            ),
          ),
        ),
      ]
    : [h("p", { class: "nothing" }, "Nobody is waiting to be let in.")];

/** @param {any} answer @param {Card} card */
const drawPeople = ({ people, closed }, card) => [
  ...(people.length
    ? [
        h(
          "ul",
          { class: "rows" },
          ...people.map((/** @type {any} */ { person, name, since: moment }) =>
            h(
              "li",
              {},
              icon("person"),
              h("strong", {}, clean(name)),
              h("span", { class: "quiet-text" }, "invited ", since(moment)),
              h(
                "span",
                { class: "actions" },
                card.button(
                  `people/${encodeURIComponent(person)}/revoke`,
                  { label: `End the login of ${clean(name)}`, sure: "Really?" },
                  "End login",
                ),
              ),
            ),
          ),
        ),
      ]
    : closed
      ? []
      : [h("p", { class: "nothing" }, "Only the owner has a login.")]),
  closed
    ? h("p", { class: "nothing" }, sentence(closed))
    : (invitations.get(card) ?? invitation(card)),
];

/** The form for an invitation, kept while the list changes: the typed name, and the link that is shown once. */
const invitations = /** @type {WeakMap<Card, Node>} */ (new WeakMap());

/** Asks for a name, and shows the link once. @param {Card} card */
function invitation(card) {
  const name = h("input", { type: "text", required: true, maxlength: 40, autocomplete: "off", placeholder: "Name", "aria-label": "Name" });
  const link = h("p", { class: "words", role: "status" });
  const form = h("form", { class: "why-form" }, name, h("button", { type: "submit", class: "plain" }, "Invite"), link);
  form.addEventListener("submit", async (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const made = await post(`people/${encodeURIComponent(name.value.trim())}/invite`);
      link.textContent = `${clean(made.name)} logs in with this link, which is not shown again: ${made.link}`;
    } catch (error) {
      card.tell(/** @type {Error} */ (error).message);
    }
  });
  invitations.set(card, form);
  return form;
}

const STUCK = new Set(["dead", "held"]);

/** @param {any} answer @param {Card} card */
function drawOutbox({ parts }, card) {
  if (!parts.length) return [h("p", { class: "nothing" }, "Everything has been delivered.")];
  const sorted = [...parts].sort((a, b) => Number(STUCK.has(b.state)) - Number(STUCK.has(a.state)) || b.id - a.id);
  return [
    h(
      "ul",
      { class: "rows" },
      ...sorted.map((part) =>
        h(
          "li",
          { class: part.state === "dead" ? "bad" : part.state === "held" ? "warn" : "" },
          icon(STUCK.has(part.state) ? "alert" : "clock"),
          h("strong", {}, STATES[part.state] ?? part.state),
          h(
            "span",
            { class: "quiet-text" },
            `${clean(part.channel)} · ${clean(part.chat)} · `,
            since(part.planned),
            part.attempts ? ` · ${part.attempts} ${part.attempts === 1 ? "try" : "tries"}` : "",
            ...(part.retry_at ? [" · next try ", until(part.retry_at)] : []),
          ),
          STUCK.has(part.state) ? h("span", { class: "actions" }, ...actions(part, card)) : null,
          h("p", { class: "words", dir: "auto" }, oneLine(part.text, 140)),
          part.error ? h("p", { class: "reason" }, clean(part.error)) : null,
        ),
      ),
    ),
  ];
}

/** @param {any} part @param {Card} card */
const actions = ({ id }, card) => [
  card.button(`outbox/${id}/retry`, { label: `Send part ${id} again` }, icon("retry"), "Retry"),
  card.button(`outbox/${id}/drop`, { label: `Drop part ${id}`, sure: "Really?" }, icon("trash"), "Drop"),
];

/** @param {any} answer @param {Card} card */
const drawQuarantine = ({ quarantined }, card) =>
  quarantined.length
    ? [
        h(
          "ul",
          { class: "rows" },
          ...quarantined.map((/** @type {any} */ each) =>
            h(
              "li",
              { class: "warn" },
              icon("alert"),
              h("strong", {}, `${each.kind} ${clean(each.id)}`),
              h("span", { class: "quiet-text" }, `${clean(each.where)} · `, since(each.at)),
              each.number
                ? h(
                    "span",
                    { class: "actions" },
                    card.button(
                      `quarantine/${each.kind}/${each.number}/retry`,
                      { label: `Run ${each.kind} ${clean(each.id)} again` },
                      icon("retry"),
                      "Run again",
                    ),
                  )
                : null,
              each.why ? h("p", { class: "reason" }, clean(each.why)) : null,
            ),
          ),
        ),
      ]
    : [h("p", { class: "nothing" }, "Nothing is quarantined.")];

const STATES = /** @type {Record<string, string>} */ ({
  dead: "not delivered",
  held: "unconfirmed",
  unknown: "unconfirmed",
  planned: "waiting",
  sending: "on its way",
  retry: "retrying",
});

/** @param {any} answer */
const drawSessions = ({ sessions }) =>
  sessions.length
    ? [
        h(
          "div",
          { class: "scrolls", tabIndex: 0, role: "region", "aria-label": "Sessions" },
          h(
            "table",
            {},
            h(
              "thead",
              {},
              h(
                "tr",
                {},
                ...["Session", "Agent", "Model", "Waiting", "Tokens in / out", "Last used"].map((name) =>
                  h("th", { scope: "col" }, name),
                ),
              ),
            ),
            h(
              "tbody",
              {},
              ...sessions.map((/** @type {any} */ session) =>
                h(
                  "tr",
                  {},
                  h("th", { scope: "row" }, clean(session.key)),
                  h("td", {}, clean(session.agent)),
                  h("td", {}, session.model ? clean(session.model) : "–"),
                  h("td", { class: session.waiting ? "number warn" : "number" }, session.waiting),
                  h(
                    "td",
                    { class: "number" },
                    `${session.input_tokens.toLocaleString()} / ${session.output_tokens.toLocaleString()}`,
                  ),
                  h("td", { class: "number" }, since(session.touched)),
                ),
              ),
            ),
          ),
        ),
      ]
    : [h("p", { class: "nothing" }, "No session yet.")];

/** @param {any} answer */
const drawLanes = ({ lanes }) =>
  lanes.length
    ? lanes.map((/** @type {any} */ lane) =>
        h(
          "div",
          { class: "lane" },
          h("h3", {}, clean(lane.session), h("span", { class: "quiet-text" }, ` for ${clean(lane.agent)}`)),
          h(
            "ol",
            {},
            ...lane.waiting.map((/** @type {any} */ message) =>
              h(
                "li",
                {},
                h("bdi", { class: "sender" }, clean(message.sender)),
                " ",
                h("span", { dir: "auto" }, oneLine(message.text, 120)),
                h("span", { class: "quiet-text" }, " ", since(message.since)),
              ),
            ),
          ),
        ),
      )
    : [h("p", { class: "nothing" }, "No message is waiting for a turn.")];
