/** Rooms and direct chats with what is unread in them. */

import { clean } from "../shared/clean.js";
import { fill, h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { themeButton } from "../shared/theme_button.js";
import { shortOf } from "../shared/times.js";
import { face } from "./faces.js";
import { wordsOf } from "./words.js";

/** @typedef {import("./state.js").Room} Room */

export class Sidebar {
  #rows = /** @type {Map<string, any>} */ (new Map());

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    this.groups = h("ul", { class: "rooms", "aria-label": "Rooms" });
    this.directs = h("ul", { class: "rooms", "aria-label": "Direct chats" });
    this.who = h("button", { class: "who", type: "button", onclick: () => app.dialogs.name() });
    this.bell = h("button", { class: "quiet", type: "button", onclick: () => app.notifier.toggle() });
    const make = h(
      "button",
      {
        class: "quiet",
        type: "button",
        "aria-label": "New room",
        title: "New room",
        onclick: () => app.dialogs.makeRoom(),
      },
      icon("plus"),
    );
    const find = h(
      "button",
      { class: "find", type: "button", onclick: () => app.dialogs.switcher() },
      icon("search"),
      h("span", {}, "Go to…"),
      h("kbd", {}, navigator.platform.startsWith("Mac") ? "⌘K" : "Ctrl K"),
    );
    const close = h(
      "button",
      {
        class: "quiet close-drawer",
        type: "button",
        "aria-label": "Close the list of rooms",
        onclick: () => app.drawer(false),
      },
      icon("close"),
    );
    this.console = h(
      "a",
      { class: "quiet", href: "/console", title: "Console", "aria-label": "Console" },
      icon("gauge"),
    );
    this.element = h(
      "nav",
      { class: "sidebar", id: "sidebar", "aria-label": "Rooms and direct chats" },
      h(
        "div",
        { class: "brand" },
        h("span", { class: "logo", "aria-hidden": "true" }),
        h("strong", {}, "rejoinder"),
        close,
      ),
      find,
      h(
        "div",
        { class: "sections" },
        h("div", { class: "section" }, h("h2", {}, "Rooms"), make),
        this.groups,
        h("div", { class: "section" }, h("h2", {}, "Direct chats")),
        this.directs,
      ),
      h(
        "div",
        { class: "foot" },
        this.who,
        this.bell,
        themeButton(),
        this.console,
      ),
    );
  }

  draw() {
    const rooms = [...this.app.state.rooms.values()];
    place(
      this.groups,
      rooms.filter((room) => room.kind === "group").map((room) => this.#reusedRow(room)),
    );
    const newest = (/** @type {Room} */ room) => room.latest?.at ?? 0;
    const directs = rooms.filter((room) => room.kind === "direct").sort((a, b) => newest(b) - newest(a));
    place(
      this.directs,
      directs.map((room) => this.#reusedRow(room)),
    );
    const { me, knownBy } = this.app.state;
    this.console.hidden = knownBy === "login" && me?.id !== "you"; // only for the owner
    if (me) fill(this.who, face(me, "small"), h("bdi", {}, clean(me.name)));
    this.who.setAttribute("aria-label", `You are ${clean(me?.name ?? "")}. Change your name`);
    const on = this.app.notifier.on;
    fill(this.bell, icon("bell"));
    this.bell.setAttribute("aria-pressed", String(on));
    this.bell.setAttribute("aria-label", "Notifications");
    this.bell.title = on ? "Notifications: on" : "Notifications: off";
  }

  /** Reuses a row whose contents are the same, so that a click or the focus on it is not lost. @param {Room} room */
  #reusedRow(room) {
    const row = this.#row(room);
    const before = this.#rows.get(room.id);
    if (before?.isEqualNode(row)) return before;
    if (before?.contains(document.activeElement)) queueMicrotask(() => row.firstChild.focus());
    this.#rows.set(room.id, row);
    return row;
  }

  /** @param {Room} room */
  #row(room) {
    const { state } = this.app;
    const agents = room.agents.map((id) => state.member(id));
    const current = room.id === this.app.navigation.room;
    const unread =
      room.unread > 0 && !current ? h("span", { class: "unread" }, room.unread > 99 ? "99+" : room.unread) : null;
    const last = room.latest;
    const preview = last
      ? `${room.kind === "group" ? `${clean(state.member(last.author).name)}: ` : ""}${wordsOf(last, state.mentions(), 60)}`
      : "";
    const looks =
      room.kind === "direct" && agents[0] ? face(agents[0]) : h("span", { class: "hash", "aria-hidden": "true" }, "#");
    return h(
      "li",
      {},
      h(
        "a",
        {
          href: `#${encodeURIComponent(room.id)}`,
          class: unread ? "room has-unread" : "room",
          "aria-current": current ? "page" : null,
          "aria-label": `${clean(room.title)}${unread ? `, ${room.unread} unread` : ""}`,
          "data-room": room.id,
          onclick: (/** @type {Event} */ event) => (
            event.preventDefault(),
            this.app.navigation.openRoom(room.id),
            this.app.drawer(false)
          ),
        },
        looks,
        h(
          "span",
          { class: "room-text" },
          h(
            "span",
            {},
            h("bdi", { class: "room-title" }, clean(room.title)),
            last ? h("time", {}, shortOf(last.at, Date.now())) : null,
          ),
          last ? h("span", {}, h("span", { class: "preview", dir: "auto" }, preview), unread) : null,
        ),
      ),
    );
  }
}

/** @param {Element} list @param {Element[]} rows */
function place(list, rows) {
  if (rows.length !== list.children.length || rows.some((row, i) => list.children[i] !== row))
    list.replaceChildren(...rows);
}
