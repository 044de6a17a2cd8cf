/** Connects the parts of the chat page: frames change the state, views draw the changes, people's actions are sent. */

import { clean } from "../shared/clean.js";
import { byId, fill, h, narrow } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { Line } from "../shared/line.js";
import { Announcer } from "./announcer.js";
import { copyText } from "./clipboard.js";
import { Dialogs } from "./dialogs.js";
import { face, namesOf } from "./faces.js";
import { Navigation } from "./navigation.js";
import { Notifier } from "./notifier.js";
import { Pane } from "./pane.js";
import { Panel } from "./panel.js";
import { Requests } from "./requests.js";
import { Sidebar } from "./sidebar.js";
import { ChatState, GATEWAY, placeOf, roomOf, threadOf } from "./state.js";
import { Subagents } from "./subagents.js";
import { welcome } from "./welcome.js";
import { wordsOf } from "./words.js";

const PROTOCOL = 1;
const CLOSED = { OTHER_PROTOCOL: 4002, LOGGED_OUT: 4003 };
const FAILURES_BEFORE_BANNER = 2; // a restart of the server causes one, which need not be shown

export class App {
  latestDelivered = "";
  /** @type {Map<string, {place: string, before?: number | null, around?: string | null}>} by the id of the request */
  #historyRequests = new Map();
  #roomsFrame = 0;

  constructor() {
    this.state = new ChatState();
    this.name = new URLSearchParams(location.search).get("as") ?? localStorage.getItem("rejoinder.name") ?? "";
    this.line = new Line("/socket", {
      onFrame: (frame) => this.#frame(frame),
      onOpen: () => this.#hello(),
      onDown: (code, tries) => this.#connectionLost(code, tries),
    });
    this.requests = new Requests(localStorage, (frame) => this.line.send(frame));
    this.dialogs = new Dialogs(this);
    this.navigation = new Navigation(this);
    this.notifier = new Notifier(this);
    this.announcer = new Announcer();
    this.sidebar = new Sidebar(this);
    this.pane = new Pane(this, {
      id: "room-text",
      label: "the room",
      empty: () => welcome(this),
      escape: () => this.#escape(),
    });
    this.subagents = new Subagents(this);
    this.panel = new Panel(this);
    this.heading = h("div", { class: "heading" });
    this.banner = h("div", { class: "banner", role: "status", hidden: true });
    this.#build();
  }

  #build() {
    const menu = h(
      "button",
      {
        class: "quiet menu",
        type: "button",
        "aria-label": "Rooms and direct chats",
        "aria-controls": "sidebar",
        "aria-expanded": "false",
        onclick: () => this.drawer(true),
      },
      icon("menu"),
      (this.menuMark = h("span", { class: "menu-mark", hidden: true })),
    );
    const search = h(
      "button",
      {
        class: "quiet",
        type: "button",
        "aria-label": "Search",
        title: "Search (Ctrl Shift F)",
        onclick: () => this.panel.openSearch(),
      },
      icon("search"),
    );
    const keys = h(
      "button",
      {
        class: "quiet keys-button",
        type: "button",
        "aria-label": "Keyboard shortcuts",
        title: "Keyboard shortcuts",
        onclick: () => this.dialogs.keys(),
      },
      icon("why"),
    );
    this.menu = menu;
    fill(
      byId("app"),
      this.sidebar.element,
      h("div", { class: "shade", onclick: () => this.drawer(false) }),
      h(
        "main",
        { class: "room-view" },
        h("header", { class: "room-header" }, menu, this.heading, this.subagents.button, search, keys),
        this.banner,
        this.pane.element,
      ),
      this.panel.element,
      this.announcer.element,
    );
    addEventListener("keydown", (event) => this.#key(event));
    document.addEventListener("visibilitychange", () => this.sawRoom());
    addEventListener("focus", () => this.sawRoom());
    setInterval(() => this.#historyRequests.size > 50 && this.#historyRequests.clear(), 60_000);
    this.line.connect();
  }

  // --- the line ------------------------------------------------------------------------------------------------

  #hello() {
    const { seq, journal } = this.state;
    this.line.send({ type: "hello", protocol: PROTOCOL, name: this.name, seq, journal });
  }

