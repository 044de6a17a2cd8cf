/** The live flow: a row for each message with its progress; a click shows each stage and its reason. */

import { clean, oneLine, sentence } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { get } from "../shared/api.js";
import { duration, fullOf, secondsOf } from "../shared/times.js";
import { steps } from "../shared/trace.js";
import { reasonOf, standing } from "./state.js";

/** @typedef {import("./state.js").Journey} Journey */

const WORDS = /** @type {Record<string, string>} */ ({
  waiting: "arrived",
  turn: "agent at work",
  answer: "answered by the gateway",
  drop: "not answered",
  answered: "answered",
  silent: "stayed silent",
  failed: "failed",
  cancelled: "stopped",
});

const NOTHING = "No message since the gateway started. Write one in a chat, and it appears here.";

export class Flow {
  #rows = /** @type {Map<string, any>} */ (new Map());
  #open = "";

  /** @param {import("./state.js").ConsoleState} state */
  constructor(state) {
    this.state = state;
    this.filter = h("input", {
      type: "search",
      placeholder: "Filter by words, chat, outcome",
      "aria-label": "Filter the flow",
      autocomplete: "off",
      oninput: () => this.draw(),
    });
    this.list = h("ol", { class: "flow" });
    this.nothing = h("p", { class: "nothing" }, NOTHING);
    this.why = h("form", {
      class: "why-form",
      onsubmit: (/** @type {Event} */ event) => (event.preventDefault(), this.explain(this.id.value.trim())),
    });
    this.id = h("input", {
      type: "search",
      placeholder: "Message id or m42",
      "aria-label": "Id or handle of the message to explain",
      title: "The platform's id of a message, or a handle such as m42: one message of each chat",
      autocomplete: "off",
    });
    this.why.append(this.id, h("button", { type: "submit", class: "plain" }, "Why?"));
    this.answer = h("div", { class: "why-answer", "aria-live": "polite" });
    this.element = h(
      "section",
      { class: "card", id: "flow", "aria-label": "Flow" },
      h("header", {}, h("h2", {}, "Flow"), this.filter, this.why),
      this.answer,
      this.nothing,
      this.list,
    );
  }

  draw() {
    const words = /** @type {string[]} */ (this.filter.value.toLowerCase().split(/\s+/).filter(Boolean));
    const fits = (/** @type {Journey} */ journey) => {
      const text =
        `${journey.sender} ${journey.text} ${journey.channel} ${journey.chat} ${journey.message} ${outcomeOf(journey)} ${reasonOf(journey)}`.toLowerCase();
      return words.every((word) => text.includes(word));
    };
    const journeys = this.state.newest().filter(fits);
    this.nothing.textContent = words.length ? "No recent message matches." : NOTHING;
    this.nothing.hidden = journeys.length > 0;
    const rows = journeys.map((journey) => this.#row(journey));
    const wanted = new Set(rows);
    for (const child of [...this.list.children]) if (!wanted.has(child)) child.remove();
    rows.forEach((row, i) => {
      if (this.list.children[i] !== row) this.list.insertBefore(row, this.list.children[i] ?? null);
    });
  }

  /** The recorded trace of any message. @param {string} message */
  async explain(message) {
    if (!message) return;
    this.id.value = message;
    try {
      const { events } = await get(`messages/${encodeURIComponent(message)}/trace`);
      this.#tell(...events.map(drawEvent));
    } catch (error) {
      this.#tell(h("p", { class: "problem" }, sentence(/** @type {Error} */ (error).message)));
    }
    this.answer.scrollIntoView({ block: "nearest" });
  }

  /** @param {HTMLElement[]} found */
  #tell(...found) {
    const close = h("button", { type: "button", class: "plain", onclick: () => fill(this.answer) }, "Close");
    fill(this.answer, ...found, close);
  }

