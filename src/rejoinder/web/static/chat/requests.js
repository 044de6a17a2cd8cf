/**
 * Requests that must not get lost: they are kept until the server confirms them, and sent again with the same id after
 * a reconnect or a reload, so that they take effect once.
 *
 * @typedef {{type: string, client: string, room?: string, thread?: string | null, text?: string,
 *   reply_to?: string | null, files?: string[], message?: string, emoji?: string, remove?: boolean, says?: string,
 *   title?: string, agents?: string[]}} Frame
 * @typedef {{frame: Frame, at: number, state: "waiting" | "failed", reason?: string,
 *   files?: import("./state.js").File[]}} Request
 */

const PREFIX = "rejoinder.unsent.";

export class Requests {
  /** @type {Map<string, Request>} */
  #open = new Map();

  /** @param {Storage} storage @param {(frame: Frame) => boolean} send whether the line took it */
  constructor(storage, send) {
    this.storage = storage;
    this.send = send;
    for (let i = 0; i < storage.length; i++) {
      const key = storage.key(i);
      if (key?.startsWith(PREFIX)) this.#restore(key);
    }
  }

  /** @param {string} key */
  #restore(key) {
    try {
      const request = JSON.parse(this.storage.getItem(key) ?? "");
      this.#open.set(request.frame.client, request);
    } catch {
      this.storage.removeItem(key);
    }
  }

  /** @param {Frame} frame @param {number} at @param {import("./state.js").File[]} [files] */
  add(frame, at, files) {
    const request = /** @type {Request} */ ({ frame, at, state: "waiting", files });
    this.#keep(request);
    this.send(frame);
  }

  /** After a reconnect: everything that waits, in the order it was made. */
  resend() {
    for (const request of this.#inOrder()) if (request.state === "waiting") this.send(request.frame);
  }

  /** @param {string} client @returns {Request | undefined} */
  done(client) {
    const request = this.#open.get(client);
    this.#open.delete(client);
    this.storage.removeItem(PREFIX + client);
    return request;
  }

  /** @param {string} client @param {string} reason @returns {Request | undefined} */
  refused(client, reason) {
    const request = this.#open.get(client);
    if (!request) return undefined;
    if (request.frame.type !== "say") return this.done(client);
    request.state = "failed";
    request.reason = reason;
    this.#keep(request);
    return request;
  }

  /** Under a new id: the old one is refused for ever. @param {string} client @param {string} fresh @param {number} at */
  retry(client, fresh, at) {
    const request = this.done(client);
    if (request) this.add({ ...request.frame, client: fresh }, at, request.files);
  }

  /** Messages of a room or a thread that are being sent. @param {string} room @param {string | null} thread */
  unsent(room, thread) {
    return this.#inOrder().filter(
      ({ frame }) => frame.type === "say" && frame.room === room && (frame.thread ?? null) === thread,
    );
  }

  get waiting() {
    return [...this.#open.values()].filter((request) => request.state === "waiting").length;
  }

  /** @param {Request} request */
  #keep(request) {
    this.#open.set(request.frame.client, request);
    this.storage.setItem(PREFIX + request.frame.client, JSON.stringify(request));
  }

  #inOrder() {
    return [...this.#open.values()].sort((a, b) => a.at - b.at);
  }
}
