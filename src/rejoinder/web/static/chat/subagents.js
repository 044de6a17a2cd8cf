/** The sub-agents of a room: a button with the number of those working, a list of them, and the log of one. */

import { clean, oneLine } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { read } from "../shared/markdown.js";
import { patch } from "../shared/patch.js";
import { fullOf, shortOf } from "../shared/times.js";
import { face } from "./faces.js";

/**
 * @typedef {{id: string, name: string, agent: string, state: string, task: string, started: number, ended?: number,
 *   of?: string, thread?: string, parent?: string, problem?: string}} Subagent
 * @typedef {{kind: "told" | "did" | "said", text: string}} LogLine
 */

const LOOK_AGAIN = 1_000;
const STATES = /** @type {Record<string, string>} */ ({ ended: "finished", failed: "failed", killed: "stopped" });
const KINDS = { told: "Told", did: "Did", said: "Said" };

export class Subagents {
  #rooms = /** @type {Map<string, Subagent[]>} */ (new Map());
  #rows = /** @type {Map<string, Row>} */ (new Map());
  #request = ""; // the request whose answer is shown
  #timer = 0;
  shown = ""; // whose log is open; empty: the list

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.count = h("span", { class: "count" });
    this.button = h(
      "button",
      { class: "quiet subagents-button", type: "button", hidden: true, onclick: () => app.panel.openSubagents() },
      icon("branch"),
      this.count,
    );
    this.list = h("ul", { class: "subagents", "aria-label": "Sub-agents" });
    this.detail = new Log(app, () => this.open(""));
  }

  get #here() {
    return this.#rooms.get(this.app.navigation.room) ?? [];
  }

  /** What the panel shows. */
  get element() {
    return this.shown ? this.detail.element : this.list;
  }

  /** The room has changed, or the line is up again. */
  look() {
    this.#draw();
    this.#ask("subagents", {});
  }

  /** @param {any} frame @returns {boolean} whether it was one of these */
  takes(frame) {
    if (frame.type === "subagents_changed") {
      if (frame.room === this.app.navigation.room) this.#ask("subagents", {});
    } else if (frame.type === "subagents") {
      this.#rooms.set(frame.room, frame.subagents);
      if (frame.room === this.app.navigation.room) this.#draw();
    } else if (frame.type === "subagent_log") {
      if (frame.client === this.#request && frame.subagent === this.shown) this.detail.show(frame.log, frame.cut);
    } else return false;
    return true;
  }

  /** Opens the log of one, or the list. @param {string} id */
  open(id) {
    const before = this.shown;
    this.shown = id;
    this.detail.clear();
    this.app.panel.drawSubagents();
    this.#draw();
    this.#refresh();
    if (id) this.detail.back.focus();
    else (this.#rows.get(before)?.button ?? this.list.querySelector("button"))?.focus();
  }

  /** The panel was opened or closed. @param {boolean} isOpen */
  panelToggled(isOpen) {
    clearInterval(this.#timer);
    this.#timer = isOpen ? setInterval(() => this.#tick(), LOOK_AGAIN) : 0;
    this.button.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) return void (this.shown = "");
    this.#draw();
    this.#refresh();
  }

  /** The words of a working sub-agent are not sent unasked: the page asks for them while somebody reads them. */
  #tick() {
    if (document.hidden) return;
    this.#draw(); // how long it has been
    if (this.#here.some((each) => each.state === "running" && (!this.shown || each.id === this.shown))) this.#refresh();
  }

  #refresh() {
    if (this.shown) this.#ask("subagent_log", { subagent: this.shown });
    this.#ask("subagents", {});
  }

  /** @param {string} type @param {Record<string, string>} about */
  #ask(type, about) {
    if (!this.app.navigation.room) return;
    const client = this.app.inquire({ type, room: this.app.navigation.room, ...about });
    if (type === "subagent_log") this.#request = client;
  }

  #draw() {
    const here = this.#here;
    const working = here.filter((each) => each.state === "running").length;
    this.button.hidden = !here.length;
    this.button.classList.toggle("working", working > 0);
    this.count.textContent = working ? String(working) : "";
    const label = working ? `Sub-agents: ${working} at work` : "Sub-agents";
    this.button.setAttribute("aria-label", label);
    this.button.title = label;
    if (this.app.panel.kind !== "subagents") return;
    const one = here.find((each) => each.id === this.shown);
    if (one) this.detail.about(one);
    const rows = here.map((each) => this.#row(each));
    const now = [...this.list.children];
    if (rows.length !== now.length || rows.some((row, i) => row.element !== now[i]))
      fill(this.list, ...rows.map((row) => row.element)); // only when one is new: the focus stays where it is
    for (const id of this.#rows.keys()) if (!here.some((each) => each.id === id)) this.#rows.delete(id);
  }

  /** @param {Subagent} each */
  #row(each) {
    const row = this.#rows.get(each.id) ?? new Row(this.app, each, () => this.open(each.id));
    this.#rows.set(each.id, row);
    row.update(each);
    return row;
  }
}

