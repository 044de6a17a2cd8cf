/**
 * A WebSocket that comes back: it waits longer after each failure, at once when the network returns, and asks
 * whether the line is alive when nothing was heard for long.
 */

const SHORTEST = 400;
const LONGEST = 15_000;
const QUIET = 25_000;
const PATIENCE = 8_000;

/**
 * @typedef {{frame: (frame: any) => void, open: () => void, down: (code: number, tries: number) => void}} Ears
 */

export class Line {
  #socket = /** @type {WebSocket | null} */ (null);
  #tries = 0;
  #timer = 0;
  #heard = 0;
  #asked = false;

  /** @param {string} path @param {Ears} ears @param {{pings?: boolean}} [options] */
  constructor(path, ears, { pings = true } = {}) {
    this.url = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}${path}`;
    this.ears = ears;
    addEventListener("online", () => this.#soon(0));
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden && !this.#socket) this.#soon(0);
    });
    if (pings) setInterval(() => this.#check(), 5_000);
  }

  connect() {
    clearTimeout(this.#timer);
    const socket = (this.#socket = new WebSocket(this.url));
    socket.onopen = () => {
      this.#heard = Date.now();
      this.ears.open();
    };
    socket.onmessage = ({ data }) => {
      this.#heard = Date.now();
      this.#asked = false;
      this.ears.frame(JSON.parse(data));
    };
    socket.onclose = ({ code }) => {
      if (this.#socket !== socket) return;
      this.#socket = null;
      this.#tries += 1;
      this.ears.down(code, this.#tries);
      // A little chance keeps many pages from coming back in the same moment.
      this.#soon(Math.min(LONGEST, SHORTEST * 2 ** (this.#tries - 1)) * (0.75 + Math.random() / 2));
    };
  }

  /** The server has let us in: the next failure begins to count anew. */
  settled() {
    this.#tries = 0;
  }

  /** @param {object} frame @returns {boolean} whether the line took it */
  send(frame) {
    if (this.#socket?.readyState !== WebSocket.OPEN) return false;
    this.#socket.send(JSON.stringify(frame));
    return true;
  }

  /** Ends the connection and makes a new one, as after a failure. */
  renew() {
    const socket = this.#socket;
    this.#socket = null;
    socket?.close();
    this.#soon(0);
  }

  /** @param {number} wait */
  #soon(wait) {
    if (this.#socket) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.connect(), wait);
  }

  #check() {
    if (this.#socket?.readyState !== WebSocket.OPEN) return;
    const quiet = Date.now() - this.#heard;
    if (this.#asked && quiet > QUIET + PATIENCE) {
      this.#asked = false;
      this.ears.down(0, 1);
      this.renew();
    } else if (!this.#asked && quiet > QUIET) {
      this.#asked = this.send({ type: "ping" });
    }
  }
}
