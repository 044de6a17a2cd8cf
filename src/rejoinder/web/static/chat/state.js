/**
 * The state of the page: frames in, changes out. It uses no clock, no page and no line; tests run it without a browser.
 *
 * Rule 1: a timeline is one window without gaps over a room or a thread; `end` says that it reaches the newest.
 * Rule 2: a message is kept once, by id; a window holds ids in the order of `seq`.
 * Rule 3: the highest `seq` seen is all that a reconnect needs.
 */

import { clean } from "../shared/clean.js";

/**
 * @typedef {{hue: number, initials: string, emoji?: string}} Face
 * @typedef {{id: string, name: string, face: Face, agent?: boolean}} Member
 * @typedef {{id: string, author?: string, text?: string}} Quoted
 * @typedef {{id: string, name: string, mime: string, size: number, url: string}} File
 * @typedef {{emoji: string, who: string[]}} Reaction
 * @typedef {{label: string, says: string}} Choice
 * @typedef {{id: string, room: string, author: string, at: number, seq: number, text: string, thread?: string | null,
 *   reply_to?: Quoted | null, files?: File[], reactions?: Reaction[], choices?: Choice[],
 *   under?: {replies: number, latest: number} | null, client?: string, only_for?: string, edited?: boolean, transcript?: string,
 *   growing?: boolean, silent?: boolean, answers?: string, outdated?: boolean, stopped?: boolean, note?: boolean, gone?: boolean}} Message
 * @typedef {{id: string, kind: "direct" | "group", title: string, agents: string[], unread: number, read: number,
 *   latest: Message | null}} Room
 * @typedef {{ids: string[], more: boolean, end: boolean, loaded: boolean}} Timeline
 * @typedef {{room: string, text: string, thread?: string | null, id: number, after: number}} Note
 * @typedef {{reset?: boolean, rooms?: boolean, messages: Set<string>, timelines: Set<string>, typing: Set<string>,
 *   stale: Set<string>, arrived: Message[], finished: Message[]}} Changes
 *   `typing`: places where somebody began or ended to type or to write; `stale`: growing messages with a hole, to be
 *   asked for again
 */

/** The name of the timeline a message, a note or a typing mark stands in. */
export const placeOf = (/** @type {{room: string, thread?: string | null}} */ { room, thread }) =>
  thread ? `${room}\n${thread}` : room;

export const GATEWAY = /** @type {Member} */ ({
  id: "",
  name: "rejoinder",
  face: { hue: 0, initials: "r", emoji: "⚙️" },
});

const TYPING_LASTS = 7000; // a little longer than an agent's next sign takes to come

const PREVIEWED = 200; // letters, of which the side bar shows the beginning: what grows behind them changes nothing there

export class ChatState {
  seq = /** @type {number | null} */ (null);
  journal = "";
  me = /** @type {Member | null} */ (null);
  members = /** @type {Map<string, Member>} */ (new Map());
  rooms = /** @type {Map<string, Room>} */ (new Map());
  commands = /** @type {{name: string, description: string, aliases?: string[], not_in?: string[]}[]} */ ([]);
  messages = /** @type {Map<string, Message>} */ (new Map());
  timelines = /** @type {Map<string, Timeline>} */ (new Map());
  notes = /** @type {Map<string, Note[]>} */ (new Map());
  uploadLimit = Infinity;
  wake = "lead";
  knownBy = "name";
  version = "";
  #typing = /** @type {Map<string, Map<string, number>>} */ (new Map());
  #countedTo = 0;
  #lastNote = 0;

  /** @param {any} frame @param {number} now @returns {Changes} */
  apply(frame, now) {
    const changes = noChanges();
    if (typeof frame.seq === "number") this.seq = Math.max(this.seq ?? 0, frame.seq);
    const handle = /** @type {any} */ (this)[`_${frame.type}`];
    if (handle) handle.call(this, frame, changes, now);
    return changes;
  }

  // --- asking --------------------------------------------------------------------------------------------------

