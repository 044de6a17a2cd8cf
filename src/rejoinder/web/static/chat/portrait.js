/**
 * A face for everybody who has none: drawn from the id, so that it is the same on every page and for ever. Agents are
 * robots, people are people. Two ids can share a face; the colour, which is theirs too, and the name beside it differ.
 *
 * @typedef {[string, Record<string, string | number>]} Shape
 */

import { SVG } from "../shared/icons.js";

/** @param {string} kind @param {number} cx @param {number} cy @param {number} r @returns {Shape} */
const dot = (kind, cx, cy, r) => ["circle", { class: kind, cx, cy, r }];
/** @param {string} kind @param {string} d @returns {Shape} */
const path = (kind, d) => ["path", { class: kind, d }];
/** @param {number} x @param {number} y @param {number} width @param {number} height @param {number} rx @returns {Shape} */
const box = (x, y, width, height, rx) => ["rect", { class: "skin", x, y, width, height, rx }];

/** One of each list makes a face. @type {Shape[][][]} */
const PERSON = [
  [[dot("skin", 18, 20, 12)], [["ellipse", { class: "skin", cx: 18, cy: 20, rx: 11, ry: 12.5 }]], [box(7, 9, 22, 23, 10)]],
  [
    [path("hair", "M6 19C5 9 11 5 18 5s13 4 12 14q-2-5.5-6-8-7 3-12 1-4 2-6 7z")],
    [path("hair", "M6.5 20C4.5 8 12 4.5 18 4.5S31.5 8 29.5 20q-1-6.5-4-9.5-7.5 1.5-15 0-3 3-4 9.5z")],
    [path("hair", "M9 12q-3-4.5 1.5-6.5Q12 2 16 3.5q3-2.5 6.5 0 4-.5 4.5 3.5 2.5 2 0 5-8.5-4-18 0z")],
    [path("hair", "M6.5 18Q7 5.5 18 5q5-.2 9 3.5 3.5 3.5 2.5 8.5-6-1-10-5.5Q15 17 6.5 18z")],
    [path("hair", "M18 3q2.5 2 1.5 5-1.5 1.5-3 0Q15.5 5 18 3z")],
  ],
  [
    [dot("ink", 13.5, 20, 1.6), dot("ink", 22.5, 20, 1.6)],
    [path("line", "M11.7 20.6q1.8-2.8 3.6 0M20.7 20.6q1.8-2.8 3.6 0")],
    [dot("ink", 13.5, 20.4, 1.5), dot("ink", 22.5, 20.4, 1.5), path("line", "M11.5 17q2-1.3 4-.2M20.5 16.8q2-1.1 4 .2")],
    [
      ["circle", { class: "line", cx: 13, cy: 20, r: 3.4 }],
      ["circle", { class: "line", cx: 23, cy: 20, r: 3.4 }],
      path("line", "M16.4 19.6q1.6-1 3.2 0"),
      dot("ink", 13, 20, 1.2),
      dot("ink", 23, 20, 1.2),
    ],
  ],
  [
    [path("line", "M13.5 25q4.5 4 9 0")],
    [path("ink", "M13.5 24.6h9q-.5 4.4-4.5 4.4t-4.5-4.4z")],
    [path("line", "M14.5 26q4 2 7.5-1")],
    [path("line", "M15.5 25.4q2.5 2.2 5 0"), dot("cheek", 10.5, 24, 1.8), dot("cheek", 25.5, 24, 1.8)],
  ],
];

/** @type {Shape[][][]} */
const ROBOT = [
  [[box(6.5, 11, 23, 20, 7)], [box(8, 10, 20, 22, 10)], [box(6, 12, 24, 18, 4)]],
  [
    [path("line", "M18 11V6.5"), dot("hair", 18, 5.5, 2)],
    [path("line", "M13 11l-2-4.5M23 11l2-4.5"), dot("hair", 10.8, 5.6, 1.7), dot("hair", 25.2, 5.6, 1.7)],
    [path("hair", "M13.5 11q0-5 4.5-5t4.5 5z")],
    [path("hair", "M3 18h3v7H3zM30 18h3v7h-3z"), path("line", "M18 11V7.5")],
  ],
  [
    [dot("ink", 13.5, 19.5, 2.1), dot("ink", 22.5, 19.5, 2.1)],
    [path("ink", "M11.2 17.5h4.3v4.3h-4.3zM20.5 17.5h4.3v4.3h-4.3z")],
    [["rect", { class: "ink", x: 10, y: 16.5, width: 16, height: 6, rx: 3 }], dot("skin", 14.5, 19.5, 1.5), dot("skin", 21.5, 19.5, 1.5)],
    [path("line", "M11.5 20.8q2-3.4 4 0M20.5 20.8q2-3.4 4 0")],
  ],
  [
    [path("line", "M14 26q4 2.4 8 0")],
    [path("line", "M13.5 25.5q4.5 3.5 9 0")],
    [path("line", "M14 25.3v2.2M18 25.3v2.2M22 25.3v2.2")],
    [path("ink", "M14 25.3h8q-.8 3.2-4 3.2t-4-3.2z")],
  ],
];

/** @param {string} id @param {boolean} agent @returns {SVGElement} */
export function portrait(id, agent) {
  let seed = 2166136261;
  for (const char of id) seed = Math.imul(seed ^ /** @type {number} */ (char.codePointAt(0)), 16777619) >>> 0;
  const svg = /** @type {SVGElement} */ (document.createElementNS(SVG, "svg"));
  svg.setAttribute("viewBox", "0 0 36 36");
  for (const choices of agent ? ROBOT : PERSON) {
    seed = Math.imul(seed ^ (seed >>> 15), 2246822519) >>> 0;
    for (const [tag, attributes] of choices[(seed >>> 8) % choices.length]) {
      const shape = document.createElementNS(SVG, tag);
      for (const [name, value] of Object.entries(attributes)) shape.setAttribute(name, String(value));
      svg.append(shape);
    }
  }
  return svg;
}
