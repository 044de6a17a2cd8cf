/** What text may not do on the page: move the words around it, or smuggle bytes nobody sees. */

// Controls but for tab and newline; embeddings, overrides and isolates of direction; what hides or tags text.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufff9-\ufffb]/g;

/** @param {string} text */
export const clean = (text) => text.replace(/\r\n?/g, "\n").replace(UNSEEN, "");

/**
 * One line for a quote, a side bar or a title: no marks of Markdown, no line breaks. Only the beginning is looked at, and
 * no pattern can look at a character twice for long.
 * @param {string} text
 */
export function oneLine(text, limit = 140) {
  const beginning = text.trimStart().slice(0, 4 * limit + 200);
  const line = clean(beginning)
    .replace(/^[ \t]*(```|~~~).*$/gm, " ")
    .replace(/(```|~~~)[\w+#.-]*\s/g, " ") // what somebody else has already made one line of
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