class Row {
  /** @param {import("./app.js").App} app @param {Subagent} each @param {() => void} open */
  constructor(app, each, open) {
    this.state = h("span", { class: "state" });
    this.button = h(
      "button",
      { type: "button", class: "hit", onclick: open },
      face(app.state.member(each.agent), "small"),
      h(
        "span",
        {},
        h("bdi", { class: "name" }, clean(each.name)),
        " ",
        this.state,
        " ",
        h("span", { class: "task", dir: "auto" }, oneLine(each.task, 300)),
      ),
    );
    this.element = h("li", { class: each.parent ? "below" : "" }, this.button);
  }

  /** @param {Subagent} each */
  update(each) {
    write(this.state, stateOf(each));
    this.element.classList.toggle("working", each.state === "running");
    this.element.classList.toggle("bad", each.state === "failed");
  }
}

/** One run: who, what for, and what it was told, did and said. */
class Log {
  #lines = /** @type {{element: any, body: any, kind: string, text: string}[]} */ ([]);
  #one = /** @type {Subagent | null} */ (null);

  /** @param {import("./app.js").App} app @param {() => void} back */
  constructor(app, back) {
    this.app = app;
    this.back = h("button", { type: "button", class: "plain back", onclick: back }, icon("back"), "All sub-agents");
    this.stop = h("button", { type: "button", class: "plain stop", onclick: () => this.#stop() }, icon("stop"), "Stop");
    this.state = h("p", { class: "state", role: "status" });
    this.who = h("p", { class: "run-name" });
    this.task = h("p", { class: "task", dir: "auto" });
    this.problem = h("p", { class: "problem", dir: "auto", hidden: true });
    this.earlier = h("p", { class: "nothing", hidden: true }, "The beginning is not shown.");
    this.empty = h("p", { class: "nothing" }, "Nothing yet.");
    this.log = h("ol", { class: "log" });
    this.scroller = h(
      "div",
      { class: "log-scroller", role: "log", "aria-live": "off", "aria-label": "Log", tabIndex: 0 },
      this.earlier,
      this.empty,
      this.log,
    );
    this.element = h(
      "div",
      { class: "subagent" },
      h("div", { class: "subagent-top" }, this.back, this.stop),
      h("div", { class: "subagent-about" }, this.who, this.state, this.task, this.problem),
      this.scroller,
    );
  }

  clear() {
    this.#lines = [];
    this.#one = null;
    fill(this.log);
    fill(this.who);
    this.empty.hidden = true;
    this.earlier.hidden = true;
  }

  /** @param {Subagent} one */
  about(one) {
    if (!this.#one) {
      const agent = this.app.state.member(one.agent);
      fill(this.who, face(agent, "small"), h("strong", {}, h("bdi", {}, clean(one.name))), ` ${clean(agent.name)}`);
      this.task.textContent = clean(one.task);
      this.state.title = fullOf(one.started);
    }
    this.#one = one;
    write(this.state, stateOf(one));
    this.state.classList.toggle("working", one.state === "running");
    write(this.problem, clean(one.problem ?? ""));
    this.problem.hidden = !one.problem;
    this.stop.hidden = one.state !== "running";
  }

  /** @param {LogLine[]} log @param {boolean} cut */
  show(log, cut) {
    const { scroller } = this;
    const follows = scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < 40;
    log.forEach((line, i) => this.#line(line, i));
    for (const gone of this.#lines.splice(log.length)) gone.element.remove();
    this.empty.hidden = log.length > 0;
    this.earlier.hidden = !cut;
    if (follows) scroller.scrollTop = scroller.scrollHeight;
  }

  /** Only what has changed is drawn: a selection stays, and nothing flickers. @param {LogLine} line @param {number} at */
  #line({ kind, text }, at) {
    let shown = this.#lines[at];
    if (shown?.kind === kind && shown.text === text) return;
    if (shown?.kind !== kind) {
      const body = h("div", { class: kind === "told" ? "words" : "body", dir: "auto" });
      const element = h("li", { class: kind }, h("span", { class: "sr-only" }, `${KINDS[kind]}: `), body);
      if (shown) shown.element.replaceWith(element);
      else this.log.append(element);
      shown = this.#lines[at] = { element, body, kind, text: "" };
    }
    shown.text = text;
    if (kind === "told") shown.body.textContent = clean(text);
    else patch(shown.body, read(text, { growing: this.#one?.state === "running" }).trees);
  }

  /** Uses the command, so that it has the same rules; in a room of several agents it names the one that has the run. */
  #stop() {
    const { app } = this;
    if (!this.#one) return;
    const { name, of, thread = null } = this.#one;
    const to = app.state.rooms.get(app.navigation.room)?.kind === "group" ? `@${of} ` : "";
    app.ask({ type: "say", room: app.navigation.room, thread, text: `${to}/kill ${name}` });
  }
}

/** Nothing is announced that has not changed. @param {any} element @param {string} text */
function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** @param {Subagent} each */
function stateOf({ state, started, ended }) {
  if (state === "running") return `at work for ${howLong(Date.now() - started)}`;
  const end = ended ?? started;
  return `${STATES[state]} after ${howLong(end - started)} · ${shortOf(end, Date.now())}`;
}

/** @param {number} ms */
function howLong(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return seconds < 3600 ? `${Math.floor(seconds / 60)} min` : `${Math.floor(seconds / 3600)} h`;
}