  /** @param {string} id @returns {Member} */
  member(id) {
    if (id === "") return GATEWAY;
    return this.members.get(id) ?? { id, name: id, face: { hue: 220, initials: id.slice(0, 2).toUpperCase() } };
  }

  /** Names by lower-case id, for who is mentioned. @returns {Map<string, string>} */
  mentions() {
    const named = [...this.members.values()].map(
      ({ id, name }) => /** @type {const} */ ([id.toLowerCase(), clean(name)]),
    );
    return new Map([["all", "all"], ...named]);
  }

  /** @param {Message} message */
  isMine(message) {
    return this.me !== null && message.author === this.me.id;
  }

  /** @param {string} place @returns {Timeline} */
  timeline(place) {
    return this.timelines.get(place) ?? { ids: [], more: true, end: true, loaded: false };
  }

  /** The messages of a window; a thread begins with the message it hangs under. @param {string} place @returns {Message[]} */
  shown(place) {
    const root = this.messages.get(threadOf(place) ?? "");
    const inside = this.timeline(place).ids.map((id) => /** @type {Message} */ (this.messages.get(id)));
    return root ? [root, ...inside] : inside;
  }

  /** Who is typing there. A member whose growing message is shown does not count. @param {string} place @param {number} now @returns {Member[]} */
  typing(place, now) {
    const writing = new Set(this.shown(place).flatMap((message) => (message.growing ? [message.author] : [])));
    const found = [...(this.#typing.get(place) ?? [])].filter(([who, until]) => until > now && !writing.has(who));
    return found.map(([who]) => this.member(who));
  }

  /** Whether an agent is working there: its message is growing, or is still to come. @param {string} place @param {number} now */
  isAtWork(place, now) {
    const writes = this.shown(place).some((message) => message.growing);
    return writes || this.typing(place, now).some((member) => member.agent);
  }

  /** Whether a message is a command, or was meant as one: it and the gateway's answer are drawn small.
   * @param {Message} message @param {Message} [next] the one below it */
  isCommand({ author, text }, next) {
    const [, named, rest] = /^\/([\w-]{1,40})([ :].{0,200})?$/.exec(text.trim()) ?? [];
    if (!named || author === "" || this.member(author).agent) return false;
    if (!rest && next?.author === "" && !next.reply_to) return true; // the gateway asks which one was meant
    const name = named.toLowerCase();
    return this.commands.some((command) =>
      [command.name, ...(command.aliases ?? [])].some((each) => each.replace(/^\//, "").toLowerCase() === name),
    );
  }

  /** The commands that the person may use in rooms of this kind. @param {string} [kind] */
  commandsIn(kind = "") {
    return this.commands.filter(({ not_in = [] }) => !not_in.includes(kind));
  }

  /** Whether the person can edit it. Not a command: it has run, and an edit runs none. @param {Message} message */
  canEdit(message) {
    if (!this.isMine(message) || message.gone) return false;
    const shown = this.shown(placeOf(message));
    const at = shown.findIndex(({ id }) => id === message.id);
    return !this.isCommand(message, at < 0 ? undefined : shown[at + 1]);
  }

  /** The newest message of one's own that can still be changed. @param {string} place */
  lastOwn(place) {
    return this.shown(place).findLast((message) => !message.only_for && this.canEdit(message));
  }

  /** Unread messages of all rooms. */
  unread() {
    return [...this.rooms.values()].reduce((sum, room) => sum + room.unread, 0);
  }

  // --- what the page does itself -------------------------------------------------------------------------------

  /** Everything in the room is seen; the new mark, or null when it was already. @param {string} id */
  readAll(id) {
    const room = this.rooms.get(id);
    if (!room) return null;
    const newest = Math.max(0, ...[...this.messages.values()].filter((m) => m.room === id).map((m) => m.seq));
    room.unread = 0;
    if (newest <= room.read) return null;
    room.read = newest;
    return newest;
  }

  /** Puts an answer to `history` into its window. @param {{place: string, before?: number | null, around?: string | null}} asked
   * @param {{messages: Message[], more: boolean}} page @returns {Changes} */
  addPage({ place, before, around }, page) {
    const changes = noChanges();
    if (around && !page.messages.length) return changes; // the message in the middle is gone
    const window = this.timeline(place);
    const known = new Set(window.ids);
    const touches = page.messages.some((message) => known.has(message.id));
    for (const message of page.messages) {
      this.messages.set(message.id, message);
      changes.messages.add(message.id);
    }
    const ids = page.messages.filter((message) => placeOf(message) === place).map((message) => message.id);
    const keep = before || touches ? window.ids : [];
    const merged = this.#sorted([...new Set([...keep, ...ids])]);
    const grewUp = merged[0] !== window.ids[0];
    this.timelines.set(place, {
      ids: merged,
      more: grewUp || !touches ? page.more : window.more,
      end: around
        ? this.#reachesEnd(place, merged, touches && !ids.some((id) => !known.has(id)), window)
        : before
          ? window.end
          : true,
      loaded: true,
    });
    changes.timelines.add(place);
    return changes;
  }

  /** Lets go of the oldest messages of a long window. @param {string} place @param {number} keep */
  trim(place, keep) {
    const window = this.timeline(place);
    if (window.ids.length <= keep) return false;
    this.timelines.set(place, { ...window, ids: window.ids.slice(-keep), more: true });
    return true;
  }

  /** @param {string} place @param {number} id */
  dropNote(place, id) {
    this.notes.set(
      place,
      (this.notes.get(place) ?? []).filter((note) => note.id !== id),
    );
  }

  // --- frames --------------------------------------------------------------------------------------------------

  /** @param {any} frame @param {Changes} changes */
  _welcome(frame, changes) {
    if (!frame.resumed) {
      this.messages.clear();
      this.timelines.clear();
      this.seq = frame.seq;
    }
    this.#typing.clear();
    this.journal = frame.journal;
    this.version = frame.version;
    this.me = frame.me;
    this.commands = frame.commands ?? [];
    this.uploadLimit = frame.upload_limit;
    this.wake = frame.wake;
    this.knownBy = frame.known_by ?? "name";
    this.#countedTo = frame.seq;
    this.members = new Map([...frame.agents, ...frame.people, frame.me].map((member) => [member.id, member]));
    this.rooms = new Map(frame.rooms.map((/** @type {any} */ room) => [room.id, whole(room)]));
    const growing = new Set(frame.growing?.map((/** @type {Message} */ message) => message.id));
    for (const message of this.messages.values()) {
      // Its writer ended with the old server. If its whole text was stored, an `edited` follows.
      if (message.growing && !growing.has(message.id))
        this.#change(message.id, changes, () => ({ ...message, growing: false }));
    }
    for (const message of frame.growing ?? []) {
      const room = this.rooms.get(message.room);
      if (room?.latest?.id === message.id) room.latest = message; // only its beginning is stored
      if (this.messages.has(message.id) || frame.resumed) this.#place(message, changes);
    }
    changes.reset = !frame.resumed;
    changes.rooms = true;
  }

  /** @param {any} frame @param {Changes} changes */
  _room(frame, changes) {
    const before = this.rooms.get(frame.room.id);
    const { unread = 0, read = 0, latest = null } = before ?? {};
    this.rooms.set(frame.room.id, { ...whole(frame.room), unread, read, latest });
    changes.rooms = true;
  }

  /** @param {any} frame @param {Changes} changes */
  _person(frame, changes) {
    if (frame.person.id !== this.me?.id) this.members.set(frame.person.id, frame.person);
    changes.rooms = true;
  }

  /** @param {any} frame @param {Changes} changes */
  _message({ message }, changes) {
    const isNew = !this.messages.has(message.id);
    this.#place(message, changes);
    this.#stopsTyping(message, changes);
    const room = this.rooms.get(message.room);
    if (!isNew || !room) return;
    if (message.note) return; // shown, but nobody's message: neither counted nor announced
    if (message.thread) this.#countReply(message.thread, 1, message.at, changes);
    else if (!room.latest || message.seq > room.latest.seq) room.latest = message;
    if (!this.isMine(message) && message.seq > this.#countedTo && message.seq > room.read) room.unread += 1;
    changes.rooms = true;
    if (message.seq > this.#countedTo) changes.arrived.push(message);
    if (!message.growing) changes.finished.push(message);
  }

  /** @param {any} frame @param {Changes} changes */
  _edited(frame, changes) {
    const { growing } = this.messages.get(frame.message) ?? {};
    this.#change(frame.message, changes, (message) => ({
      ...message,
      text: frame.text,
      choices: frame.choices ?? [],
      edited: message.edited || Boolean(frame.edited),
      growing: false,
    }));
    const whole = this.messages.get(frame.message);
    if (!growing || !whole) return;
    changes.finished.push(whole);
    this.#stopsTyping(whole, changes); // a typing sign that came meanwhile would outlast it
  }

  /** @param {any} frame @param {Changes} changes */
  _deleted(frame, changes) {
    const gone = this.messages.get(frame.message);
    if (frame.stays && gone) this.#empty(gone, changes);
    else this.#remove(frame.message, changes);
    if (gone?.growing) {
      this.#stopsTyping(gone, changes);
      changes.typing.add(placeOf(gone));
    }
    if (gone?.thread) {
      this.#countReply(gone.thread, -1, 0, changes);
      const root = this.messages.get(gone.thread);
      if (root?.gone && !root.under) this.#remove(root.id, changes);
    }
    for (const { id, reply_to } of this.messages.values())
      if (reply_to?.id === frame.message) this.#change(id, changes, (message) => ({ ...message, reply_to: unquoted(reply_to) }));
    const room = this.rooms.get(frame.room);
    if (!room) return;
    if (gone && !this.isMine(gone) && gone.seq > room.read && room.unread > 0) room.unread -= 1;
    if (room.latest?.id === frame.message)
      room.latest = this.shown(room.id).findLast((message) => !message.note && !message.gone) ?? null;
    changes.rooms = true;
  }

  /** @param {any} frame @param {Changes} changes */
  _reacted(frame, changes) {
    this.#change(frame.message, changes, (message) => ({ ...message, reactions: frame.reactions }));
  }

  /** @param {any} frame @param {Changes} changes */
  _marked({ message: id, outdated, stopped, transcript }, changes) {
    this.#change(id, changes, (message) => ({ ...message, outdated, stopped, transcript }));
    const message = this.messages.get(id);
    if (message) changes.timelines.add(placeOf(message));
  }

  /** @param {any} frame @param {Changes} changes */
  _read(frame, changes) {
    const room = this.rooms.get(frame.room);
    if (!room || frame.read <= room.read) return;
    room.read = frame.read;
    room.unread = [...this.messages.values()].filter(
      (message) => message.room === room.id && message.seq > room.read && !this.isMine(message),
    ).length;
    changes.rooms = true;
  }

  /** @param {any} frame @param {Changes} changes */
  _delta(frame, changes) {
    const message = this.messages.get(frame.message);
    if (!message) return;
    if (message.text.length !== frame.at) changes.stale.add(message.id);
    else this.#change(message.id, changes, () => ({ ...message, text: message.text + frame.text }));
  }

  /** @param {any} frame @param {Changes} changes @param {number} now */
  _typing(frame, changes, now) {
    if (frame.who === this.me?.id) return;
    const place = placeOf(frame);
    const here = this.#typing.get(place) ?? new Map();
    this.#typing.set(place, here.set(frame.who, now + TYPING_LASTS));
    changes.typing.add(place);
  }

  /** @param {any} frame @param {Changes} changes */
  _note(frame, changes) {
    const place = placeOf(frame);
    const note = { ...frame, id: ++this.#lastNote, after: this.seq ?? 0 };
    this.notes.set(place, [...(this.notes.get(place) ?? []), note].slice(-5));
    changes.timelines.add(place);
  }

  // --- keeping -------------------------------------------------------------------------------------------------

  /** @param {Message} message @param {Changes} changes */
  #place(message, changes) {
    const before = this.messages.get(message.id);
    this.messages.set(message.id, message);
    changes.messages.add(message.id);
    const place = placeOf(message);
    if (Boolean(before?.growing) !== Boolean(message.growing)) changes.typing.add(place);
    const window = this.timelines.get(place);
    if (!window?.loaded || !window.end || window.ids.includes(message.id)) return;
    this.timelines.set(place, { ...window, ids: this.#sorted([...window.ids, message.id]) });
    changes.timelines.add(place);
  }

  /** @param {string} gone @param {Changes} changes */
  #remove(gone, changes) {
    this.messages.delete(gone);
    for (const [place, window] of this.timelines) {
      if (!window.ids.includes(gone)) continue;
      this.timelines.set(place, { ...window, ids: window.ids.filter((id) => id !== gone) });
      changes.timelines.add(place);
    }
  }

  /** What is left of a deleted message with a thread under it. @param {Message} message @param {Changes} changes */
  #empty({ id, room, author, at, seq, thread, client, under }, changes) {
    this.#change(id, changes, () => ({ id, room, author, at, seq, thread, client, under, text: "", gone: true }));
    changes.timelines.add(placeOf({ room, thread }));
    changes.timelines.add(placeOf({ room, thread: id }));
  }

  /** @param {string} id @param {Changes} changes @param {(message: Message) => Message} how */
  #change(id, changes, how) {
    const message = this.messages.get(id);
    if (!message) return;
    const changed = how(message);
    this.messages.set(id, changed);
    changes.messages.add(id);
    if (Boolean(message.growing) !== Boolean(changed.growing)) changes.typing.add(placeOf(changed));
    const room = this.rooms.get(changed.room);
    if (room?.latest?.id === id) {
      room.latest = changed;
      changes.rooms ||= !changed.growing || message.text.length < PREVIEWED;
    }
  }

  /** @param {string} root @param {number} by @param {number} at @param {Changes} changes */
  #countReply(root, by, at, changes) {
    this.#change(root, changes, (message) => {
      const { replies = 0, latest = 0 } = message.under ?? {};
      return { ...message, under: replies + by > 0 ? { replies: replies + by, latest: Math.max(latest, at) } : null };
    });
  }

  /** @param {Message} message @param {Changes} changes */
  #stopsTyping(message, changes) {
    const place = placeOf(message);
    if (this.#typing.get(place)?.delete(message.author)) changes.typing.add(place);
  }

  /** @param {string[]} ids */
  #sorted(ids) {
    const seq = (/** @type {string} */ id) => this.messages.get(id)?.seq ?? 0;
    return ids.sort((a, b) => seq(a) - seq(b));
  }

  /** @param {string} place @param {string[]} ids @param {boolean} nothingNew @param {Timeline} window */
  #reachesEnd(place, ids, nothingNew, window) {
    if (window.end && window.loaded && ids.includes(window.ids.at(-1) ?? "")) return true;
    const newest = this.rooms.get(place)?.latest?.seq;
    const last = this.messages.get(ids.at(-1) ?? "")?.seq ?? 0;
    return nothingNew || (newest !== undefined && last >= newest);
  }
}

/** @returns {Changes} */
function noChanges() {
  return { messages: new Set(), timelines: new Set(), typing: new Set(), stale: new Set(), arrived: [], finished: [] };
}

/** Fields at their default may be left out. @param {any} room @returns {Room} */
const whole = (room) => ({ unread: 0, read: 0, latest: null, ...room });

/** What is left of a quote when the message is gone. @param {Quoted} quoted @returns {Quoted} */
const unquoted = ({ id, author }) => ({ id, author });

/** @param {string} place */
export const threadOf = (place) => place.split("\n")[1] ?? null;

/** @param {string} place */
export const roomOf = (place) => place.split("\n")[0];
