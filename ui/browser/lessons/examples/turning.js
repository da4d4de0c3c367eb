// Pairs and the angles at which they turn, for the lesson "pairs". It uses no DOM.

import { pairs } from "../../core/ranking.js";

// Documents [x, y] of query 0, then of query 1, and their grades.
export const PLACES = [
  [0.77, -0.13], [-0.05, 0.65], [-0.65, 0.51], [-0.68, -0.36], [0.29, -0.78], [-0.81, 0.02], [0.72, -0.47],
  [-0.29, -0.65],
];
export const GRADES = [2, 1, 0, 0, 2, 1, 1, 0];
export const PTR = [0, 4, 8];
export const ACROSS = [[4, 2], [6, 2], [0, 5]]; // lines between queries, which are no pairs
export const FROM = 30, TURN = 30; // degrees

// All lines, the better document first; `counts` is false between queries.
export function linesOf(grades, ptr, across) {
  const { winner, loser } = pairs(grades, ptr);
  return [
    ...Array.from(winner, (i, k) => ({ i, j: loser[k], counts: true })),
    ...across.map(([i, j]) => ({ i, j, counts: false })),
  ];
}

const radians = (degrees) => (degrees * Math.PI) / 180;
export const direction = (degrees) => [Math.cos(radians(degrees)), Math.sin(radians(degrees))];
export const score = ([x, y], [u, v]) => x * u + y * v;
export const margin = ({ i, j }, places, w) => score(places[i], w) - score(places[j], w);

// Lines that are misordered pairs at this angle.
export const wrongAt = (lines, places, degrees) => lines.map((line) => (
  line.counts && margin(line, places, direction(degrees)) <= 0));

// The two angles from 0 to 360 where a pair turns: there the projections of its documents cross.
export function turning({ i, j }, places) {
  const along = (Math.atan2(places[i][1] - places[j][1], places[i][0] - places[j][0]) * 180) / Math.PI;
  return [along + 90, along + 270].map((one) => ((one % 360) + 360) % 360).sort((a, b) => a - b);
}

// Lines that the reader and the truth judge differently, by kind.
export function gapOf(marked, wrong, lines) {
  const count = (test) => lines.filter((line, k) => test(marked[k], wrong[k], line.counts)).length;
  return {
    gap: count((mine, truth) => mine !== truth),
    hits: count((mine, truth) => mine && truth),
    missed: count((mine, truth) => !mine && truth),
    over: count((mine, truth) => mine && !truth),
    across: count((mine, _, counts) => mine && !counts),
  };
}

// Return a place for the name of the margin of a pair, beyond that end of it that is farther from the pair's line;
// `off` leads from there to the arrow w.
export function besideMargin(one, other, w, off) {
  const [high, low] = [Math.max, Math.min].map((end) => end(score(one, w), score(other, w))), [x, y] = one;
  const far = ([u, v]) => Math.abs((other[0] - x) * (v - y) - (other[1] - y) * (u - x));
  const [a, b] = [high + 0.1, low - 0.1].map((along) => w.map((part, axis) => along * part - off[axis]));
  return far(a) > far(b) ? a : b;
}

export const queryOf = (k) => (k < PTR[1] ? 0 : 1);

// Address of the Playground with these documents: number, hundredths, grade, query (ui/learn/playground_scene.py).
export function playground(places) {
  const docs = places.map(([x, y], k) => [k, Math.round(100 * x), Math.round(100 * y), GRADES[k], queryOf(k)]);
  return `playground?peach=1&docs=${docs.map((one) => one.join(".")).join("_")}`;
}
