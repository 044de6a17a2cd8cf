/** What a message says in one line, where there is no place for more: its words, or the names of its files. */

import { clean, oneLine } from "../shared/clean.js";

/** @param {import("./state.js").Message} message */
export function wordsOf(message, limit = 140) {
  return oneLine(message.text, limit) || (message.files ?? []).map((file) => `📎 ${clean(file.name)}`).join(" ");
}
