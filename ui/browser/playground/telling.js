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

const english = new Intl.NumberFormat("en");
export const counted = (n) => english.format(n);
const rounded = new Intl.NumberFormat("en", { maximumSignificantDigits: 4 });

// Describe a step of training: its objective, and the pairs in order, among them those without a loss.
export function stepOf(step, last, objective, pairs) {
  const [all, right, beyond] = [pairs.all, pairs.right, pairs.beyond].map(counted);
  const found = `${right} of ${all} pairs in order, ${beyond} with margin ≥ 1`;
  if (last === undefined) return found;
  return `Newton step ${step} of ${last} · objective ${rounded.format(objective)} · ${found}`;
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// Give a number of all pairs.
export function ofPairs(words, right, n) {
  if (right === n) return n === 1 ? words.onlyPair : filled(words.allPairs, { n: counted(n) });
  const share = Math.min(Math.max(Math.round((100 * right) / n), right ? 1 : 0), 99);
  return filled(n === 1 ? words.ofPair : words.ofPairs, { right: counted(right), n: counted(n), share });
}

// Say how many pairs a model orders, and how many the exact kernel and the best direction; `words` has the phrases.
export function answerOf(words, { documents, pairs, m, right, exact, direction }) {
  if (!documents) return words.empty;
  if (!pairs) return documents === 1 ? words.oneDocument : words.oneGrade;
  const all = (n) => (n === pairs ? words.all : counted(n));
  const who = filled(m === 1 ? words.who[0] : words.who[1], { m }), found = ofPairs(words, right, pairs);
  const linear = right < direction ? words.noLinearAbove : words.noLinear;
  const most = direction === pairs ? words.linearAll : words.linearMost;
  const compared = typeof exact !== "number" ? "" : exact === right ? words.asExact
    : filled(words.exact, { exact: all(exact) });
  const limit = filled(words.isLinear ? linear : most, { direction: counted(direction) });
  return filled(words.answer, { who, found, compared, limit });
}

export const nameOfFrequency = ({ number, x, y }, weight) => (
  `Frequency ${number + 1}, at ${minus(x.toFixed(2))}, ${minus(y.toFixed(2))}, weight ${signed(weight)}`);

export const titleOfWave = (number, weight) => `Frequency ${number + 1}, weight ${signed(weight)}`;
