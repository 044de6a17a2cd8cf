/** The inside of a Markdown block: code, emphasis, links, mentions. Emphasis follows CommonMark's delimiter stack. */

/**
 * @typedef {import("./patch.js").Tree} Tree
 * @typedef {import("./markdown.js").Reading} Reading
 * @typedef {{text: string, mark: string, count: number, opens: boolean, closes: boolean}} Run
 * @typedef {Tree | Run} Piece
 */

const URL_START = /^https?:\/\/[^\s<>"`\u0000-\u001f]+/i;
const ESCAPABLE = /[!-/:-@[-`{-~]/;
const ENTITIES = /** @type {Record<string, string>} */ ({
  amp: "&",
  lt: "<",
  gt: ">",
  quot: '"',
  apos: "'",
  nbsp: "\u00a0",
});
export const MENTION = /^@([\p{L}\p{N}_.-]*[\p{L}\p{N}_])/u;
const LONGEST_LOOK = 400; // pieces back to a partner: keeps a text of nothing but marks cheap
const LONGEST_LABEL = 2000; // characters: a label is read again inside, and links may stand in links
const SAFE = /^(https?:|mailto:)/i;

/** @param {string} text @param {Reading} reading @returns {Tree[]} */
export function inline(text, reading) {
  return emphasise(pieces(text, reading), Boolean(reading.growing));
}

/** @param {string} text @param {Reading} reading @returns {Piece[]} */
function pieces(text, reading) {
  const found = /** @type {Piece[]} */ ([]);
  let plain = "";
  const flush = () => {
    if (plain) found.push(plain);
    plain = "";
  };
  /** @param {Piece[]} more */
  const push = (...more) => {
    flush();
    found.push(...more);
  };
  let at = 0;
  let partners = /** @type {Map<number, number> | null} */ (null);
  while (at < text.length) {
    const char = text[at];
    const rest = () => text.slice(at);
    if (char === "\\" && ESCAPABLE.test(text[at + 1] ?? "")) {
      plain += text[at + 1];
      at += 2;
    } else if (char === "\n") {
      plain = plain.replace(/ +$/, "");
      push({ tag: "br" });
      at += 1;
    } else if (char === "`") {
      const [tree, next] = codeSpan(text, at, reading);
      if (tree === null) plain += text.slice(at, next);
      else if (typeof tree !== "string" || tree) push(tree);
      at = next;
    } else if (char === "*" || char === "_" || char === "~") {
      const run = delimiters(text, at);
      at += run.text.length;
      if (char === "~" && run.count !== 2) plain += run.text;
      else push(run);
    } else if (char === "[" || (char === "!" && text[at + 1] === "[")) {
      partners ??= closings(text);
      const link = readLink(text, at, reading, partners);
      if (link) {
        push(...link[0]);
        at = link[1];
      } else {
        plain += char;
        at += 1;
      }
    } else if (char === "<") {
      const auto = /^<(https?:\/\/[^\s<>]+|[\w.+-]+@[\w-]+\.[\w.-]+)>/i.exec(rest());
      if (auto) {
        push(anchor(auto[1].includes("://") ? auto[1] : `mailto:${auto[1]}`, [auto[1]]));
        at += auto[0].length;
      } else {
        const lineBreak = /^<br ?\/?>/i.exec(rest());
        if (lineBreak) push({ tag: "br" });
        else plain += char;
        at += lineBreak ? lineBreak[0].length : 1;
      }
    } else if (char === "&") {
      const entity = /^&(\w+);/.exec(text.slice(at, at + 8));
      const meant = entity && ENTITIES[entity[1]];
      plain += meant ?? char;
      at += meant && entity ? entity[0].length : 1;
    } else if (char === "@" && !/[\p{L}\p{N}]$/u.test(plain)) {
      const name = MENTION.exec(rest());
      const known = name && reading.mentions?.get(name[1].toLowerCase());
      if (name && known !== undefined && known !== null) {
        push({ tag: "span", attrs: { class: "mention" }, children: [`@${known || name[1]}`] });
        at += name[0].length;
      } else {
        plain += char;
        at += 1;
      }
    } else if (
      (char === "h" || char === "H") &&
      !reading.linked &&
      !/[\p{L}\p{N}]$/u.test(plain) &&
      URL_START.test(rest())
    ) {
      const url = trimUrl(/** @type {RegExpExecArray} */ (URL_START.exec(rest()))[0]);
      push(anchor(url, [url]));
      at += url.length;
    } else {
      plain += char;
      at += 1;
    }
  }
  flush();
  return found;
}

