/** The place beside the room: a thread, what a search found, why something was decided, or its sub-agents. */

import { get } from "../shared/api.js";
import { clean, oneLine, sentence } from "../shared/clean.js";
import { fill, h, narrow } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { shortOf } from "../shared/times.js";
import { steps } from "../shared/trace.js";
import { face, nameOf } from "./faces.js";
import { Pane } from "./pane.js";

const PAUSE = 200;

const UNRECORDED = "Nothing is recorded about this message: it answers no other message, or it is too old.";

export class Panel {
  kind = /** @type {"" | "thread" | "search" | "why" | "subagents"} */ ("");
  #explained = "";
  #timer = 0;
  #request = "";
  #oldest = /** @type {number | null} */ (null); // the oldest hit, if there are more

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.title = h("h2", {});
    this.content = h("div", { class: "panel-content" });
    const close = (this.closing = h(
      "button",
      { class: "quiet", type: "button", "aria-label": "Close", title: "Close (Esc)", onclick: () => this.close() },
      icon("close"),
    ));
    this.element = h(
      "aside",
      {
        class: "panel",
        hidden: true,
        "aria-label": "Thread",
        onkeydown: (/** @type {KeyboardEvent} */ e) => e.key === "Escape" && !e.defaultPrevented && this.close(),
      },
      h("header", {}, this.title, close),
      this.content,
    );
    this.thread = new Pane(app, { id: "thread-text", label: "the thread", escape: () => this.close() });
    this.query = h("input", {
      type: "search",
      placeholder: "Search messages",
      "aria-label": "Search messages",
      autocomplete: "off",
      oninput: () => this.#typed(),
    });
    this.here = h("input", { type: "checkbox", onchange: () => this.#search() });
    this.hits = h("ol", { class: "hits" });
    this.count = h("p", { class: "nothing", role: "status" });
    this.older = h(
      "button",
      { type: "button", class: "plain older", hidden: true, onclick: () => this.#search(this.#oldest) },
      "Show older",
    );
  }

  /** @param {{room: string, id: string}} root @param {boolean} [visits] whether it is a place to come back to */
  openThread(root, visits = true) {
    this.#open("thread", "Thread");
    fill(this.content, this.thread.element);
    this.thread.show(`${root.room}\n${root.id}`, { placeholder: "Reply in the thread" });
    if (visits) this.app.navigation.visited();
    this.thread.composer.focus();
  }

  /** Shows what was decided about a message; for an answer, about the message that it answers. @param {import("./state.js").Message} message */
  async openWhy({ id, answers }) {
    this.#open("why", "Why?");
    const shown = (this.#explained = answers || id);
    fill(this.content, h("p", { class: "nothing", role: "status" }, "Looking it up…"));
    this.closing.focus();
    const more = h("a", { class: "more", href: `/console#${encodeURIComponent(shown)}` }, "Open in the console");
    const found = await get(`messages/${encodeURIComponent(shown)}/trace`).then(
      ({ events }) => [...events.map(explanation), more],
      ({ status, message }) => [h("p", { class: "nothing" }, status === 404 ? UNRECORDED : sentence(message))],
    );
    if (this.kind !== "why" || this.#explained !== shown) return;
    fill(this.content, h("div", { class: "why", role: "status" }, ...found));
  }

  openSearch() {
    this.#open("search", "Search");
    const only = h("label", { class: "only-here" }, this.here, "Only in this room");
    fill(this.content, h("div", { class: "search-form" }, this.query, only), this.count, this.hits, this.older);
    this.query.focus();
    this.query.select();
  }

  openSubagents() {
    if (this.kind === "subagents") return this.close();
    this.#open("subagents", "Sub-agents");
    this.drawSubagents();
    this.app.subagents.panelToggled(true);
    this.closing.focus();
  }

  drawSubagents() {
    fill(this.content, this.app.subagents.element);
  }

  /** @param {boolean} [visits] whether to be without it is a place to come back to */
  close(visits = true) {
    if (!this.kind) return;
    const { kind } = this;
    this.kind = "";
    if (kind === "subagents") this.app.subagents.panelToggled(false);
    this.thread.place = this.thread.timeline.place = "";
    this.element.hidden = true;
    document.body.classList.remove("with-panel");
    if (visits && kind === "thread") this.app.navigation.visited();
    else if (visits) this.app.navigation.overlayClosed();
    if (kind === "subagents" && visits) this.app.subagents.button.focus();
    else if (!narrow()) this.app.pane.composer.focus();
  }

  /** @param {any} page @returns {boolean} whether it was an answer to this search */
  takes(page) {
    if (page.client !== this.#request) return false;
    const { state } = this.app;
    const before = this.#oldest === null ? [] : [...this.hits.children];
    const count = before.length + page.messages.length;
    this.count.textContent = count
      ? `${count}${page.more ? "+" : ""} ${count === 1 ? "message" : "messages"}`
      : "Nothing found.";
    this.#oldest = page.more ? page.messages.at(-1).seq : null;
    this.older.hidden = !page.more;
    const rows = page.messages.map((/** @type {import("./state.js").Message} */ message) => {
      const author = state.member(message.author);
      const room = state.rooms.get(message.room);
      const where = h("span", { class: "where" }, `${clean(room?.title ?? "")} · ${shortOf(message.at, Date.now())}`);
      const words = h("span", { class: "hit-text", dir: "auto" }, ...this.#marked(message.text));
      const go = () => this.app.navigation.goTo(message);
      return h(
        "li",
        {},
        h(
          "button",
          { type: "button", class: "hit", onclick: go },
          face(author, "small"),
          h("span", {}, nameOf(author), where, words),
        ),
      );
    });
    const hadFocus = document.activeElement === this.older;
    fill(this.hits, ...before, ...rows);
    if (hadFocus || (before.length && !page.more)) rows[0]?.firstChild.focus(); // the reader goes on there
    return true;
  }

  /** Sends requests that were made while the line was down. */
  connected() {
    if (this.kind === "search" && !this.#request) this.#search();
  }

  /** @param {"thread" | "search" | "why" | "subagents"} kind @param {string} title */
  #open(kind, title) {
    const wasThread = this.kind === "thread" && kind !== "thread";
    if (this.kind === "subagents") this.app.subagents.panelToggled(false);
    this.kind = kind;
    if (wasThread) this.app.navigation.visited();
    if (kind !== "thread") this.app.navigation.overlayOpened();
    this.title.textContent = title;
    this.element.setAttribute("aria-label", title);
    this.element.hidden = false;
    document.body.classList.add("with-panel");
  }

  #typed() {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#search(), PAUSE);
  }

  /** @param {number | null} before the oldest of what is there already */
  #search(before = null) {
    const query = this.query.value.trim();
    this.#request = query && this.app.search(query, this.here.checked ? this.app.navigation.room : null, before);
    this.#oldest = before;
    if (this.#request) return;
    this.older.hidden = true;
    this.count.textContent = query ? "Not connected; the search starts when the connection is back." : "";
    fill(this.hits);
  }

  /** The surroundings of the first hit, with the words found marked. @param {string} text @returns {(Node | string)[]} */
  #marked(text) {
    const line = oneLine(text, 10_000);
    const words = this.query.value
      .trim()
      .split(/\s+/)
      .map((/** @type {string} */ word) => word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
    const any = new RegExp(`(${words.join("|")})`, "iu");
    const first = Math.max(0, line.search(any) - 40);
    const cut = `${first ? "…" : ""}${line.slice(first, first + 180)}${line.length > first + 180 ? "…" : ""}`;
    return cut.split(new RegExp(any, "giu")).map((part, i) => (i % 2 ? h("mark", {}, part) : part));
  }
}

/** The sentence first, then each stage. @param {any} event */
const explanation = (event) =>
  h(
    "article",
    {},
    h("p", { class: "sentence" }, clean(event.sentence)),
    h("p", { class: "about", dir: "auto" }, h("bdi", {}, clean(event.sender)), `: ${oneLine(event.text, 120)}`),
    steps(event.steps),
  );
