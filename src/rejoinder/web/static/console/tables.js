/** What stands and what waits: channels, sessions with their lanes, the outbox, strangers at the door. */

import { clean, oneLine } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { get, post } from "./api.js";

/** A card that is asked for and drawn again and again; what failed is said in it. */
export class Card {
  #last = "";

  /** @param {string} id @param {string} title @param {string} path @param {(answer: any, card: Card) => Node[]} draw */
  constructor(id, title, path, draw) {
    this.path = path;
    this.draw = draw;
    this.content = h("div", { class: "content" });
    this.problem = h("p", { class: "problem", role: "alert", hidden: true });
    this.element = h(
      "section",
      { class: "card", id, "aria-label": title },
      h("header", {}, h("h2", {}, title)),
      this.problem,
      this.content,
    );
  }

  async refresh() {
    try {
      const answer = await get(this.path);
      this.problem.hidden = true;
      const text = JSON.stringify(answer);
      if (text === this.#last && !this.element.querySelector("[data-since]")) return;
      if (text === this.#last) return age(this.element);
      this.#last = text;
      fill(this.content, ...this.draw(answer, this));
      age(this.element);
    } catch (error) {
      this.tell(/** @type {Error} */ (error).message);
    }
  }

  /** @param {string} path @param {any} button */
  async act(path, button) {
    button.disabled = true;
    try {
      await post(path);
      this.#last = "";
      await this.refresh();
    } catch (error) {
      button.disabled = false;
      this.tell(/** @type {Error} */ (error).message);
    }
  }

  /** @param {string} words */
  tell(words) {
    this.problem.textContent = `${words}.`;
    this.problem.hidden = false;
  }
}

export const cards = () => ({
  sessions: new Card("sessions", "Sessions", "sessions", drawSessions),
  lanes: new Card("lanes", "Waiting for a turn", "lanes", drawLanes),
  channels: new Card("channels", "Channels", "channels", drawChannels),
  pairing: new Card("pairing", "At the door", "pairing", drawPairing),
  outbox: new Card("outbox", "Outbox", "outbox", drawOutbox),
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
        h("span", { class: "state" }, channel.listening ? "listens" : "does not listen"),
        channel.problem ? h("p", { class: "reason" }, clean(channel.problem)) : null,
      ),
    ),
  ),
];

/** @param {any} answer @param {Card} card */
const drawPairing = ({ knocks }, card) =>
  knocks.length
    ? [
        h(
          "ul",
          { class: "rows" },
          ...knocks.map((/** @type {any} */ knock) =>
            h(
              "li",
              {},
              icon("person"),
              h("strong", {}, clean(knock.sender)),
              h("span", { class: "quiet-text" }, clean(knock.channel), " · ", since(knock.asked)),
              h("code", {}, knock.code),
              h(
                "button",
                {
                  type: "button",
                  class: "primary",
                  "aria-label": `Let ${clean(knock.sender)} in`,
                  onclick: (/** @type {any} */ event) =>
                    card.act(`pairing/${encodeURIComponent(knock.code)}/approve`, event.currentTarget),
                },
                "Let in",
              ),
            ),
          ),
        ),
      ]
    : [h("p", { class: "nothing" }, "Nobody waits to be let in.")];

const STUCK = new Set(["dead", "held"]);

/** @param {any} answer @param {Card} card */
function drawOutbox({ parts }, card) {
  if (!parts.length) return [h("p", { class: "nothing" }, "Everything has arrived.")];
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
          ),
          STUCK.has(part.state)
            ? h(
                "button",
                {
                  type: "button",
                  class: "plain",
                  "aria-label": `Send part ${part.id} again`,
                  onclick: (/** @type {any} */ event) => card.act(`outbox/${part.id}/retry`, event.currentTarget),
                },
                icon("retry"),
                "Retry",
              )
            : null,
          h("p", { class: "words", dir: "auto" }, oneLine(part.text, 140)),
          part.error ? h("p", { class: "reason" }, clean(part.error)) : null,
        ),
      ),
    ),
  ];
}

const STATES = /** @type {Record<string, string>} */ ({
  dead: "not delivered",
  held: "unconfirmed",
  unknown: "unconfirmed",
  pending: "on its way",
  sending: "on its way",
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
                ...["Session", "Agent", "Model", "Waiting", "Tokens in / out", "Last"].map((name) =>
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
    : [h("p", { class: "nothing" }, "No message waits for a turn.")];

/** A time that grows older while one looks at it. @param {string} moment */
const since = (moment) => h("time", { datetime: moment, "data-since": moment });

/** @param {Element} element */
function age(element) {
  for (const time of element.querySelectorAll("[data-since]")) {
    const past = Date.now() - Date.parse(time.getAttribute("data-since") ?? "");
    const words = `${rounded(Math.max(0, past))} ago`;
    if (time.textContent !== words) time.textContent = words;
  }
}

/** @param {number} ms */
function rounded(ms) {
  if (ms < 60_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 3_600_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 86_400_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} d`;
}
