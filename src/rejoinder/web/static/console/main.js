/** The operator's page: figures and charts on top, then the flow, then the cards. */

import { clean } from "../shared/clean.js";
import { byId, fill, h } from "../shared/dom.js";
import { Line } from "../shared/line.js";
import { themeButton } from "../shared/theme_button.js";
import { duration } from "../shared/times.js";
import { get } from "../shared/api.js";
import { Chart } from "./chart.js";
import { Flow } from "./flow.js";
import { ConsoleState } from "./state.js";
import { cards } from "./tables.js";

const REFRESH = 3_000;
const SMOOTH = 10; // seconds in one point of the throughput: single messages are no curve

const state = new ConsoleState();
const flow = new Flow(state);
const tables = cards();
const count = (/** @type {number} */ value) => String(Math.round(value * 10) / 10);
const latency = new Chart(
  "Latency",
  [
    { name: "first word", field: "first_word_ms" },
    { name: "answer", field: "answered_ms" },
    { name: "slowest 5 %", field: "answered_p95_ms" },
  ],
  duration,
  100,
);
const throughput = new Chart(
  "Messages a minute",
  [
    { name: "in", field: "received" },
    { name: "out", field: "sent" },
  ],
  count,
  4,
);
const load = new Chart(
  "Load",
  [
    { name: "agents at work", field: "running" },
    { name: "waiting", field: "waiting" },
    { name: "outbox", field: "outbox" },
  ],
  count,
  4,
);
const figures = h("dl", { class: "figures", "aria-label": "Now" });
const warning = h("p", { class: "warning", role: "alert", hidden: true });
const live = h("span", { class: "live", role: "status" }, "connecting…");

/** @type {[string, string, (value: any) => string, ((value: any) => string)?][]} name, field, words, class */
const FIGURES = [
  ["first word", "first_word_ms", (ms) => (ms === null ? "–" : duration(ms))],
  ["at work", "running", String],
  ["waiting", "waiting", String, (value) => (value > 10 ? "warn" : "")],
  ["on its way", "outbox", String],
  ["unconfirmed", "unconfirmed", String, (value) => (value ? "warn" : "")],
  ["not delivered", "dead", String, (value) => (value ? "bad" : "")],
  ["browsers", "sockets", String],
];

function drawFigures() {
  const now = state.points.at(-1);
  if (!now) return;
  fill(
    figures,
    ...FIGURES.map(([name, field, words, kind]) =>
      h("div", { class: kind?.(now[field]) || null }, h("dt", {}, name), h("dd", {}, words(now[field]))),
    ),
  );
  latency.draw(state.points);
  load.draw(state.points);
  throughput.draw(perMinute(state.points));
}

/** Rates over the last seconds of each point. @param {any[]} points */
function perMinute(points) {
  return points.map((point, i) => {
    const lately = points.slice(Math.max(0, i - SMOOTH + 1), i + 1);
    const rate = (/** @type {string} */ field) => (lately.reduce((sum, each) => sum + each[field], 0) / SMOOTH) * 60;
    return { at: point.at, received: rate("received"), sent: rate("sent") };
  });
}

function frame(/** @type {any} */ data) {
  const changed = state.apply(data);
  if (changed === "gauges") drawFigures();
  else if (changed !== null) soon();
}

let drawing = 0;
function soon() {
  drawing ||= requestAnimationFrame(() => {
    drawing = 0;
    flow.draw();
  });
}

const line = new Line(
  "/console/socket",
  {
    onFrame: frame,
    onOpen: () => {
      line.settled();
      live.textContent = "live";
      live.classList.add("on");
      state.journeys.clear();
      refresh();
    },
    onDown: () => {
      live.textContent = "reconnecting…";
      live.classList.remove("on");
    },
  },
  { pings: false },
);

/** @param {...{element: any}} parts */
const column = (...parts) => h("div", { class: "column" }, ...parts.map((part) => part.element));

async function refresh() {
  if (!document.hidden) await Promise.all([showNotInEffect(), ...Object.values(tables).map((card) => card.refresh())]);
}

/** Says which part of the configuration is not in effect, as long as there is one. */
async function showNotInEffect() {
  const { configuration } = await get("gateway").catch(() => ({ configuration: warning.textContent }));
  if (warning.textContent !== configuration) warning.textContent = clean(configuration);
  warning.hidden = !configuration;
}

function explainHash() {
  const message = decodeURIComponent(location.hash.slice(1));
  if (message) flow.explain(message);
}

fill(
  byId("console"),
  h(
    "header",
    { class: "top" },
    h(
      "a",
      { class: "brand", href: "/", "aria-label": "rejoinder, back to the chat" },
      h("span", { class: "logo", "aria-hidden": "true" }),
      h("strong", {}, "rejoinder"),
    ),
    h("h1", {}, "Console"),
    live,
    themeButton(),
  ),
  h(
    "main",
    {},
    warning,
    figures,
    h("div", { class: "charts" }, latency.element, throughput.element, load.element),
    h(
      "div",
      { class: "cards" },
      column(flow, tables.sessions),
      column(tables.channels, tables.pairing, tables.people, tables.outbox, tables.quarantine, tables.lanes, tables.subagents, tables.jobs, tables.hooks, tables.processes),
    ),
  ),
);
line.connect();
get("series").then(
  ({ points }) => {
    state.addSeries(points);
    drawFigures();
  },
  () => undefined,
);
setInterval(refresh, REFRESH);
addEventListener("hashchange", explainHash);
explainHash();
