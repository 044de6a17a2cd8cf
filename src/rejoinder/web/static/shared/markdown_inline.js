/**
 * The inside of a Markdown block: code, emphasis, links, mentions. Emphasis follows CommonMark's delimiter stack.
 *
 * Every character is looked at a bounded number of times, whatever the text: patterns are sticky and cannot backtrack,
 * closing marks are found once for the whole text, and the stack of open marks is limited.
 */

/**
 * @typedef {import("./patch.js").Tree} Tree
 * @typedef {import("./markdown.js").Reading} Reading
 * @typedef {{mark: string, count: number, opens: boolean, closes: boolean}} Run
 * @typedef {Tree | Run} Piece
 */

const PLAIN = /(?:[^\\\n`*_~[!<&@hH]|[hH](?!ttps?:\/\/))+/y;
const URL = /https?:\/\/[^\s<>"`\u0000-\u001f]+/iy;
const AUTO = /<(https?:\/\/[^\s<>]+|[\w.+-]+@[\w-]+\.[\w.-]+)>/iy;
const BREAK = /<br ?\/?>/iy;
const ENTITY = /&(amp|lt|gt|quot|apos|nbsp);/y;
export const MENTION = /@([\p{L}\p{N}_.-]*[\p{L}\p{N}_])/uy;
const TARGET =
  /\([ \n]*(?![ \n])(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:[ \n]+(?:"[^"]*"|'[^']*'))?[ \n]*\)/y;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const LETTER = /[\p{L}\p{N}]$/u;
const ENTITIES = /** @type {Record<string, string>} */ ({
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
});
const MOST_OPEN = 10; // marks that wait for their partner: the depth of emphasis
const LONGEST_RUN = 6; // marks in a row; more are a line that somebody drew
const LONGEST_LABEL = 2000;
const LONGEST_TARGET = 4000;
const SAFE = /^(https?:|mailto:)/i;

/** @param {string} text @param {Reading} reading @returns {Tree[]} */
export function inline(text, reading) {
  return emphasise(pieces(text, reading), Boolean(reading.growing));
}

/** What stands at a place, or null. @param {RegExp} pattern a sticky one @param {string} text @param {number} at */
function match(pattern, text, at) {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

/** Whether a letter or digit stands before a place. @param {string} text @param {number} at */
const afterLetter = (text, at) => LETTER.test(text.slice(Math.max(0, at - 2), at));

/** @param {string} text @param {Reading} reading @returns {Piece[]} */
function pieces(text, reading) {
  const found = /** @type {Piece[]} */ ([]);
  const known = new Closings(text);
  let plain = "";
  let at = 0;
  while (at < text.length) {
    const simple = match(PLAIN, text, at);
    const [more, next] = simple ? [simple[0], at + simple[0].length] : special(text, at, reading, known);
    at = next;
    if (typeof more === "string") {
      plain += more;
      continue;
    }
    if (more.length === 1 && more[0] === BR) plain = withoutSpaces(plain);
    if (plain) found.push(plain);
    plain = "";
    found.push(...more);
  }
  if (plain) found.push(plain);
  return found;
}

const BR = /** @type {Tree} */ ({ tag: "br" });

/** Without the spaces at its end; a pattern would look at every run of spaces in it. @param {string} text */
function withoutSpaces(text) {
  let end = text.length;
  while (text[end - 1] === " ") end -= 1;
  return text.slice(0, end);
}

/** What begins with a character that may mean something: text, or what it means, and where to go on.
 * @param {string} text @param {number} at @param {Reading} reading @param {Closings} known
 * @returns {[string | Piece[], number]} */
function special(text, at, reading, known) {
  const char = text[at];
  switch (char) {
    case "\\":
      return ESCAPABLE.test(text[at + 1] ?? "") ? [text[at + 1], at + 2] : [char, at + 1];
    case "\n":
      return [[BR], at + 1];
    case "`":
      return codeSpan(text, at, reading, known);
    case "*":
    case "_":
    case "~":
      return delimiters(text, at);
    case "[":
    case "!":
      return readLink(text, at, reading, known) ?? [char, at + 1];
    case "<":
      return readAngle(text, at);
    case "&": {
      const entity = match(ENTITY, text, at);
      return entity ? [ENTITIES[entity[1]], at + entity[0].length] : [char, at + 1];
    }
    case "@": {
      const name = afterLetter(text, at) ? null : match(MENTION, text, at);
      const called = name && reading.mentions?.get(name[1].toLowerCase());
      if (!name || called === undefined || called === null) return [char, at + 1];
      const tree = { tag: "span", attrs: { class: "mention" }, children: [`@${called || name[1]}`] };
      return [[tree], at + name[0].length];
    }
    default: {
      const url = reading.linked || afterLetter(text, at) ? null : match(URL, text, at);
      if (!url) return [char, at + 1];
      const trimmed = trimUrl(url[0]);
      return [[anchor(trimmed, [trimmed])], at + trimmed.length];
    }
  }
}

/** @param {string} text @param {number} at @returns {[string | Piece[], number]} */
function readAngle(text, at) {
  const auto = match(AUTO, text, at);
  if (auto) {
    const url = auto[1].includes("://") ? auto[1] : `mailto:${auto[1]}`;
    return [[anchor(url, [auto[1]])], at + auto[0].length];
  }
  const lineBreak = match(BREAK, text, at);
  return lineBreak ? [[BR], at + lineBreak[0].length] : ["<", at + 1];
}

/** Where brackets and back-ticks are closed: found in one go when first asked for, not once more for every one. */
class Closings {
  #brackets = /** @type {Map<number, number> | null} */ (null);
  #ticks = /** @type {Map<number, number> | null} */ (null);

  /** @param {string} text */
  constructor(text) {
    this.text = text;
  }

  /** Where the square bracket is closed that opens here; -1: nowhere. @param {number} open */
  bracket(open) {
    this.#brackets ??= brackets(this.text);
    return this.#brackets.get(open) ?? -1;
  }

  /** Where the last run of so many back-ticks stands. @param {number} length */
  lastTicks(length) {
    if (!this.#ticks) {
      this.#ticks = new Map();
      for (const run of this.text.matchAll(/`+/g)) this.#ticks.set(run[0].length, run.index);
    }
    return this.#ticks.get(length) ?? -1;
  }
}

/** @param {string} text */
function brackets(text) {
  const found = /** @type {Map<number, number>} */ (new Map());
  const open = /** @type {number[]} */ ([]);
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "[") open.push(i);
    else if (text[i] === "]" && open.length) found.set(/** @type {number} */ (open.pop()), i);
  }
  return found;
}

/** @param {string} text @param {number} at @param {Reading} reading @param {Closings} known
 * @returns {[string | Piece[], number]} */
function codeSpan(text, at, reading, known) {
  let length = 0;
  while (text[at + length] === "`") length += 1;
  const begin = at + length;
  if (known.lastTicks(length) < begin) {
    if (!reading.growing) return [text.slice(at, begin), begin];
    const open = text.slice(begin);
    return [open ? [{ tag: "code", children: [open.replace(/`{1,9}$/, "").replace(/\n/g, " ")] }] : [], text.length];
  }
  const mark = "`".repeat(length);
  let end = text.indexOf(mark, begin);
  while (text[end + length] === "`") {
    while (text[end] === "`") end += 1;
    end = text.indexOf(mark, end);
  }
  let inside = text.slice(begin, end).replace(/\n/g, " ");
  const padded = inside.startsWith(" ") && inside.endsWith(" ") && inside.trim() !== "";
  if (padded || inside.startsWith(" `") || inside.endsWith("` ")) inside = inside.slice(1, -1);
  return [[{ tag: "code", children: [inside] }], end + length];
}

/** @param {string} text @param {number} at @param {Reading} reading @param {Closings} known
 * @returns {[Piece[], number] | null} */
function readLink(text, at, reading, known) {
  const image = text[at] === "!";
  const open = at + (image ? 1 : 0);
  if (text[open] !== "[" || (reading.linked && !image)) return null; // a link holds no link
  const close = known.bracket(open);
  if (close > open + LONGEST_LABEL) return null;
  if (close === -1) {
    // The words of a link whose address is still to come.
    const soon = reading.growing && text.length - open < 120 && !text.slice(open).includes("\n");
    return soon ? [inlineLabel(text.slice(open + 1), reading), text.length] : null;
  }
  const label = text.slice(open + 1, close);
  if (text[close + 1] !== "(") {
    const soon = reading.growing && close === text.length - 1;
    return soon ? [inlineLabel(label, reading), text.length] : null;
  }
  const address = text.slice(close + 1, close + 1 + LONGEST_TARGET);
  const target = match(TARGET, address, 0);
  if (!target) {
    const half = reading.growing && text.length < close + LONGEST_TARGET && !/[)\s]/.test(address.slice(1).trim());
    return half ? [inlineLabel(label, reading), text.length] : null;
  }
  const url = (target[1] ?? target[2] ?? "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
  const end = close + 1 + target[0].length;
  if (reading.linked) return [[`🖼 ${label}`], end];
  const shown = label ? inlineLabel(label, { ...reading, growing: false }) : [url];
  // An image from another server would reveal to it who reads; it is shown as a link.
  return [SAFE.test(url) ? [anchor(url, image ? ["🖼 ", ...shown] : shown)] : shown, end];
}

/** @param {string} label @param {Reading} reading */
const inlineLabel = (label, reading) => inline(label, { ...reading, linked: true });

/** @param {string} url @param {Tree[]} children @returns {Tree} */
const anchor = (url, children) => ({
  tag: "a",
  attrs: { href: url, target: "_blank", rel: "noopener noreferrer nofollow" },
  children,
});

/** A full stop or a bracket after an address belongs to the sentence, not to the address. @param {string} url */
function trimUrl(url) {
  let end = url.length;
  let unopened = count(url, ")") - count(url, "(");
  for (; ; end -= 1) {
    const last = url[end - 1];
    if (/[\].,:;!?'*_~}]/.test(last)) continue;
    if (last !== ")" || unopened <= 0) return url.slice(0, end);
    unopened -= 1;
  }
}

/** @param {string} text @param {string} char */
const count = (text, char) => text.split(char).length - 1;

/** A run of marks: what it could open and close, or text where it can do neither.
 * @param {string} text @param {number} at @returns {[string | Piece[], number]} */
function delimiters(text, at) {
  const mark = text[at];
  let length = 1;
  while (text[at + length] === mark) length += 1;
  const end = at + length;
  const before = at === 0 ? " " : text[at - 1];
  const after = text[end] ?? " ";
  const space = /\s/;
  const punctuation = /[\p{P}\p{S}]/u;
  const left = !space.test(after) && (!punctuation.test(after) || space.test(before) || punctuation.test(before));
  const right = !space.test(before) && (!punctuation.test(before) || space.test(after) || punctuation.test(after));
  const word = mark === "_";
  const opens = left && (!word || !right || punctuation.test(before));
  const closes = right && (!word || !left || punctuation.test(after));
  if (length > LONGEST_RUN || (mark === "~" && length !== 2)) return [text.slice(at, end), end];
  if (!opens && !closes && end < text.length) return [text.slice(at, end), end];
  return [[{ mark, count: length, opens, closes }], end];
}

/** @param {Piece} piece @returns {piece is Run} */
const isRun = (piece) => typeof piece !== "string" && "mark" in piece;

/**
 * What was read so far is a stack: a closing run takes everything behind its opener off it and puts it back as one.
 * @param {Piece[]} list @param {boolean} growing @returns {Tree[]}
 */
function emphasise(list, growing) {
  const done = /** @type {Piece[]} */ ([]);
  let open = /** @type {number[]} */ ([]); // where in `done` the runs stand that wait for a partner
  for (const piece of list) {
    if (isRun(piece) && piece.closes) close(piece, done, open);
    if (isRun(piece) && piece.opens && piece.count > 0) open = [...open.slice(1 - MOST_OPEN), done.length];
    done.push(piece);
  }
  if (growing) closeOpen(done, open);
  return literal(done);
}

/** @param {Run} closer @param {Piece[]} done @param {number[]} open */
function close(closer, done, open) {
  while (closer.count > 0) {
    const which = open.findLastIndex((at) => opensFor(/** @type {Run} */ (done[at]), closer));
    if (which === -1) return;
    const opener = /** @type {Run} */ (done[open[which]]);
    const width = closer.mark === "~" ? 2 : Math.min(2, opener.count, closer.count);
    opener.count -= width;
    closer.count -= width;
    const inside = done.splice(open[which] + 1);
    done.push(wrap(closer.mark, width, inside));
    open.length = opener.count > 0 ? which + 1 : which;
  }
}

/** @param {Run} opener @param {Run} closer */
function opensFor(opener, closer) {
  if (opener.mark !== closer.mark || opener.count === 0) return false;
  const both = (opener.closes || closer.opens) && (opener.count + closer.count) % 3 === 0;
  return !(both && (opener.count % 3 !== 0 || closer.count % 3 !== 0));
}

/** @param {string} mark @param {number} width @param {Piece[]} inside @returns {Tree} */
const wrap = (mark, width, inside) => ({
  tag: mark === "~" ? "s" : width === 2 ? "strong" : "em",
  children: literal(inside),
});

/** What is open at the end of a growing text runs to its end; marks with nothing behind them wait.
 * @param {Piece[]} done @param {number[]} open */
function closeOpen(done, open) {
  const last = done.at(-1);
  if (last !== undefined && isRun(last) && last.count > 0) done.pop();
  while (open.length) {
    const at = /** @type {number} */ (open.pop());
    const run = /** @type {Run | undefined} */ (done[at]);
    if (!run || run.closes || run.count === 0) continue;
    let tree = done.splice(at + 1);
    for (let left = run.count; left > 0; left -= 2) tree = [wrap(run.mark, Math.min(2, left), tree)];
    run.count = 0;
    done.push(...tree);
  }
}

/** Marks without a partner are plain text. @param {Piece[]} list @returns {Tree[]} */
function literal(list) {
  const found = /** @type {Tree[]} */ ([]);
  let plain = "";
  for (const piece of list) {
    const tree = isRun(piece) ? piece.mark.repeat(piece.count) : piece;
    if (typeof tree === "string") {
      plain += tree;
      continue;
    }
    if (plain) found.push(plain);
    plain = "";
    found.push(tree);
  }
  if (plain) found.push(plain);
  return found;
}
