/**
 * The messages of a room or a thread. It follows the newest one only while the reader is at the bottom, keeps the
 * reader's place when older ones come in, and is one stop of the Tab key: arrows walk through it.
 */

import { clean } from "../shared/clean.js";
import { calm, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { dayKey, dayName } from "../shared/times.js";
import { copyText } from "./clipboard.js";
import { MessageView } from "./message.js";
import { roomOf, threadOf } from "./state.js";

const GROUP_MS = 5 * 60_000;
const AT_BOTTOM = 40;
const NEAR_TOP = 600;
const KEPT = 400;
const DISMISSED = "rejoinder.dismissed";
const MOST_DISMISSED = 200;
const NODES_A_FRAME = 1500; // more words than that are drawn with the next frames, the newest first

/** @typedef {import("./state.js").Message} Message */

export class Timeline {
  place = "";
  #views = /** @type {Map<string, MessageView>} */ (new Map());
  #separators = /** @type {Map<string, any>} */ (new Map());
  #follows = true;
  #endScrollTop = 0;
  #asking = "";
  #missed = 0;
  #newFrom = /** @type {number | null} */ (null);
  #frame = 0;
  #dirty = /** @type {Set<string>} */ (new Set());
  #unsorted = false;
  #jumpingTo = /** @type {string | null} */ (null);

  /**
   * @param {import("./state.js").ChatState} state
   * @param {import("./requests.js").Requests} requests
   * @param {import("./actions.js").Actions} actions
   * @param {{label: string, empty?: () => Node, seen?: () => void}} options
   */
  constructor(state, requests, actions, { label, empty, seen }) {
    this.state = state;
    this.requests = requests;
    this.actions = actions;
    this.empty = empty;
    this.seen = seen ?? (() => {});
    this.dismissed = /** @type {Set<string>} */ (new Set(JSON.parse(localStorage.getItem(DISMISSED) ?? "[]")));
    this.list = h("div", { class: "list", role: "log", "aria-live": "off", "aria-label": label });
    this.scroller = h("div", { class: "scroller", onscroll: () => this.#scrolled() }, this.list);
    this.pill = h(
      "button",
      { class: "pill", type: "button", hidden: true, onclick: () => this.toEnd() },
      icon("down"),
      h("span", {}, "Newest messages"),
    );
    this.element = h("div", { class: "timeline" }, this.scroller, this.pill);
    const resized = new ResizeObserver(() => {
      this.#noticeScrolling();
      this.#scrollToEnd();
    });
    resized.observe(this.list);
    resized.observe(this.scroller);
    this.list.addEventListener("click", (/** @type {Event} */ event) => this.#clicked(event));
    this.list.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    this.list.addEventListener("mouseover", (/** @type {Event} */ event) => this.#pointedAt(event));
    this.list.addEventListener("focusin", (/** @type {Event} */ event) => this.#pointedAt(event));
  }

  /** @param {string} place @param {number | null} [readTo] where the reader was; what is newer gets a line above it */
  show(place, readTo = null) {
    this.place = place;
    this.#views.clear();
    this.#separators.clear();
    this.list.replaceChildren();
    this.#follow(true);
    this.#endScrollTop = 0;
    this.#missed = 0;
    this.#asking = "";
    this.#newFrom = readTo;
    if (!this.state.timeline(place).loaded) this.ask({});
    this.sync();
  }

  /** @param {{before?: number, around?: string}} where */
  ask({ before, around }) {
    const key = `${before ?? ""}/${around ?? ""}`;
    if (this.#asking === key) return;
    this.#asking = key;
    this.actions.history(this.place, { before, around });
  }

  /** An answer came, or the connection was lost: the same may be asked again. */
  historyAnswered() {
    this.#asking = "";
  }

  /** The message to jump to does not exist. */
  cancelJump() {
    this.#jumpingTo = null;
  }

  get atBottom() {
    const { scrollTop, clientHeight, scrollHeight } = this.scroller;
    return scrollHeight - scrollTop - clientHeight < AT_BOTTOM;
  }

  /** Whether the reader sees the newest message. */
  get current() {
    return this.#follows && this.state.timeline(this.place).end;
  }

  /** A message changed: drawn with the next frame, once, however many pieces came. @param {string} id */
  messageChanged(id) {
    this.#dirty.add(id);
    this.#redrawSoon();
  }

  /** Messages came or went: the list is put in order with the next frame, once, however many. */
  listChanged() {
    this.#unsorted = true;
    this.#redrawSoon();
  }

  #redrawSoon() {
    if (!this.#frame) this.#frame = requestAnimationFrame(() => this.#redraw());
  }

  #redraw() {
    this.#frame = 0;
    this.#noticeScrolling();
    const left = this.#unsorted ? this.sync() : NODES_A_FRAME;
    for (const id of this.#dirty) {
      const message = this.state.messages.get(id);
      if (!message) continue;
      const view = this.#views.get(keyOf(message)) ?? this.#views.get(message.id);
      view?.update({ message, delivered: this.#isDelivered(message), kind: view.kind }, view.compact);
      // What can be done with it may have changed under the pointer, which does not move for that.
      if (view?.element.matches(":hover, :focus-within")) this.actions.offer(message, view.element);
    }
    this.#dirty.clear();
    this.#drawBodies(left);
    this.#scrollToEnd();
  }

  /** The words of the messages, as many as one frame can take. @param {number} left @returns {number} what is left then */
  #drawBodies(left) {
    for (const view of [...this.#views.values()].reverse()) {
      if (left > 0) left -= view.drawBody();
    }
    if (left <= 0) this.#redrawSoon();
    return left;
  }

  /** The list changed: puts every row where it belongs and touches none that stands right.
   * @returns {number} how many nodes can still be drawn with this frame */
  sync() {
    this.#unsorted = false;
    if (!this.place) return NODES_A_FRAME;
    this.#noticeScrolling();
    const anchor = this.#anchor();
    const rows = this.#rows();
    const left = this.#drawBodies(NODES_A_FRAME);
    const wanted = new Set(rows);
    for (const child of [...this.list.children]) if (!wanted.has(child)) child.remove();
    rows.forEach((row, i) => {
      if (this.list.children[i] !== row) this.list.insertBefore(row, this.list.children[i] ?? null);
    });
    this.#setTabStop();
    if (this.#jumpingTo) this.#arrive();
    else if (this.#follows) this.#scrollToEnd();
    else this.#keepAnchor(anchor);
    this.#showPill();
    this.#fillUp();
    if (this.current && this.state.timeline(this.place).loaded) this.seen();
    return left;
  }

  /** @returns {Element[]} */
  #rows() {
    const messages = this.state.shown(this.place);
    const sending = this.requests.unsent(roomOf(this.place), threadOf(this.place));
    const { loaded, more, end } = this.state.timeline(this.place);
    const notes = this.state.notes.get(this.place) ?? [];
    if (!loaded) return [this.#row("loading", () => h("div", { class: "loading", role: "status" }, "Loading…"))];
    const rows = /** @type {Element[]} */ ([]);
    if (more) rows.push(this.#row("older", () => h("div", { class: "loading" }, "Older messages…")));
    if (!messages.length && !sending.length && this.empty)
      return [this.#row("empty", this.empty), ...notes.map((note) => this.#row(`note ${note.id}`, () => this.#noteLine(note)))];
    let last = /** @type {Message | null} */ (null);
    let [day, kindOfLast] = ["", ""];
    const keys = new Set();
    const put = (/** @type {Message} */ message, /** @type {any} */ request, /** @type {Message | undefined} */ next) => {
      if (day !== dayKey(message.at)) {
        day = dayKey(message.at);
        rows.push(this.#row(`day ${day}`, () => dayLine(message.at)));
        last = null;
      }
      if (
        this.#newFrom !== null &&
        message.seq > this.#newFrom &&
        (!last || last.seq <= this.#newFrom) &&
        !this.state.isMine(message) &&
        !request &&
        !keys.has("new")
      ) {
        keys.add("new");
        rows.push(
          this.#row("new", () => h("div", { class: "separator new", role: "separator" }, h("span", {}, "New"))),
        );
        last = null;
      }
      if (message.note) {
        if (this.dismissed.has(message.id)) return;
        rows.push(this.#row(`note ${message.id}`, () => this.#noteLine(message)));
        last = null;
        return;
      }
      const isNotice = message.author === "" && !message.reply_to && last !== null;
      if (isNotice && last?.stopped) return; // the mark on the answer says so
      const isTold = isNotice && (last?.author === "" || kindOfLast === "command");
      const kind = this.state.isCommand(message, next) ? "command" : isTold ? "told" : "";
      const key = keyOf(message);
      keys.add(key);
      const view = this.#view(key);
      const shown = { message, sending: request, delivered: this.#isDelivered(message), kind };
      view.update(shown, kind !== "" || continuesGroup(last, message));
      rows.push(view.element);
      [last, kindOfLast] = [message, kind];
    };
    const waiting = [...notes];
    const putNotes = (/** @type {number} */ before) => {
      while (waiting.length && waiting[0].after < before) {
        const note = /** @type {import("./state.js").Note} */ (waiting.shift());
        rows.push(this.#row(`note ${note.id}`, () => this.#noteLine(note)));
        last = null;
      }
    };
    messages.forEach((message, i) => {
      putNotes(message.seq);
      put(message, null, messages[i + 1]);
    });
    putNotes(Infinity);
    if (end) for (const request of sending) put(this.#unsentMessage(request), request);
    for (const key of this.#views.keys()) if (!keys.has(key)) this.#views.delete(key);
    return rows;
  }

  /** @param {import("./requests.js").Request} request @returns {Message} */
  #unsentMessage({ frame, at, files }) {
    const quoted = frame.reply_to ? this.state.messages.get(frame.reply_to) : null;
    return {
      id: `unsent ${frame.client}`,
      client: frame.client,
      room: frame.room ?? "",
      author: this.state.me?.id ?? "",
      at,
      seq: Infinity,
      text: frame.text ?? "",
      thread: frame.thread,
      files,
      reply_to: frame.reply_to ? { id: frame.reply_to, author: quoted?.author, text: quoted?.text } : null,
    };
  }

  /** @param {Message} message */
  #isDelivered(message) {
    const isOurs = Boolean(message.client) && this.state.isMine(message);
    return isOurs && this.actions.latestDelivered() === message.client;
  }

  /** @param {string} key */
  #view(key) {
    let view = this.#views.get(key);
    if (!view) this.#views.set(key, (view = new MessageView(this.state, this.actions, Boolean(threadOf(this.place)))));
    return view;
  }

  /** @param {string} key @param {() => any} make */
  #row(key, make) {
    let row = this.#separators.get(key);
    if (!row) this.#separators.set(key, (row = make()));
    return row;
  }

  /** A line that is nobody's message. @param {import("./state.js").Note | Message} note */
  #noteLine(note) {
    const drop = () => {
      if ("seq" in note) this.#dismiss(note.id);
      else this.state.dropNote(this.place, note.id);
      this.sync();
      this.actions.focus();
    };
    return h(
      "div",
      { class: "note", role: "note" },
      icon("eye"),
      h("span", { dir: "auto" }, clean(note.text)),
      h("button", { type: "button", class: "quiet", "aria-label": "Dismiss", onclick: drop }, icon("close")),
    );
  }

  /** What was dismissed stays so in this browser. @param {string} id */
  #dismiss(id) {
    this.dismissed.add(id);
    localStorage.setItem(DISMISSED, JSON.stringify([...this.dismissed].slice(-MOST_DISMISSED)));
  }

  // --- where the reader is -------------------------------------------------------------------------------------

  #scrolled() {
    const wasFollowing = this.#follows;
    // If more came since we scrolled to the end, we are behind; the reader has not scrolled away.
    this.#follow(this.atBottom || (wasFollowing && this.scroller.scrollTop >= this.#endScrollTop - AT_BOTTOM));
    if (this.#follows && !wasFollowing) this.#missed = 0;
    this.#fillUp();
    this.#showPill();
    if (this.current) this.seen();
  }

  /** Asks for what lies beyond the edges of the window. */
  #fillUp() {
    const window = this.state.timeline(this.place);
    if (!window.loaded || this.#jumpingTo) return;
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    const first = this.state.messages.get(window.ids[0]);
    if (window.more && first && scrollTop < NEAR_TOP) this.ask({ before: first.seq });
    else if (!window.end && scrollHeight - scrollTop - clientHeight < NEAR_TOP) this.ask({ around: window.ids.at(-1) });
  }

  /** If the reader follows, only we scroll; otherwise the browser keeps the reader's place. @param {boolean} follows */
  #follow(follows) {
    this.#follows = follows;
    this.scroller.classList.toggle("follows", follows);
  }

  /** Notices that the reader has scrolled before its event comes. Called before anything is drawn, because drawing
   * moves the end too. */
  #noticeScrolling() {
    if (this.#follows && this.scroller.scrollTop < this.#endScrollTop - AT_BOTTOM && !this.atBottom) this.#follow(false);
  }

  /** Keeps the newest message in sight as long as the reader follows. */
  #scrollToEnd() {
    if (!this.#follows || this.#jumpingTo) return;
    if (this.state.timeline(this.place).ids.length > KEPT + 100 && this.state.trim(this.place, KEPT)) this.sync();
    this.scroller.scrollTop = this.scroller.scrollHeight;
    this.#endScrollTop = this.scroller.scrollTop;
  }

  /** The first row in sight and where it stands. @returns {[Element, number] | null} */
  #anchor() {
    const top = this.scroller.getBoundingClientRect().top;
    for (const { element } of this.#views.values()) {
      const box = element.getBoundingClientRect();
      if (box.height && box.bottom > top) return [element, box.top];
    }
    return null;
  }

  /** Scrolls so that this row stands where it stood. @param {[Element, number] | null} anchor */
  #keepAnchor(anchor) {
    if (!anchor || !anchor[0].isConnected) return;
    const moved = anchor[0].getBoundingClientRect().top - anchor[1];
    if (moved) this.scroller.scrollTop += moved;
  }

  /** Called when somebody else's message came while the reader was elsewhere. */
  missed() {
    if (this.current) return;
    this.#missed += 1;
    this.#showPill();
  }

  #showPill() {
    const { end, loaded } = this.state.timeline(this.place);
    this.pill.hidden = !loaded || (this.#follows && end);
    const words = this.#missed
      ? `${this.#missed} new ${this.#missed === 1 ? "message" : "messages"}`
      : "Newest messages";
    if (this.pill.lastChild.textContent !== words) this.pill.lastChild.textContent = words;
    this.pill.classList.toggle("news", this.#missed > 0);
  }

  /** To the newest message, wherever the window stands. */
  toEnd() {
    this.#missed = this.#endScrollTop = 0;
    this.#follow(true);
    if (!this.state.timeline(this.place).end) {
      this.state.timelines.delete(this.place);
      this.ask({});
    }
    this.sync();
    this.seen();
  }

  /** @param {string} id */
  jump(id) {
    this.#jumpingTo = id;
    if (this.state.timeline(this.place).ids.includes(id)) this.#arrive();
    else this.ask({ around: id });
  }

  #arrive() {
    const message = this.state.messages.get(this.#jumpingTo ?? "");
    const view = message && this.#views.get(keyOf(message));
    if (!view?.element.isConnected) return;
    this.#jumpingTo = null;
    this.#follow(false);
    view.element.scrollIntoView({ block: "center", behavior: calm() ? "auto" : "smooth" });
    view.element.focus({ preventScroll: true });
    view.element.classList.remove("flash");
    void view.element.offsetWidth; // the animation begins again only after a layout without it
    view.element.classList.add("flash");
    setTimeout(() => view.element.classList.remove("flash"), 2000);
    this.#showPill();
  }

  // --- hands ---------------------------------------------------------------------------------------------------

  /** @param {EventTarget | null} target @returns {Message | undefined} */
  #messageAt(target) {
    const element = /** @type {Element | null} */ (target)?.closest?.(".message");
    return element ? this.state.messages.get(/** @type {HTMLElement} */ (element).dataset.id ?? "") : undefined;
  }

  /** @param {Event} event */
  #pointedAt(event) {
    const message = this.#messageAt(event.target);
    const element = /** @type {Element} */ (event.target).closest?.(".message");
    if (event.type === "focusin" && element) this.#setTabStop(element);
    if (message && element) this.actions.offer(message, element);
  }

  /** @param {any} event */
  async #clicked(event) {
    const copy = event.target.closest("[data-copy]");
    if (!copy) return;
    const done = await copyText(copy.closest("figure").querySelector("code").textContent);
    copy.textContent = done ? "Copied" : "Not allowed";
    setTimeout(() => (copy.textContent = "Copy"), 1500);
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const target = /** @type {any} */ (event.target);
    if (!target.classList?.contains("message") || event.ctrlKey || event.metaKey || event.altKey) return;
    const all = [...this.list.querySelectorAll(".message")];
    const at = all.indexOf(target);
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: all.length - 1 }[event.key];
    const message = this.#messageAt(target);
    if (to !== undefined) {
      event.preventDefault();
      if (to >= all.length) this.actions.focus();
      else all[Math.max(0, to)]?.focus();
    } else if (message && this.actions.key(event.key, message, target)) {
      event.preventDefault();
    }
  }

  /** Exactly one message can be reached by Tab. @param {Element} [chosen] */
  #setTabStop(chosen) {
    const all = [...this.list.querySelectorAll(".message")];
    const now =
      chosen ??
      all.findLast((element) => element.tabIndex === 0 && element.contains(document.activeElement)) ??
      all.at(-1);
    for (const element of all) {
      const index = element === now ? 0 : -1;
      if (element.tabIndex !== index) element.tabIndex = index;
    }
  }
}

/**
 * The person's own message keeps its row when the server's copy replaces the one being sent. Other people's browsers
 * make ids, too, and may make the same ones.
 * @param {Message} message
 */
const keyOf = (message) => (message.client ? `client ${message.author} ${message.client}` : message.id);

/** @param {Message | null} last @param {Message} message */
function continuesGroup(last, message) {
  return (
    last !== null &&
    last.author === message.author &&
    message.at - last.at < GROUP_MS &&
    !message.reply_to &&
    Boolean(last.only_for) === Boolean(message.only_for) &&
    message.author !== ""
  );
}

/** @param {number} at */
const dayLine = (at) => h("div", { class: "separator", role: "separator" }, h("span", {}, dayName(at, Date.now())));