  /** @param {number} code @param {number} tries */
  #connectionLost(code, tries) {
    if (code === CLOSED.OTHER_PROTOCOL) return this.#reload();
    if (code === CLOSED.LOGGED_OUT) return location.assign("/login");
    this.#historyRequests.clear();
    for (const { timeline } of [this.pane, this.panel.thread]) {
      timeline.historyAnswered();
      timeline.cancelJump();
    }
    if (tries === 3) this.#maybeLogin();
    if (tries >= FAILURES_BEFORE_BANNER || !this.state.me) this.#showBanner("Reconnecting…");
  }

  /** If the login has expired, the socket fails as with a dead server, but the page itself redirects. */
  async #maybeLogin() {
    const answer = await fetch("/", { redirect: "manual" }).catch(() => null);
    if (answer?.type === "opaqueredirect") location.assign("/login");
  }

  /** The server has another protocol, so it has a newer page. Reloads only once, or it might never end. */
  #reload() {
    if (sessionStorage.getItem("rejoinder.reloaded"))
      return this.#showBanner("This page does not match the version of the server. Reload it.");
    sessionStorage.setItem("rejoinder.reloaded", "1");
    location.reload();
  }

  /** @param {string} words */
  #showBanner(words) {
    const waiting = this.requests.waiting;
    fill(
      this.banner,
      h("span", { class: "spinner", "aria-hidden": "true" }),
      words,
      waiting ? h("span", {}, ` ${waiting} unsent, kept in this browser`) : null,
    );
    this.banner.hidden = false;
  }

  /** @param {any} frame */
  #frame(frame) {
    if (frame.type === "done" || frame.type === "refused") return this.#confirmed(frame);
    if (frame.type === "page") return this.#page(frame);
    if (this.subagents.takes(frame)) return;
    if (frame.type === "message" && frame.message.client && this.state.me?.id === frame.message.author) {
      this.requests.done(frame.message.client);
      this.latestDelivered = frame.message.client;
    }
    const changes = this.state.apply(frame, Date.now());
    if (frame.type === "welcome") this.#welcomed(changes);
    this.#show(changes);
  }

  /** @param {import("./state.js").Changes} changes */
  #welcomed(changes) {
    this.line.settled();
    this.banner.hidden = true;
    this.panel.connected();
    sessionStorage.removeItem("rejoinder.reloaded");
    this.navigation.restore(changes.reset);
    this.subagents.look();
    this.requests.resend();
  }

  /** @param {any} frame */
  #confirmed(frame) {
    if (frame.type === "done") {
      const request = this.requests.done(frame.client);
      if (request?.frame.type === "make_room") this.navigation.openOnceKnown(frame.id);
      return;
    }
    const request = this.requests.refused(frame.client, frame.reason);
    if (this.#historyRequests.delete(frame.client)) this.pane.timeline.historyAnswered();
    if (request?.frame.type === "say") this.#syncAll();
    else this.note(frame.reason);
  }

  /** @param {any} page */
  #page(page) {
    if (this.panel.takes(page)) return;
    const request = this.#historyRequests.get(page.client);
    if (!request) return;
    this.#historyRequests.delete(page.client);
    const gone = request.around && !page.messages.length;
    for (const pane of this.#panes()) {
      if (pane.place !== request.place) continue;
      pane.timeline.historyAnswered();
      if (gone) pane.timeline.cancelJump();
    }
    if (gone) this.note("That message no longer exists.");
    this.#show(this.state.addPage(request, page));
    this.navigation.pageArrived(request.place);
  }

  /** @param {import("./state.js").Changes} changes */
  #show(changes) {
    for (const pane of this.#panes()) {
      if (changes.timelines.has(pane.place)) pane.timeline.listChanged();
      for (const id of changes.messages) pane.timeline.messageChanged(id);
      if (changes.typing.has(pane.place)) pane.showTyping();
    }
    for (const id of changes.stale) this.#refresh(id);
    for (const message of changes.arrived) this.#arrived(message);
    for (const message of changes.finished) this.#finished(message);
    if (changes.rooms) {
      this.sawRoom();
      this.notifier.count();
      this.navigation.roomsChanged();
      this.#roomsFrame ||= requestAnimationFrame(() => this.drawRooms());
    }
  }

  /** At most once in a frame, however many messages came; the title shows them even in a tab that draws no frames. */
  drawRooms() {
    this.#roomsFrame = 0;
    this.sidebar.draw();
    this.notifier.count();
    this.menuMark.hidden = this.state.unread() === 0;
    this.#drawHeading();
  }

  /** @param {import("./state.js").Message} message */
  #arrived(message) {
    if (this.state.isMine(message)) return;
    for (const pane of this.#panes()) if (pane.place === placeOf(message)) pane.timeline.missed();
  }

  /** @param {import("./state.js").Message} message */
  #finished(message) {
    this.notifier.tell(message);
    if (message.room === this.navigation.room && !this.state.isMine(message))
      this.announcer.say(this.state.member(message.author).name, wordsOf(message, this.state.mentions(), 500));
  }

  /** Asks for the whole text so far of a growing message that has a hole. @param {string} id */
  #refresh(id) {
    const message = this.state.messages.get(id);
    if (message) this.history(placeOf(message), { around: id, limit: 1 });
  }

  /** A line that only this page shows, until it is dismissed. @param {string} text @param {string} [place] */
  note(text, place = this.navigation.room) {
    this.#show(this.state.apply({ type: "note", room: roomOf(place), thread: threadOf(place), text }, Date.now()));
    this.announcer.say(GATEWAY.name, text);
  }

  #panes() {
    return this.panel.kind === "thread" ? [this.pane, this.panel.thread] : [this.pane];
  }

  #syncAll() {
    for (const pane of this.#panes()) pane.timeline.sync();
  }

  // --- what people do ------------------------------------------------------------------------------------------

  /** A request that is kept until it is confirmed. @param {any} frame @param {import("./state.js").File[]} [files] */
  ask(frame, files) {
    const given = Object.fromEntries(
      Object.entries(frame).filter(([, value]) => value !== null && value !== undefined),
    );
    this.requests.add(/** @type {any} */ ({ ...given, client: newId() }), Date.now(), files);
    this.#syncAll();
  }

  /** @param {string} place @param {{before?: number, around?: string, limit?: number}} where */
  history(place, { before, around, limit = 50 }) {
    const client = newId();
    const [room, thread] = place.split("\n");
    const sent = this.line.send({
      type: "history",
      client,
      room,
      thread: thread ?? null,
      before: before ?? null,
      around: around ?? null,
      limit,
    });
    if (sent) this.#historyRequests.set(client, { place, before, around });
  }

  /** Sends a request that is not repeated after the connection was lost. @param {any} frame
   * @returns {string} the id of the request; empty: the line is down */
  inquire(frame) {
    const client = newId();
    return this.line.send({ ...frame, client }) ? client : "";
  }

  /** @param {string} query @param {string | null} room @param {number | null} before only what is older than this `seq`
   * @returns {string} the id of the request; empty: the line is down */
  search(query, room, before) {
    return this.inquire({ type: "search", query, room, before });
  }

  #drawHeading() {
    const room = this.state.rooms.get(this.navigation.room);
    if (!room) return;
    const agents = room.agents.map((id) => this.state.member(id));
    const faces = h("span", { class: "faces" }, ...agents.slice(0, 4).map((agent) => face(agent, "small")));
    const names = h(
      "span",
      { class: "with" },
      room.kind === "group"
        ? namesOf(agents)
        : `direct chat · ${agents[0] ? `@${agents[0].id}` : "its agent has left"}`,
    );
    fill(
      this.heading,
      room.kind === "direct" ? faces : null,
      h("div", {}, h("h1", {}, h("bdi", {}, clean(room.title))), names),
      room.kind === "group" ? faces : null,
    );
  }

  /** Marks the open room as read when somebody looks at its newest message. */
  sawRoom() {
    if (document.hidden || !document.hasFocus() || !this.pane.timeline.current) return;
    const { unread = 0 } = this.state.rooms.get(this.navigation.room) ?? {};
    const seq = this.state.readAll(this.navigation.room);
    if (seq !== null) this.line.send({ type: "read", room: this.navigation.room, seq });
    if (seq !== null || unread) {
      this.notifier.count();
      this.menuMark.hidden = this.state.unread() === 0;
    }
  }

  /** @param {import("./state.js").Message} message */
  openThread(message) {
    this.panel.openThread(message);
  }

  /** @param {string} title @param {string[]} agents */
  makeRoom(title, agents) {
    if (title) this.ask({ type: "make_room", title, agents });
  }

  /** @param {string} name */
  rename(name) {
    if (name === this.name) return;
    this.name = name;
    localStorage.setItem("rejoinder.name", name);
    this.state.seq = null;
    this.navigation.leaveOwnChats();
    this.line.renew();
  }

  /** @param {import("./state.js").Message} message */
  remove(message) {
    this.dialogs.remove(message, () => this.ask({ type: "delete", message: message.id }));
  }

  /** @param {import("./state.js").Message} message @returns {Promise<boolean>} whether the browser allowed it */
  async copy(message) {
    const done = await copyText(clean(message.text));
    this.announcer.say(done ? "Copied" : "The browser blocked copying", message.text);
    return done;
  }

  /** @param {string} client */
  retry(client) {
    this.requests.retry(client, newId(), Date.now());
    this.#syncAll();
  }

  /** @param {string} client */
  discard(client) {
    this.requests.done(client);
    this.#syncAll();
  }

  /** @param {string} room */
  completable(room) {
    const { agents = [], kind } = this.state.rooms.get(room) ?? {};
    return { commands: this.state.commandsIn(kind), people: agents.map((id) => this.state.member(id)) };
  }

  /** The side bar on a phone. @param {boolean} open */
  drawer(open) {
    const was = document.body.classList.contains("drawer");
    document.body.classList.toggle("drawer", open);
    if (open) this.navigation.overlayOpened();
    else if (was) this.navigation.overlayClosed();
    this.menu.setAttribute("aria-expanded", String(open));
    if (open) this.sidebar.element.querySelector("button, a").focus();
    else if (this.sidebar.element.contains(document.activeElement) && narrow()) this.menu.focus();
  }

  #escape() {
    if (this.panel.kind) this.panel.close();
    else this.pane.timeline.toEnd();
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.defaultPrevented || this.dialogs.isOpen) return; // the key is the dialog's
    const control = event.ctrlKey || event.metaKey;
    if (control && event.key.toLowerCase() === "k") this.dialogs.switcher();
    else if (control && event.shiftKey && event.key.toLowerCase() === "f") this.panel.openSearch();
    else if (event.key === "Escape" && document.body.classList.contains("drawer")) this.drawer(false);
    else return;
    event.preventDefault();
  }
}

const newId = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
