// Descriptions of marks, for hovering, choosing and screen readers.

import { SHAPES } from "./shapes.js";

const minus = (text) => text.replaceAll("-", "−");
const short = (v) => minus(String(Number(v.toPrecision(3))));
const signed = (v) => (v > 0 ? "+" : "") + short(v);

// Describe a mark; without `tally` if there is no model.
export function titleOf({ kind, one, alpha, score, tally }) {
  if (kind === "landmark") return `Landmark ${one.number + 1}, coefficient ${signed(alpha)}`;
  const what = `Query ${SHAPES[one.query].sign} ${one.query + 1}, grade ${one.grade}`;
  return tally ? `${what}, score ${short(score)}, ${inPairs(tally)}` : what;
}

const inPairs = ({ pairs, wrong }) => (pairs ? `${wrong} of ${pairs} pair${pairs === 1 ? "" : "s"} misordered`
  : "in no pair");

// Describe a mark and its place.
export function labelOf({ kind, one, alpha, score }) {
  const place = minus(`at ${one.x.toFixed(2)}, ${one.y.toFixed(2)}`), precise = (v) => minus(v.toPrecision(3));
  if (kind === "landmark") return `Landmark ${one.number + 1}, ${place}, coefficient ${precise(alpha)}`;
  return `Document of query ${one.query + 1}, grade ${one.grade}, ${place}, score ${precise(score)}`;
}

export const titleOfWave = (number, weight) => `Frequency ${number + 1}, weight ${signed(weight)}`;
