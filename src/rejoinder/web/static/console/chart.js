/**
 * A small line chart in SVG: one axis, gridlines with figures, a line per series, and in words the moment that the
 * pointer or an arrow key points at. A sentence has the figures, too, for people who do not see the lines.
 */

import { fill, h } from "../shared/dom.js";
import { SVG } from "../shared/icons.js";
import { clockOf } from "../shared/times.js";

const WIDTH = 480;
const HEIGHT = 150;
const LEFT = 46;
const BOTTOM = 20;
const TOP = 8;
const MOST_POINTS = 120;

/** @typedef {{name: string, field: string}} Series */

export class Chart {
  #points = /** @type {any[]} */ ([]);
  #at = -1;

  /** @param {string} title @param {Series[]} series @param {(value: number) => string} words
   * @param {number} least the lowest top of the scale */
  constructor(title, series, words, least) {
    this.least = least;
    this.series = series;
    this.words = words;
    this.svg = make("svg", {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "plot",
      role: "img",
      tabindex: "0",
      preserveAspectRatio: "none",
    });
    this.svg.addEventListener("pointermove", (/** @type {PointerEvent} */ event) =>
      this.#point(event.offsetX / this.svg.clientWidth),
    );
    this.svg.addEventListener("pointerleave", () => this.#read(-1));
    this.svg.addEventListener("keydown", (/** @type {KeyboardEvent} */ event) => this.#key(event));
    this.svg.addEventListener("blur", () => this.#read(-1));
    this.labels = h("div", { class: "scale", "aria-hidden": "true" });
    this.legend = h("ul", { class: "legend" });
    this.reading = h("p", { class: "reading", "aria-live": "polite" });
    this.title = title;
    this.element = h(
      "figure",
      { class: "chart" },
      h("figcaption", {}, h("h3", {}, title), this.legend),
      h("div", { class: "plot-place" }, this.labels, this.svg),
      this.reading,
    );
  }

  /** @param {any[]} points a point a second, oldest first */
  draw(points) {
    points = this.#points = thinned(
      points,
      this.series.map(({ field }) => field),
    );
    const values = this.series
      .flatMap(({ field }) => points.map((point) => point[field]))
      .filter((value) => value !== null);
    const top = niceTop(Math.max(this.least, ...values));
    const x = (/** @type {number} */ i) => LEFT + (i / Math.max(1, points.length - 1)) * (WIDTH - LEFT - 4);
    const y = (/** @type {number} */ value) => TOP + (1 - value / top) * (HEIGHT - TOP - BOTTOM);
    this.x = x;
    const lines = [0, 0.5, 1].map((share) =>
      make("line", { x1: LEFT, x2: WIDTH - 4, y1: y(top * share), y2: y(top * share), class: share ? "grid" : "axis" }),
    );
    const paths = this.series.map(({ field }, i) =>
      make("path", { d: trace(points, field, x, y), class: `line s${i}` }),
    );
    this.cursor = make("line", { class: "cursor", y1: TOP, y2: HEIGHT - BOTTOM, x1: -9, x2: -9 });
    this.svg.replaceChildren(...lines, ...paths, this.cursor);
    const mark = (
      /** @type {string} */ text,
      /** @type {number} */ left,
      /** @type {number} */ topAt,
      /** @type {string} */ kind,
    ) => {
      const label = h("span", { class: kind }, text);
      label.style.setProperty("left", `${(left / WIDTH) * 100}%`);
      label.style.setProperty("top", `${(topAt / HEIGHT) * 100}%`);
      return label;
    };
    const ends = points.length
      ? [
          mark(clockOf(points[0].at), LEFT, HEIGHT - BOTTOM + 3, "time"),
          mark("now", WIDTH - 4, HEIGHT - BOTTOM + 3, "time end"),
        ]
      : [];
    fill(
      this.labels,
      ...[0, 0.5, 1].map((share) => mark(this.words(top * share), LEFT - 6, y(top * share), "value")),
      ...ends,
    );
    this.#read(this.#at < points.length ? this.#at : -1);
  }

  /** @param {number} share */
  #point(share) {
    const i = Math.round(((share * WIDTH - LEFT) / (WIDTH - LEFT - 4)) * (this.#points.length - 1));
    this.#read(Math.max(0, Math.min(this.#points.length - 1, i)));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const step = { ArrowLeft: -5, ArrowRight: 5, Home: -Infinity, End: Infinity }[event.key];
    if (step === undefined) return;
    event.preventDefault();
    const from = this.#at < 0 ? this.#points.length - 1 : this.#at;
    this.#read(Math.max(0, Math.min(this.#points.length - 1, from + step)));
  }

  /** Says the figures of one moment; the newest ones without a pointer. @param {number} at */
  #read(at) {
    this.#at = at;
    const point = this.#points[at < 0 ? this.#points.length - 1 : at];
    this.cursor?.setAttribute("x1", String(at < 0 ? -9 : this.x?.(at)));
    this.cursor?.setAttribute("x2", String(at < 0 ? -9 : this.x?.(at)));
    const figures = this.series.map(({ name, field }) => [
      name,
      point && point[field] !== null ? this.words(point[field]) : "–",
    ]);
    fill(
      this.legend,
      ...figures.map(([name, value], i) =>
        h(
          "li",
          { class: `s${i}` },
          h("span", { class: "swatch", "aria-hidden": "true" }),
          `${name} `,
          h("strong", {}, value),
        ),
      ),
    );
    this.svg.setAttribute(
      "aria-label",
      `${this.title}. ${figures.map(([name, value]) => `${name}: ${value}`).join(", ")}. Arrow keys move through time.`,
    );
    this.reading.textContent = at < 0 || !point ? "" : clockOf(point.at);
  }
}

/**
 * As many points as the eye can distinguish, each the mean of its moments, counted from the newest: a smooth line.
 * @param {any[]} points @param {string[]} fields
 */
export function thinned(points, fields) {
  const width = Math.ceil(points.length / MOST_POINTS);
  const found = /** @type {any[]} */ ([]);
  for (let end = points.length; end > 0; end -= width) {
    const group = points.slice(Math.max(0, end - width), end);
    const point = /** @type {any} */ ({ at: group[group.length - 1].at });
    for (const field of fields) {
      const values = group.map((each) => each[field]).filter((value) => value !== null && value !== undefined);
      point[field] = values.length ? values.reduce((sum, value) => sum + value, 0) / values.length : null;
    }
    found.unshift(point);
  }
  return found;
}

/** @param {any[]} points @param {string} field @param {(i: number) => number} x @param {(value: number) => number} y */
function trace(points, field, x, y) {
  let drawing = false;
  return points
    .map((point, i) => {
      const value = point[field];
      if (value === null || value === undefined) {
        drawing = false;
        return "";
      }
      const step = `${drawing ? "L" : "M"}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
      drawing = true;
      return step;
    })
    .join("");
}

/** The next 1, 2, 4, 5 or 10 of any size: figures at the gridlines that can be said. @param {number} value */
export function niceTop(value) {
  const size = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 4, 5, 10].map((step) => step * size).find((step) => step >= value) ?? value;
}

/** @param {string} tag @param {Record<string, string | number>} attributes @returns {any} */
function make(tag, attributes) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  return element;
}
