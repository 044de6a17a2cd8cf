/** What a message says in one line, where there is no place for more: its words, or the names of its files. */

import { clean, oneLine } from "../shared/clean.js";
import { MENTION } from "../shared/markdown_inline.js";

const MENTIONS = new RegExp(`(?<![\\p{L}\\p{N}])${MENTION.source}`, "gu");

/** @param {{text?: string | null, files?: import("./state.js").File[]}} message
 * @param {Map<string, string>} mentions names by lower-case id: who is mentioned is called here as in the message */
export function wordsOf({ text, files }, mentions, limit = 140) {
  const named = (text ?? "").replace(MENTIONS, (at, id) => {
    const name = mentions.get(id.toLowerCase());
    return name ? `@${name}` : at;
  });
  return oneLine(named, limit) || (files ?? []).map((file) => `📎 ${clean(file.name)}`).join(" ");
}
