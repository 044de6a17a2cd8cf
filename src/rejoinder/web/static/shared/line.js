/**
 * A WebSocket that reconnects: after each failure it waits longer, and when the network returns it connects at once.
 * It sends a ping when nothing has come for long, when a request has no answer, and when the network is gone.
 */

const SHORTEST = 400;
const LONGEST = 15_000;
const QUIET = 25_000;
const UNANSWERED = 3_000;
const PATIENCE = 5_000;

/**
 * @typedef {object} LineHandlers
 * @property {(frame: any) => void} onFrame
 * @property {() => void} onOpen
 * @property {(code: number, tries: number) => void} onDown
 */

export class Line {
  #socket = /** @type {WebSocket | null} */ (null);
  #tries = 0;
  #timer = 0;
  #heardAt = 0;
  #pingedAt = 0; // when a ping was sent that has no answer yet; 0: none
  #unansweredSince = 0; // when the oldest request without an answer was sent; 0: there is none

  /** @param {string} path @param {LineHandlers} handlers @param {{pings?: boolean}} [options] */
  constructor(path, handlers, { pings = true } = {}) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.handlers = handlers;
    addEventListener("online", () => this.#connectSoon(0));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.#socket) this.#connectSoon(0);
    });
    if (!pings) return;
    setInterval(() => this.#check(), 1_000);
    addEventListener("offline", () => this.#ping()); // a server on this machine may still be there
  }

  connect() {
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.url));
    socket.onopen = () => {
      this.#heardAt = Date.now();
      this.#pingedAt = this.#unansweredSince = 0;
      this.handlers.onOpen();
    };
    socket.onmessage = ({ data }) => {
      this.#heardAt = Date.now();
      this.#pingedAt = this.#unansweredSince = 0;
      this.handlers.onFrame(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#tries += 1;
      this.handlers.onDown(code, this.#tries);
      // A little randomness keeps many pages from coming back at the same moment.
      this.#connectSoon(Math.min(LONGEST, SHORTEST * 2 ** (this.#tries - 1)) * (0.75 + Math.random() / 2));
    };
  }

  /** The server has let us in: the next failure starts to count again. */
  settled() {
    this.#tries = 0;
  }

  /** @param {any} frame one with a `client` is answered @returns {boolean} whether the line took it */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    if (frame.client) this.#unansweredSince ||= Date.now();
    return true;
  }

  /** Ends the connection and makes a new one, as after a failure. */
  renew() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#connectSoon(0);
  }

  /** @param {number} wait */
  #connectSoon(wait) {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  #check() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const now = Date.now();
    if (this.#pingedAt && now - this.#pingedAt > PATIENCE) {
      this.#pingedAt = 0;
      this.handlers.onDown(0, 1);
      this.renew();
      return;
    }
    const unanswered = this.#unansweredSince && now - this.#unansweredSince > UNANSWERED;
    if (unanswered || now - this.#heardAt > QUIET) this.#ping();
  }

  #ping() {
    if (!this.#pingedAt && this.send({ type: "ping" })) this.#pingedAt = Date.now();
  }
}