  /** @param {Journey} journey */
  #row(journey) {
    const how = standing(journey);
    const key = JSON.stringify([
      how,
      journey.text,
      journey.steps.length,
      journey.turns.length,
      journey.sent.length,
      this.#open === journey.id,
    ]);
    const before = this.#rows.get(journey.id);
    if (before?.key === key) return before.row;
    const focused = before?.row.contains(document.activeElement);
    const row = this.#make(journey, how);
    before?.row.replaceWith(row);
    this.#rows.set(journey.id, { key, row });
    if (focused) row.querySelector("button").focus();
    return row;
  }

  /** @param {Journey} journey @param {string} how */
  #make(journey, how) {
    const open = this.#open === journey.id;
    const toggle = () => {
      this.#open = open ? "" : journey.id;
      this.draw();
    };
    const took = journey.turns.at(-1)?.took;
    const reason = reasonOf(journey);
    return h(
      "li",
      { class: `journey ${how}` },
      h(
        "button",
        { type: "button", class: "summary", "aria-expanded": String(open), onclick: toggle },
        h("time", { title: fullOf(journey.at) }, secondsOf(journey.at)),
        h("span", { class: "place" }, `${clean(journey.channel)} · ${clean(journey.chat)}`),
        h(
          "span",
          { class: "said" },
          h("bdi", { class: "sender" }, clean(journey.sender)),
          " ",
          h("span", { dir: "auto" }, oneLine(journey.text, 160)),
        ),
        h("span", { class: "track", "aria-hidden": "true" }, ...dots(journey)),
        h("span", { class: "outcome" }, outcomeOf(journey), took ? ` · ${duration(took * 1000)}` : ""),
        // The command itself shows that it answered.
        reason && reason !== journey.text.trim() ? h("span", { class: "reason" }, clean(reason)) : null,
      ),
      open ? this.#details(journey) : null,
    );
  }

  /** @param {Journey} journey */
  #details(journey) {
    const turns = journey.turns.map((turn) =>
      h(
        "li",
        {},
        h("strong", {}, clean(turn.agent)),
        ` ${WORDS[turn.outcome] ?? turn.outcome}`,
        turn.took ? ` after ${duration(turn.took * 1000)}` : "",
        turn.why ? h("span", { class: "reason" }, clean(turn.why)) : null,
      ),
    );
    const sent = journey.sent.map((part) => h("li", {}, h("span", { dir: "auto" }, oneLine(part.text, 200))));
    return h(
      "div",
      { class: "details" },
      journey.steps.length || !journey.turns.length ? steps(journey.steps) : null,
      turns.length ? h("div", {}, h("h3", {}, "Turns"), h("ul", {}, ...turns)) : null,
      sent.length ? h("div", {}, h("h3", {}, "Sent"), h("ul", {}, ...sent)) : null,
      journey.message
        ? h(
            "button",
            { type: "button", class: "plain", onclick: () => this.explain(journey.message) },
            "Why? What was decided about it",
          )
        : null,
    );
  }
}

/** @param {Journey} journey */
function outcomeOf(journey) {
  const how = standing(journey);
  return journey.entry === "tick" && how === "drop" ? "no turn" : (WORDS[how] ?? how);
}

/** How far it came: in, decided, agent, out. @param {Journey} journey */
function dots(journey) {
  const last = journey.turns.at(-1);
  const decided = journey.outcome === "drop" ? "stop" : journey.outcome || last ? "ok" : "";
  const agent = last ? (["answered", "silent"].includes(last.outcome) ? "ok" : "bad") : journey.outcome === "turn" ? "now" : "";
  return ["ok", decided, agent, journey.sent.length ? "ok" : ""].map((kind) => h("i", { class: kind }));
}

/** @param {any} event */
function drawEvent(event) {
  const routed = event.routed.map((/** @type {any} */ each) =>
    h(
      "li",
      {},
      h("strong", {}, clean(each.session)),
      ` ${each.state}`,
      each.turn ? ` in turn ${each.turn}` : "",
      each.reason ? h("span", { class: "reason" }, clean(each.reason)) : null,
    ),
  );
  return h(
    "article",
    { class: "trace" },
    h("h3", {}, `${clean(event.channel)} · ${clean(event.chat)} · ${clean(event.message)}`),
    h(
      "blockquote",
      { dir: "auto" },
      h("bdi", { class: "sender" }, clean(event.sender)),
      ` ${oneLine(event.text, 300)}`,
    ),
    event.sentence ? h("p", {}, clean(event.sentence)) : null,
    steps(event.steps),
    event.reason ? h("p", { class: "reason" }, `${event.state}: ${clean(event.reason)}`) : null,
    routed.length ? h("ul", {}, ...routed) : null,
  );
}
