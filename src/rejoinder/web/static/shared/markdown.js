/**
 * Reads Markdown as agents write it into a tree that `patch` draws. It makes no HTML: anything but Markdown is text.
 *
 * Rule 1: any text has a reading, in time linear in its length; nothing throws.
 * Rule 2: a line break is a line break, as people expect in a chat.
 * Rule 3: while a text grows, its last block is read as if all open marks were closed, so that a half-written
 *         `**word` is bold already and no mark flickers.
 * Rule 4: a message costs the page no more than its budget of characters and nodes. The part beyond it is folded, and
 *         not read before it is unfolded.
 */

import { clean } from "./clean.js";
import { costOfText, cutAt, folded } from "./folded.js";
import { highlight } from "./highlight.js";
import { inline } from "./markdown_inline.js";

/**
 * @typedef {import("./patch.js").Tree} Tree
 * @typedef {{growing?: boolean, mentions?: Map<string, string>, linked?: boolean, ink?: {left: number}}} Reading
 *   whether more comes, whom `@id` means, whether it stands inside a link, and how much code may still be coloured
 */

// None of these can look at a character more than a few times: a repeated part never matches what follows it.
const FENCE = /^ {0,3}(`{3,}(?!`)(?=[^`]*$)|~{3,}(?!~))(.*)$/;
const HEADING = /^ {0,3}(#{1,6})(?:[ \t]+(.*))?$/;
const RULE = /^ {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)([-*+]|\d{1,9}[.)])(?:[ \t]+(.*))?$/;
const TASK = /^\[([ xX])\][ \t]+/;
const DIVIDER = /^[ \t|:-]*-[ \t|:-]*$/;
const DEEPEST = 12;
const MOST_COLUMNS = 64;

export const MOST_CHARACTERS = 30_000;
export const MOST_NODES = 2_000;
const MOST_COLOURED = 1_200; // pieces of code: further code has no colours, but is whole
const CHARACTERS_A_NODE = 50; // are read in the time in which a node is drawn

/** @param {string} text @param {Reading} [reading] @returns {Tree[]} */
export function markdown(text, reading = {}) {
  return read(text, reading).trees;
}

/**
 * The same, with the cost of reading and drawing it, in nodes.
 * @param {string} text @param {Reading} [reading] @returns {{trees: Tree[], cost: number}}
 */
export function read(text, reading = {}) {
  const end = cutAt(text, 0, MOST_CHARACTERS);
  const within = clean(text.slice(0, end)).replace(/\t/g, "    ");
  const lines = within.split("\n");
  const ink = { left: MOST_COLOURED };
  const own = { ...reading, growing: Boolean(reading.growing) && end === text.length, ink };
  const trees = /** @type {Tree[]} */ ([]);
  let [at, shown, nodes] = [0, 0, 0];
  while (at < lines.length) {
    if (lines[at].trim()) {
      const [tree, next] = block(lines, at, own, 0);
      const cost = costOf(tree);
      if (nodes + cost > MOST_NODES) break;
      nodes += cost;
      trees.push(tree);
      for (; at < Math.min(next, lines.length); at++) shown += lines[at].length + 1;
    } else {
      shown += lines[at].length + 1;
      at += 1;
    }
  }
  const rest = within.slice(shown) + text.slice(end);
  if (rest.trim()) trees.push(...folded(rest, trees.length === 0));
  return { trees, cost: nodes + MOST_COLOURED - ink.left + within.length / CHARACTERS_A_NODE };
}

/** What the browser has to do for a tree, in nodes. @param {Tree} tree @returns {number} */
function costOf(tree) {
  if (typeof tree === "string") return 1 + costOfText(tree);
  if (tree.tag === "pre") return 2 + costOfText(textOf(tree)); // its colours have a budget of their own
  return (tree.children ?? []).reduce((sum, child) => sum + costOf(child), 1);
}

/** @param {Tree} tree @returns {string} */
const textOf = (tree) => (typeof tree === "string" ? tree : (tree.children ?? []).map(textOf).join(""));

/** @param {string[]} lines @param {Reading} reading @param {number} depth @returns {Tree[]} */
function blocks(lines, reading, depth) {
  const found = /** @type {Tree[]} */ ([]);
  let at = 0;
  while (at < lines.length) {
    if (!lines[at].trim()) {
      at += 1;
      continue;
    }
    const [tree, next] = block(lines, at, reading, depth);
    found.push(tree);
    at = next;
  }
  return found;
}

/**
 * Only what reaches the end of a growing text may still change.
 * @param {string[]} lines @param {number} next @param {Reading} reading @returns {Reading}
 */
const upTo = (lines, next, reading) => (next >= lines.length ? reading : { ...reading, growing: false });

/** @param {string[]} lines @param {number} at @param {Reading} reading @param {number} depth @returns {[Tree, number]} */
function block(lines, at, reading, depth) {
  const line = lines[at];
  const fence = FENCE.exec(line);
  if (fence) return code(lines, at, fence, reading);
  const heading = HEADING.exec(line);
  if (heading) {
    const children = inline(withoutHashes(heading[2] ?? ""), upTo(lines, at + 1, reading));
    return [{ tag: `h${Math.min(6, heading[1].length + 2)}`, attrs: { dir: "auto" }, children }, at + 1];
  }
  if (RULE.test(line)) return [{ tag: "hr" }, at + 1];
  if (depth < DEEPEST && QUOTE.test(line)) return quote(lines, at, reading, depth);
  if (depth < DEEPEST && ITEM.test(line) && !isBareMark(lines, at, reading)) return list(lines, at, reading, depth);
  if (isTable(lines, at, reading)) return table(lines, at, reading);
  return paragraph(lines, at, reading, depth);
}

/** A heading may be closed as it was opened: `## Title ##`. @param {string} title */
function withoutHashes(title) {
  const words = title.trimEnd();
  let end = words.length;
  while (words[end - 1] === "#") end -= 1;
  return words.slice(0, end).trimEnd();
}

/** A lone `-` or `1.` at the end of a growing text: it will be an item, or a rule. */
const isBareMark = (/** @type {string[]} */ lines, /** @type {number} */ at, /** @type {Reading} */ reading) =>
  reading.growing && at === lines.length - 1 && /^ *[-*+]$/.test(lines[at]);

/** @param {string[]} lines @param {number} at @param {RegExpExecArray} fence @param {Reading} reading
 * @returns {[Tree, number]} */
function code(lines, at, fence, { ink = { left: 0 } }) {
  const [, mark, info] = fence;
  const indent = lines[at].length - lines[at].trimStart().length;
  const closes = new RegExp(`^ {0,3}\\${mark[0]}{${mark.length},}[ ]*$`);
  const margin = new RegExp(`^ {0,${indent}}`);
  const inside = /** @type {string[]} */ ([]);
  let next = at + 1;
  while (next < lines.length && !closes.test(lines[next])) {
    inside.push(lines[next].replace(margin, ""));
    next += 1;
  }
  const language = info.trim().split(/\s+/)[0] ?? "";
  const coloured = highlight(inside.join("\n"), language, ink.left);
  ink.left -= coloured.length - 1;
  return [
    {
      tag: "figure",
      attrs: { class: "code" },
      children: [
        {
          tag: "figcaption",
          children: [
            { tag: "span", children: [language || "text"] },
            { tag: "button", attrs: { type: "button", class: "quiet", "data-copy": "" }, children: ["Copy"] },
          ],
        },
        {
          tag: "pre",
          attrs: { dir: "ltr", tabindex: "0", "aria-label": language ? `${language} code` : "code" },
          children: [{ tag: "code", children: coloured }],
        },
      ],
    },
    next + 1,
  ];
}

/** @param {string[]} lines @param {number} at @param {Reading} reading @param {number} depth @returns {[Tree, number]} */
function quote(lines, at, reading, depth) {
  const inside = /** @type {string[]} */ ([]);
  let next = at;
  while (next < lines.length && QUOTE.test(lines[next])) {
    inside.push(lines[next].replace(QUOTE, ""));
    next += 1;
  }
  const children = blocks(inside, upTo(lines, next, reading), depth + 1);
  return [{ tag: "blockquote", attrs: { dir: "auto" }, children }, next];
}

/** @param {string[]} lines @param {number} at @param {Reading} reading @param {number} depth @returns {[Tree, number]} */
function list(lines, at, reading, depth) {
  const first = /** @type {RegExpExecArray} */ (ITEM.exec(lines[at]));
  const ordered = /\d/.test(first[2]);
  const items = /** @type {{lines: string[], task: string | null}[]} */ ([]);
  let next = at;
  while (next < lines.length) {
    const item = ITEM.exec(lines[next]);
    if (!item || item[1].length > first[1].length + 1 || /\d/.test(item[2]) !== ordered || RULE.test(lines[next]))
      break;
    const inset = item[1].length + item[2].length + 1;
    const task = TASK.exec(item[3] ?? "");
    const inside = [task ? item[3].slice(task[0].length) : (item[3] ?? "")];
    next += 1;
    while (next < lines.length && belongs(lines, next, inset)) {
      inside.push(lines[next].slice(Math.min(inset, lines[next].length - lines[next].trimStart().length)));
      next += 1;
    }
    items.push({ lines: inside, task: task && task[1] });
  }
  const loose = items.some((item) => item.lines.some((line, i) => !line.trim() && i < item.lines.length - 1));
  const children = items.map((item, i) => {
    const own = i === items.length - 1 ? upTo(lines, next, reading) : { ...reading, growing: false };
    return listItem(blocks(item.lines, own, depth + 1), item.task, loose);
  });
  const start = parseInt(first[2], 10);
  const attrs = ordered && start !== 1 ? { start: String(start) } : undefined;
  return [{ tag: ordered ? "ol" : "ul", attrs, children }, next];
}

/** A line belongs to an item when it is indented, or blank with an indented or a further line behind it. */
function belongs(/** @type {string[]} */ lines, /** @type {number} */ at, /** @type {number} */ inset) {
  const line = lines[at];
  const indent = line.length - line.trimStart().length;
  if (line.trim()) {
    if (indent >= Math.min(inset, 2)) return true;
    const lazy = lines[at - 1].trim() !== "" && !opens(lines, at);
    return lazy;
  }
  const ahead = lines.slice(at, at + 3).find((later) => later.trim());
  return ahead !== undefined && ahead.length - ahead.trimStart().length >= Math.min(inset, 2);
}

/** @param {Tree[]} children @param {string | null} task @param {boolean} loose @returns {Tree} */
function listItem(children, task, loose) {
  const tight = loose
    ? children
    : children.flatMap((tree) => (typeof tree !== "string" && tree.tag === "p" ? (tree.children ?? []) : [tree]));
  if (task === null) return { tag: "li", attrs: { dir: "auto" }, children: tight };
  const done = task !== " ";
  const box = {
    tag: "span",
    attrs: { class: "box", role: "img", "aria-label": done ? "done" : "to do" },
    children: [done ? "✓" : ""],
  };
  return { tag: "li", attrs: { dir: "auto", class: "task" }, children: [box, ...tight] };
}

/** @param {string[]} lines @param {number} at @param {Reading} reading */
function isTable(lines, at, reading) {
  if (!lines[at].includes("|")) return false;
  const divider = lines[at + 1];
  if (divider !== undefined && DIVIDER.test(divider)) {
    const sides = cells(divider);
    const columns = sides.length <= MOST_COLUMNS && sides.every((side) => /^:?-+:?$/.test(side)) && sides.length;
    if (columns && columns === cells(lines[at]).length) return true;
  }
  // A first row whose divider is still to come is drawn as a table at once, so that it does not jump.
  const waits = divider === undefined || (at + 2 === lines.length && /^[ |:-]*$/.test(divider));
  return Boolean(reading.growing) && waits && lines[at].length < 2000 && lines[at].trimStart().startsWith("|");
}

/** @param {string} line */
function cells(line) {
  const found = [""];
  let quoted = false;
  const row = line
    .trim()
    .replace(/^\|/, "")
    .replace(/(^|[^\\])\|$/, "$1");
  for (let i = 0; i < row.length; i++) {
    if (row[i] === "`") quoted = !quoted;
    if (row[i] === "\\" && row[i + 1] === "|") found[found.length - 1] += row[++i];
    else if (row[i] === "|" && !quoted) found.push("");
    else found[found.length - 1] += row[i];
  }
  return found.map((cell) => cell.trim());
}

/** @param {string[]} lines @param {number} at @param {Reading} reading @returns {[Tree, number]} */
function table(lines, at, reading) {
  const head = cells(lines[at]);
  const sides = cells(lines[at + 1] ?? "").map((cell) =>
    /^:-+:$/.test(cell) ? "center" : /^-+:$/.test(cell) ? "end" : "",
  );
  let next = at + 2;
  while (next < lines.length && lines[next].trim() && lines[next].includes("|")) next += 1;
  const rows = lines.slice(at + 2, next).map(cells);
  /** @param {string} tag @param {string[]} row @param {Reading} own @returns {Tree} */
  const draw = (tag, row, own) => ({
    tag: "tr",
    children: row.slice(0, head.length).map((cell, i) => {
      const attrs = /** @type {Record<string, string>} */ ({ dir: "auto" });
      if (sides[i]) attrs.class = sides[i];
      return { tag, attrs, children: inline(cell, own) };
    }),
  });
  const last = upTo(lines, next, reading);
  const still = { ...reading, growing: false };
  const body = rows.map((row, i) => draw("td", row, i === rows.length - 1 ? last : still));
  const parts = [{ tag: "thead", children: [draw("th", head, rows.length ? still : last)] }];
  if (body.length) parts.push({ tag: "tbody", children: body });
  const attrs = { class: "table", tabindex: "0", role: "region", "aria-label": "table" };
  return [{ tag: "div", attrs, children: [{ tag: "table", children: parts }] }, next];
}

/** @param {string[]} lines @param {number} at @param {Reading} reading @param {number} depth @returns {[Tree, number]} */
function paragraph(lines, at, reading, depth) {
  let next = at + 1;
  while (next < lines.length && lines[next].trim() && !opens(lines, next) && !isTable(lines, next, reading)) next += 1;
  const own = upTo(lines, next, reading);
  let text = lines
    .slice(at, next)
    .map((line) => line.trimStart())
    .join("\n");
  // The beginning of a fence, heading, rule or item is no text yet.
  if (own.growing) text = text.replace(/(^|\n)(?:#{1,6}|[-*+_]{1,2}|`{1,2}|~{1,2}|\d{1,2}[.)])$/, "");
  if (depth > 0) text = text.trimEnd();
  return [{ tag: "p", attrs: { dir: "auto" }, children: inline(text, own) }, next];
}

/** Whether a line interrupts a paragraph. @param {string[]} lines @param {number} at */
function opens(lines, at) {
  const line = lines[at];
  if (FENCE.test(line) || RULE.test(line) || QUOTE.test(line)) return true;
  if (/^ {0,3}#{1,6}[ \t]/.test(line)) return true;
  const item = ITEM.exec(line);
  return (
    item !== null &&
    item[3] !== undefined &&
    (!/\d/.test(item[2]) || /^1[.)]$/.test(item[2]) || ITEM.test(lines[at - 1] ?? ""))
  );
}
