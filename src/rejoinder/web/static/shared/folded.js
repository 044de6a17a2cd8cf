/**
 * The part of a message that exceeds its budget: plain text behind a click, in pieces that the browser lays out as they
 * come into sight. It is read when it is unfolded, a few pieces with each frame.
 */

import { clean } from "./clean.js";
import { h } from "./dom.js";

/** @typedef {import("./patch.js").Tree} Tree */

const SCRIPT_COST = 2; // nodes are drawn in the time in which the letters of another script are
const PIECE = 1_000; // characters that are laid out together,
const PIECE_COST = 15; // or fewer, where they are costly,
const COSTLY = 200; // and then with room around them, so that few are in sight at once
const CHARACTERS_A_FRAME = 20_000;

/** @param {string} rest @param {boolean} alone whether it is all there is to see @returns {Tree[]} */
export function folded(rest, alone) {
  const at = alone ? cutAt(rest, 0, sizeOfPiece(rest.slice(0, PIECE))) : 0;
  const first = alone ? [piece(rest.slice(0, at))] : [];
  if (at === rest.length) return first;
  return [...first, { tag: "details", attrs: { class: "rest" }, draw: (element) => restOf(element).show(rest.slice(at)) }];
}

/** @type {WeakMap<Element, Rest>} */
const rests = new WeakMap();

/** @param {Element} element */
function restOf(element) {
  const known = rests.get(element);
  if (known) return known;
  const made = new Rest(/** @type {HTMLDetailsElement} */ (element));
  rests.set(element, made);
  return made;
}

class Rest {
  #text = "";
  #at = 0;
  #last = 0; // where the last piece begins: it may be longer when the text has grown
  #waits = false;

  /** @param {HTMLDetailsElement} details */
  constructor(details) {
    this.details = details;
    this.summary = h("summary");
    this.pieces = h("div");
    details.replaceChildren(this.summary, this.pieces);
    details.addEventListener("toggle", () => this.#draw());
  }

  /** @param {string} text */
  show(text) {
    if (text === this.#text) return;
    this.summary.textContent = `Show the rest as plain text: ${text.length.toLocaleString()} characters`;
    if (text.startsWith(this.#text)) this.pieces.lastChild?.remove();
    else this.pieces.replaceChildren();
    this.#at = this.pieces.firstChild ? this.#last : 0;
    this.#text = text;
    this.#draw();
  }

  #draw() {
    if (!this.details.open || this.#waits) return;
    const end = Math.min(this.#text.length, this.#at + CHARACTERS_A_FRAME);
    while (this.#at < end) {
      const size = sizeOfPiece(this.#text.slice(this.#at, this.#at + PIECE));
      const next = cutAt(this.#text, this.#at, size);
      this.pieces.append(drawn(this.#text.slice(this.#at, next), size));
      [this.#last, this.#at] = [this.#at, next];
    }
    if (this.#at === this.#text.length) return;
    this.#waits = true;
    requestAnimationFrame(() => {
      this.#waits = false;
      this.#draw();
    });
  }
}

/** @param {string} text @param {number} size */
const drawn = (text, size) => h("div", attributes(size), words(text));

/** @param {string} text @returns {Tree} */
const piece = (text) => ({ tag: "div", attrs: attributes(sizeOfPiece(text)), children: [words(text)] });

/** @param {number} size */
const attributes = (size) => ({ class: size < COSTLY ? "plain costly" : "plain", dir: "auto" });

/** @param {string} text */
const words = (text) => clean(text).replace(/\n$/, "");

/** Fewer characters where they are costly. @param {string} beginning */
const sizeOfPiece = (beginning) =>
  Math.round(Math.max(80, Math.min(PIECE, (PIECE_COST * beginning.length) / costOfText(beginning))));

/** Where a piece of at most so many characters ends: behind a line, else behind a word, never inside of a character.
 * @param {string} text @param {number} from @param {number} most */
export function cutAt(text, from, most) {
  if (text.length - from <= most) return text.length;
  const end = from + most;
  for (const mark of ["\n", " "]) {
    const found = text.slice(from, end).lastIndexOf(mark);
    if (found > most / 2) return from + found + 1;
  }
  return /[\ud800-\udbff]/.test(text[end - 1]) ? end - 1 : end;
}

/**
 * The browser's work for a text, measured in nodes. Lines and emoji cost more than other letters, and changes of
 * direction or of script, for which it looks for another font, cost most.
 * @param {string} text
 */
export function costOfText(text) {
  let cost = text.length / 100;
  let [last, turns] = [0, false];
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit === 0x0a) cost += 0.1;
    if (unit >= 0xd83c && unit < 0xd83f) cost += 0.2;
    const script = scriptOf(unit);
    if (script === last || script === ANY) continue;
    last = script;
    cost += SCRIPT_COST;
    turns ||= isRightToLeft(unit);
  }
  return turns ? cost + 4 * (text.match(TURNS)?.length ?? 0) : cost;
}

const ANY = -1;

/** About the script of a letter; `ANY` for what stands in every script, and for emoji. @param {number} unit */
function scriptOf(unit) {
  if (unit < 0x300) return unit < 0x41 ? ANY : 0;
  if (unit < 0x370 || (unit >= 0x2000 && unit < 0x2c00) || (unit >= 0xfe00 && unit < 0xfe30)) return ANY;
  if (unit >= 0x1e00 && unit < 0x1f00) return 0; // Latin
  if (unit < 0x400 || (unit >= 0x1f00 && unit < 0x2000)) return 2; // Greek
  if ((unit >= 0x2e80 && unit < 0xa000) || (unit >= 0xac00 && unit < 0xd800) || unit >= 0xff00) return 1; // East Asia
  if ((unit >= 0xd83c && unit < 0xd83f) || (unit >= 0xdc00 && unit < 0xe000)) return ANY; // emoji; a second half
  return unit >> 7;
}

/** @param {number} unit */
const isRightToLeft = (unit) =>
  (unit >= 0x590 && unit < 0x900) || (unit >= 0xfb1d && unit < 0xfe00) || (unit >= 0xfe70 && unit < 0xfefd);

const TURNS = /[0-9A-Za-z\u00c0-\u058f][^0-9A-Za-z\u00c0-\u08ff]{0,9}[\u0590-\u08ff]/g;
