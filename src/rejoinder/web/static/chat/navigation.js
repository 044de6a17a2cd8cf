/** The page's position: the open room, threads and what covers them, each an entry of the browser's history. */

import { clean } from "../shared/clean.js";
import { narrow } from "../shared/dom.js";
import { namesOf } from "./faces.js";
import { placeOf, threadOf } from "./state.js";

export class Navigation {
  room = "";
  #newRoom = ""; // a room that was just made here, to open as soon as the page knows it
  #jumpTarget = /** @type {import("./state.js").Message | null} */ (null);

  /** @param {import("./app.js").App} app */
  constructor(app) {
    this.app = app;
    addEventListener("popstate", () => this.#goBack());
  }

  /** After a connect: goes back to the same place, or to that in the address. @param {boolean} reset the state is new */
  restore(reset) {
    const address = readAddress();
    const wanted = this.room || address.room || localStorage.getItem("rejoinder.room") || "";
    const { rooms } = this.app.state;
    const first = [...rooms.values()].find((room) => room.kind === "group") ?? [...rooms.values()][0];
    const id = rooms.has(wanted) ? wanted : (first?.id ?? "");
    if (!reset && this.room === id) return;
    const thread = address.room === id ? address.thread : null;
    this.room = "";
    this.openRoom(id, false);
    if (thread) this.app.panel.openThread({ room: id, id: thread }, false);
    this.#tellIfMissing(address.room);
    this.visited(true);
  }

  /** Somebody else is here from now on: an address of a direct chat of theirs before leads nowhere. */
  leaveOwnChats() {
    if (this.app.state.rooms.get(this.room)?.kind !== "direct") return;
    this.room = "";
    history.replaceState(null, "", location.pathname + location.search);
  }

  /** @param {string} id of a room that was just made */
  openOnceKnown(id) {
    this.#newRoom = id;
    this.roomsChanged();
  }

  roomsChanged() {
    if (this.#newRoom && this.app.state.rooms.has(this.#newRoom)) this.openRoom(this.#newRoom);
  }

  /** @param {string} place whose older messages were just loaded */
  pageArrived(place) {
    if (this.#jumpTarget && placeOf(this.#jumpTarget) === place) this.goTo(this.#jumpTarget);
  }

  /** @param {string} id @param {boolean} [visits] whether it is a new entry of the browser's history */
  openRoom(id, visits = true) {
    const { state, panel, pane } = this.app;
    const room = state.rooms.get(id);
    if (!room || id === this.room) return;
    this.#newRoom = "";
    this.room = id;
    localStorage.setItem("rejoinder.room", id);
    if (panel.kind === "thread" || panel.kind === "subagents") panel.close(false);
    this.app.subagents.look();
    if (visits) this.visited();
    const agents = room.agents.map((agent) => state.member(agent));
    const to = room.kind === "direct" ? namesOf(agents) : `#${clean(room.title)}`;
    pane.show(id, { readTo: room.unread ? room.read : null, placeholder: `Message ${to}` });
    this.app.drawRooms();
    if (!narrow()) pane.composer.focus();
  }

  /** Rooms and threads are entries of the browser's history, so Back leads to the previous one. */
  visited(replace = false) {
    const { panel } = this.app;
    const thread = panel.kind === "thread" ? threadOf(panel.thread.place) : null;
    const address = `#${[this.room, thread ?? []].flat().map(encodeURIComponent).join("/")}`;
    if (replace) history.replaceState(null, "", location.search + address);
    else if (address === location.hash) return;
    else if (history.state?.overlay) history.replaceState(null, "", location.search + address); // closed by going here
    else history.pushState(null, "", location.search + address);
  }

  /** Something covers the whole room of a narrow page: it becomes an entry of the history, so Back closes it. */
  overlayOpened() {
    if (narrow() && !history.state?.overlay) history.pushState({ overlay: true }, "", location.href);
  }

  /** What covered the room was closed by its own button: its entry of the history goes too. */
  overlayClosed() {
    if (history.state?.overlay) history.back();
  }

  /** @param {string} id @param {import("./pane.js").Pane} from */
  jump(id, from) {
    const { pane, panel } = this.app;
    const message = this.app.state.messages.get(id);
    const inThread = from !== pane && message && placeOf(message) !== from.place;
    if (inThread) pane.timeline.jump(id);
    else if (message?.thread && from === pane) this.goTo(message);
    else from.timeline.jump(id);
    if (inThread && narrow()) panel.close();
  }

  /** To any message of any room. @param {import("./state.js").Message} message */
  goTo(message) {
    const { state, pane, panel } = this.app;
    this.#jumpTarget = null;
    this.openRoom(message.room);
    if (narrow() && !message.thread) panel.close();
    if (message.thread) {
      const root = state.messages.get(message.thread) ?? { ...message, id: message.thread, thread: null };
      if (panel.kind !== "thread" || threadOf(panel.thread.place) !== message.thread) panel.openThread(root);
      panel.thread.timeline.jump(message.id);
    } else if (!state.timeline(message.room).loaded) {
      this.#jumpTarget = message;
    } else {
      pane.timeline.jump(message.id);
    }
  }

  #goBack() {
    const { dialogs, panel } = this.app;
    dialogs.close();
    const { room, thread } = readAddress();
    if (this.#tellIfMissing(room)) return this.visited(true);
    const { kind } = panel;
    if (room !== this.room) {
      if (kind === "thread") panel.close(false);
      this.openRoom(room, false);
    }
    this.app.drawer(false);
    if (thread && threadOf(panel.thread.place) !== thread) panel.openThread({ room: this.room, id: thread }, false);
    else if (!thread && kind && (kind === "thread" || narrow())) panel.close(false);
  }

  /** Handles an address that is mistyped or names a room that does not exist. @param {string} room */
  #tellIfMissing(room) {
    const missing = room !== "" && !this.app.state.rooms.has(room);
    if (missing) this.app.note(`There is no room “${clean(room.slice(0, 40))}” here.`);
    return missing;
  }
}

/** The room and the thread that the address names. @returns {{room: string, thread: string | null}} */
function readAddress() {
  try {
    const [room, thread] = location.hash.slice(1).split("/").map(decodeURIComponent);
    return { room, thread: thread ?? null };
  } catch {
    return { room: location.hash.slice(1), thread: null }; // half of a character: no room is called that
  }
}
