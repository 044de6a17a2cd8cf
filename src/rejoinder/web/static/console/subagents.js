/** The sub-agents of conversations: what each works on, its result, and its log. */

import { clean } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";
import { since } from "./card.js";

const STATES = /** @type {Record<string, string>} */ ({
  running: "at work",
  ended: "finished",
  failed: "failed",
  killed: "stopped",
});

/** @param {any} answer */
export const drawSubagents = ({ subagents }) =>
  subagents.length
    ? [h("ul", { class: "rows" }, ...subagents.map(drawSubagent))]
    : [h("p", { class: "nothing" }, "No sub-agent has been started.")];

/** @param {any} each */
function drawSubagent(each) {
  const failed = each.state === "failed";
  return h(
    "li",
    { class: failed ? "bad" : "" },
    icon(failed ? "alert" : "clock"),
    h("strong", {}, clean(each.name)),
    h("span", { class: "quiet-text" }, `${STATES[each.state]} · `, each.ended ? "" : "started ", since(each.ended ?? each.started)),
    h("p", { class: "reason" }, clean(each.task)),
    each.log.length
      ? h("details", {}, h("summary", {}, `Log of ${clean(each.name)}`), h("pre", {}, clean(each.log.join("\n"))))
      : "",
  );
}