/** @param {string} text @param {number} at @param {Reading} reading @returns {[Tree | null, number]} */
function codeSpan(text, at, reading) {
  let length = 0;
  while (text[at + length] === "`") length += 1;
  const mark = "`".repeat(length);
  let end = text.indexOf(mark, at + length);
  while (end !== -1 && text[end + length] === "`") {
    let past = end + length;
    while (text[past] === "`") past += 1;
    end = text.indexOf(mark, past);
  }
  if (end === -1) {
    if (!reading.growing) return [null, at + length];
    const open = text.slice(at + length);
    return [open ? { tag: "code", children: [open.replace(/`+$/, "").replace(/\n/g, " ")] } : "", text.length];
  }
  let inside = text.slice(at + length, end).replace(/\n/g, " ");
  if (/^ .*[^ ].* $/.test(inside) || /^ `|` $/.test(inside)) inside = inside.slice(1, -1);
  return [{ tag: "code", children: [inside] }, end + length];
}

/** Where each square bracket is closed, found in one go: not once more for every bracket. @param {string} text */
function closings(text) {
  const found = /** @type {Map<number, number>} */ (new Map());
  const open = /** @type {number[]} */ ([]);
  for (let i = 0; i < text.length; i++) {
    if (text[i] === "\\") i += 1;
    else if (text[i] === "[") open.push(i);
    else if (text[i] === "]" && open.length) found.set(/** @type {number} */ (open.pop()), i);
  }
  return found;
}

/** @param {string} text @param {number} at @param {Reading} reading @param {Map<number, number>} partners
 * @returns {[Tree[], number] | null} */
function readLink(text, at, reading, partners) {
  const image = text[at] === "!";
  const open = at + (image ? 1 : 0);
  const close = partners.get(open) ?? -1;
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
  const target =
    /^\([ \n]*(?:<([^<>\n]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))*))(?:[ \n]+(?:"[^"]*"|'[^']*'))?[ \n]*\)/.exec(
      text.slice(close + 1, close + 4100),
    );
  if (!target) {
    const half = reading.growing && !text.slice(close).includes(")") && !/\s/.test(text.slice(close + 2).trim());
    return half ? [inlineLabel(label, reading), text.length] : null;
  }
  const url = (target[1] ?? target[2] ?? "").replace(/\\([!-/:-@[-`{-~])/g, "$1");
  const end = close + 1 + target[0].length;
  const shown = label ? inlineLabel(label, { ...reading, growing: false }) : [url];
  // An image from elsewhere would tell its server who reads; it is shown as a link.
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

/** A full stop or a bracket behind an address is the sentence's, not the address's. @param {string} url */
function trimUrl(url) {
  let end = url.length;
  for (;;) {
    const last = url[end - 1];
    if (/[.,:;!?'*_~]/.test(last)) end -= 1;
    else if (last === ")" && count(url.slice(0, end), ")") > count(url.slice(0, end), "(")) end -= 1;
    else if (last === "]" || last === "}") end -= 1;
    else return url.slice(0, end);
  }
}

/** @param {string} text @param {string} char */
const count = (text, char) => text.split(char).length - 1;

/** @param {string} text @param {number} at @returns {Run} */
function delimiters(text, at) {
  const mark = text[at];
  let length = 1;
  while (text[at + length] === mark) length += 1;
  const before = at === 0 ? " " : text[at - 1];
  const after = text[at + length] ?? " ";
  const space = /\s/;
  const punctuation = /[\p{P}\p{S}]/u;
  const left = !space.test(after) && (!punctuation.test(after) || space.test(before) || punctuation.test(before));
  const right = !space.test(before) && (!punctuation.test(before) || space.test(after) || punctuation.test(after));
  const word = mark === "_";
  return {
    text: mark.repeat(length),
    mark,
    count: length,
    opens: left && (!word || !right || punctuation.test(before)),
    closes: right && (!word || !left || punctuation.test(after)),
  };
}

/** @param {Piece} piece @returns {piece is Run} */
const isRun = (piece) => typeof piece !== "string" && "mark" in piece;

/** @param {Piece[]} list @param {boolean} growing @returns {Tree[]} */
function emphasise(list, growing) {
  for (let i = 0; i < list.length; i++) {
    const closer = list[i];
    if (!isRun(closer) || !closer.closes) continue;
    while (closer.count > 0) {
      let j = i - 1;
      const furthest = Math.max(0, i - LONGEST_LOOK);
      while (j >= furthest && !opensFor(list[j], closer)) j -= 1;
      if (j < furthest) break;
      const opener = /** @type {Run} */ (list[j]);
      const width = closer.mark === "~" ? 2 : Math.min(2, opener.count, closer.count);
      opener.count -= width;
      closer.count -= width;
      const inner = list.splice(j + 1, i - j - 1, wrap(closer.mark, width, list.slice(j + 1, i)));
      i -= inner.length - 1;
    }
  }
  if (growing) closeOpen(list);
  return literal(list);
}

/** @param {Piece} piece @param {Run} closer */
function opensFor(piece, closer) {
  if (!isRun(piece) || piece.mark !== closer.mark || !piece.opens || piece.count === 0) return false;
  const both = (piece.closes || closer.opens) && (piece.count + closer.count) % 3 === 0;
  return !(both && (piece.count % 3 !== 0 || closer.count % 3 !== 0));
}

/** @param {string} mark @param {number} width @param {Piece[]} inside @returns {Tree} */
const wrap = (mark, width, inside) => ({
  tag: mark === "~" ? "s" : width === 2 ? "strong" : "em",
  children: literal(inside),
});

/** What is open at the end of a growing text runs to its end; marks with nothing behind them wait. @param {Piece[]} list */
function closeOpen(list) {
  const last = list[list.length - 1];
  if (last !== undefined && isRun(last) && last.count > 0) list.pop();
  for (let j = list.length - 1; j >= 0; j--) {
    const run = list[j];
    if (!isRun(run) || !run.opens || run.count === 0 || run.closes) continue;
    const inside = list.splice(j + 1);
    let tree = inside;
    for (let left = run.count; left > 0; left -= 2) tree = [wrap(run.mark, Math.min(2, left), tree)];
    run.count = 0;
    list.push(...tree);
  }
}

/** Marks that found no partner are what they look like. @param {Piece[]} list @returns {Tree[]} */
function literal(list) {
  const found = /** @type {Tree[]} */ ([]);
  for (const piece of list) {
    const tree = isRun(piece) ? piece.mark.repeat(piece.count) : piece;
    if (tree === "") continue;
    if (typeof tree === "string" && typeof found[found.length - 1] === "string") found[found.length - 1] += tree;
    else found.push(tree);
  }
  return found;
}
