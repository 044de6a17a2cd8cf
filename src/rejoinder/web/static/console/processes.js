/** The processes that serve this store together: what each holds, and how far behind it is. */

import { clean } from "../shared/clean.js";
import { h } from "../shared/dom.js";
import { icon } from "../shared/icons.js";

const LATE = 10;

/** @param {any} answer */
export function drawProcesses({ deployment }) {
  const rows = h("ul", { class: "rows" }, ...deployment.processes.map(drawProcess));
  if (!deployment.unowned) return [rows];
  const free = `${deployment.unowned} of ${deployment.shards} shards are held by no process.`;
  return [rows, h("p", { class: "reason" }, free)];
}

/** @param {any} each */
function drawProcess(each) {
  const bad = each.lag_seconds > LATE;
  const lease = each.lease_seconds == null ? null : `lease ${Math.round(each.lease_seconds)} s`;
  return h(
    "li",
    { class: bad ? "bad" : "good" },
    icon(bad ? "alert" : "check"),
    h("strong", {}, clean(each.name)),
    h("span", { class: "state" }, each.claims ? `${each.shards} ${each.shards === 1 ? "shard" : "shards"}` : "front"),
    lease ? h("span", { class: "state" }, lease) : null,
    each.waiting ? h("span", { class: "state" }, `${each.waiting} waiting, ${Math.round(each.lag_seconds)} s`) : null,
    each.duties.length ? h("span", { class: "quiet-text" }, clean(each.duties.join(", "))) : null,
  );
}
