// Metrics of one ranked list, by definition (rankviz/metrics/definitions.py has the same names and rules). With
// ties "order", documents with equal scores keep their order; with "mean" they count at the mean over their orders.

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
const SHORT = { zero: 0, capped: 1 };

const LETOR = {
  label: "LETOR 4.0", gain: "2^y - 1", discount: "1/log2(max(rank, 2))", relevantFrom: 1, relevantTo: Infinity,
  largestK: 10, shortNdcg: "zero", leavesOutEmpty: false, ties: "order",
};
export const DEFINITIONS = {
  letor: LETOR,
  letor_script: { ...LETOR, label: "LETOR 4.0 script", gain: "2^y - 1 up to 2", relevantTo: 2 },
  letor3: { ...LETOR, label: "LETOR 3.0", largestK: 16 },
  mslr: { ...LETOR, label: "MSLR", relevantFrom: 2 },
  textbook: {
    ...LETOR, label: "textbook", discount: "1/log2(rank + 1)", largestK: Infinity, shortNdcg: "capped",
    leavesOutEmpty: true, ties: "mean",
  },
  he2009: { ...LETOR, label: "He et al. 2009", gain: "y", relevantFrom: 2, largestK: 20, shortNdcg: "capped" },
  compared: { ...LETOR, ties: "mean" }, // that of runs: COMPARED in rankviz
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

// Return the groups of equal scores in an order: [first place, number of documents].
function groups(order, scores, { ties }) {
  const found = [];
  order.forEach((document, at) => {
    const same = ties === "mean" && at > 0 && scores[document] === scores[order[at - 1]];
    if (same) found[found.length - 1][1]++;
    else found.push([at, 1]);
  });
  return found;
}

// Return values by place in an order; equal scores have the mean of their values.
function shared(values, order, scores, definition) {
  return groups(order, scores, definition).flatMap(([from, size]) => {
    const sum = order.slice(from, from + size).reduce((all, document) => all + values[document], 0);
    return Array(size).fill(sum / size);
  });
}

// Return the terms gain·discount of the first k documents of an order, with their gains by place.
function terms(order, gains, y, definition, k) {
  return order.slice(0, k).map((document, at) => {
    const gain = gains[at], discount = DISCOUNTS[definition.discount](at + 1);
    return { document, grade: y[document], rank: at + 1, gain, discount, product: gain * discount };
  });
}

const total = (list) => list.reduce((sum, term) => sum + term.product, 0);

// Return NDCG@k = DCG@k / ideal DCG@k of documents with scores and grades y: its value, both sums, and their
// terms one by one. `factor` is that of a list with fewer than k documents.
export function ndcg(scores, y, definition, k) {
  const own = checked(definition, k), gains = Array.from(y, GAINS[own.gain]);
  const order = ranking(scores), best = Array.from(y, (_, i) => i).sort((i, j) => gains[j] - gains[i]);
  const found = terms(order, shared(gains, order, scores, own), y, own, k);
  const ideal = terms(best, best.map((i) => gains[i]), y, own, k);
  const factor = y.length < k ? SHORT[own.shortNdcg] : 1, [dcg, idealDcg] = [total(found), total(ideal)];
  const value = unlessEmpty(own, y, idealDcg > 0 ? (factor * dcg) / idealDcg : 0);
  return { value, dcg, idealDcg, factor, terms: found, ideal };
}

// Return the number of pairs whose preferred document has the higher score, of all pairs, and their share.
export function pairAccuracy(scores, y, ptr = [0, y.length]) {
  const { winner, loser, length } = pairs(y, ptr);
  const right = winner.reduce((count, i, k) => count + (scores[i] > scores[loser[k]]), 0);
  return { right, pairs: length, share: length ? right / length : NaN };
}
