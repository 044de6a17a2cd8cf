/** Makes text harmless for the page: it must not reorder the words around it, nor contain invisible characters. */

// Controls except tab and newline; embeddings, overrides and isolates of direction; characters that hide or tag text.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufff9-\ufffb]/g;

// Laying out the marks of one letter takes the square of their number; no script has so many.
const MARKS = /[\p{M}\p{Emoji_Modifier}\u00ad\u200b-\u200f\u2060-\u2064]+/gu;
const MOST_MARKS = 16;

/** @param {string} text */
export const clean = (text) =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(UNSEEN, "")
    .replace(MARKS, (marks) => (marks.length > MOST_MARKS ? first(marks) : marks));

/** What an error says, as a sentence of its own. @param {string} words */
export const sentence = (words) => `${words.slice(0, 1).toUpperCase()}${clean(words.slice(1))}.`;

/** @param {string} marks */
const first = (marks) => [...marks.slice(0, 2 * MOST_MARKS)].slice(0, MOST_MARKS).join("");

/**
 * One line for a quote, a side bar or a title: no marks of Markdown, no line breaks. Only the beginning is looked at, and
 * no pattern can look at a character twice for long.
 * @param {string} text
 */
export function oneLine(text, limit = 140) {
  const beginning = text.trimStart().slice(0, 4 * limit + 200);
  const line = clean(beginning)
    .replace(/^[ \t]*(```|~~~).*$/gm, " ")
    .replace(/(```|~~~)[\w+#.-]*\s/g, " ") // code that somebody else has already put on one line
    .replace(/^[ \t]*(#{1,6}|>+|[-*+]|\d+[.)])[ \t]+/gm, "")
    .replace(/!?\[([^\][]*)\]\([^()]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`)/g, "")
    .replace(/(^|[\s(])([*_])(\S[^*_]*?)\2(?=[\s.,:;!?)]|$)/g, "$1$3")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > limit || beginning.length < text.trim().length
    ? `${line.slice(0, limit - 1).trimEnd()}…`
    : line;
}
