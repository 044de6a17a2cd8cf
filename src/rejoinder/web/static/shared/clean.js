/** What text may not do on the page: move the words around it, or smuggle bytes nobody sees. */

// Controls but for tab and newline; embeddings, overrides and isolates of direction; what hides or tags text.
const UNSEEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069\u2028\u2029\ufeff\ufff9-\ufffb]/g;

/** @param {string} text */
export const clean = (text) => text.replace(/\r\n?/g, "\n").replace(UNSEEN, "");

/** One line for a quote, a side bar or a title: no marks of Markdown, no line breaks. @param {string} text */
export function oneLine(text, limit = 140) {
  const line = clean(text)
    .replace(/^\s*(```|~~~).*$/gm, " ")
    .replace(/(```|~~~)[\w+#.-]*\s/g, " ") // what somebody else has already made one line of
    .replace(/^\s*(#{1,6}|>+|[-*+]|\d+[.)])\s+/gm, "")
    .replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replace(/(\*\*|__|~~|`)/g, "")
    .replace(/(^|[\s(])([*_])(\S[^*_]*?)\2(?=[\s.,:;!?)]|$)/g, "$1$3")
    .replace(/\s+/g, " ")
    .trim();
  return line.length > limit ? `${line.slice(0, limit - 1).trimEnd()}…` : line;
}
