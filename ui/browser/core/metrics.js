// Metrics of one ranked list, by definition (rankviz/metrics/definitions.py has the same names and rules). Documents
// with equal scores keep their order, whatever the definition's rule for them.

import { pairs } from "./ranking.js";

const GAINS = {
  "2^y - 1": (y) => 2 ** y - 1,
  "2^y - 1 up to 2": (y) => (y <= 2 ? 2 ** y - 1 : 0),
  "y": (y) => y,
};
const DISCOUNTS = {
  "1/log2(max(rank, 2))": (rank) => 1 / Math.log2(Math.max(rank, 2)),
  "1/log2(rank + 1)": (rank) => 1 / Math.log2(rank + 1),
};
// factor of @k for a list with fewer than k documents; it multiplies the value at the last one
const SHORT = { zero: () => 0, filled: (size, k) => size / k, capped: () => 1 };

const LETOR = {
  label: "LETOR 4.0", gain: "2^y - 1", discount: "1/log2(max(rank, 2))", relevantFrom: 1, relevantTo: Infinity,
  largestK: 10, shortNdcg: "zero", shortPrecision: "filled", leavesOutEmpty: false,
};
export const DEFINITIONS = {
  letor: LETOR,
  letor_script: { ...LETOR, label: "LETOR 4.0 script", gain: "2^y - 1 up to 2", relevantTo: 2 },
  letor3: { ...LETOR, label: "LETOR 3.0", largestK: 16, shortPrecision: "zero" },
  mslr: { ...LETOR, label: "MSLR", relevantFrom: 2 },
  textbook: {
    ...LETOR, label: "textbook", discount: "1/log2(rank + 1)", largestK: Infinity, shortNdcg: "capped",
    shortPrecision: "capped", leavesOutEmpty: true,
  },
  he2009: { ...LETOR, label: "He et al. 2009", gain: "y", relevantFrom: 2, largestK: 20, shortNdcg: "capped" },
};

// Return positions of documents by falling score; ties stay in their order.
export const ranking = (scores) => Array.from(scores, (_, i) => i).sort((i, j) => scores[j] - scores[i]);

const known = (definition) => (typeof definition === "string" ? DEFINITIONS[definition] : definition);

function checked(definition, k) {
  const found = known(definition);
  if (!(Number.isInteger(k) && k >= 1 && k <= found.largestK)) throw new RangeError(`@${k} is not defined`);
  return found;
}

const isRelevant = ({ relevantFrom, relevantTo }, grade) => grade >= relevantFrom && grade <= relevantTo;

// NaN for a list that the definition leaves out of means
const unlessEmpty = (definition, y, value) => (
  definition.leavesOutEmpty && !Array.from(y).some((grade) => isRelevant(definition, grade)) ? NaN : value);

// Return the terms gain·discount of the first k documents of an order.
function terms(order, y, definition, k) {
  return order.slice(0, k).map((document, at) => {
    const gain = GAINS[definition.gain](y[document]), discount = DISCOUNTS[definition.discount](at + 1);
    return { document, grade: y[document], rank: at + 1, gain, discount, product: gain * discount };
  });
}

const total = (list) => list.reduce((sum, term) => sum + term.product, 0);

// Return NDCG@k = DCG@k / ideal DCG@k of documents with scores and grades y: its value, both sums, and their
// terms one by one. `factor` is that of a list with fewer than k documents.
export function ndcg(scores, y, definition, k) {
  const own = checked(definition, k), gain = GAINS[own.gain];
  const found = terms(ranking(scores), y, own, k), best = Array.from(y, (_, i) => i);
  const ideal = terms(best.sort((i, j) => gain(y[j]) - gain(y[i])), y, own, k);
  const factor = y.length < k ? SHORT[own.shortNdcg](y.length, k) : 1, [dcg, idealDcg] = [total(found), total(ideal)];
  const value = unlessEmpty(own, y, idealDcg > 0 ? (factor * dcg) / idealDcg : 0);
  return { value, dcg, idealDcg, factor, terms: found, ideal };
}

// Return P@k, the share of relevant documents among the first k.
export function precision(scores, y, definition, k) {
  const own = checked(definition, k), top = ranking(scores).slice(0, k);
  const hits = top.filter((i) => isRelevant(own, y[i])).length;
  const factor = y.length < k ? SHORT[own.shortPrecision](y.length, k) : 1;
  return unlessEmpty(own, y, (factor * hits) / top.length);
}

// Return the average precision: the mean of the precision at each relevant document.
export function averagePrecision(scores, y, definition) {
  const own = known(definition);
  let hits = 0, sum = 0;
  ranking(scores).forEach((document, at) => {
    if (isRelevant(own, y[document])) sum += ++hits / (at + 1);
  });
  return unlessEmpty(own, y, hits ? sum / hits : 0);
}

// Return the number of pairs whose preferred document has the higher score, of all pairs, and their share.
export function pairAccuracy(scores, y, ptr = [0, y.length]) {
  const { winner, loser, length } = pairs(y, ptr);
  const right = winner.reduce((count, i, k) => count + (scores[i] > scores[loser[k]]), 0);
  return { right, pairs: length, share: length ? right / length : NaN };
}
