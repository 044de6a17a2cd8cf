/** A message on one line, where there is no room for more: its words, or the names of its files. */

import { clean, oneLine } from "../shared/clean.js";
import { MENTION } from "../shared/markdown_inline.js";

const MENTIONS = new RegExp(`(?<![\\p{L}\\p{N}])${MENTION.source}`, "gu");

const VOICE = /^voice(-message)?\.\w+$/; // what the page itself records, and what an answer is spoken into

/** @param {import("./state.js").File} file */
export const isVoice = ({ name, mime }) => mime.startsWith("audio/") && VOICE.test(name);

/** @param {{text?: string | null, files?: import("./state.js").File[], transcript?: string}} message
 * @param {Map<string, string>} mentions names by lower-case id: who is mentioned is called here as in the message */
export function wordsOf({ text, files, transcript }, mentions, limit = 140) {
  const named = (text ?? "").replace(MENTIONS, (at, id) => {
    const name = mentions.get(id.toLowerCase());
    return name ? `@${name}` : at;
  });
  const called = (/** @type {import("./state.js").File} */ file) =>
    isVoice(file) ? `🎤 ${oneLine(transcript ?? "", limit) || "Voice message"}` : `📎 ${clean(file.name)}`;
  return oneLine(named, limit) || (files ?? []).map(called).join(" ");
}
