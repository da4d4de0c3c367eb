// One ranked list and its NDCG@10, for the lesson "ndcg". It uses no DOM.

import { ndcg, pairAccuracy } from "../../core/metrics.js";

export const LIST = [2, 1, 0, 0, 1, 0, 0, 2, 1, 0]; // grades, from rank 1
export const K = 10;
export const SWAPS = [[0, 2], [7, 9]]; // places of the two documents, from 0
export const KINDS = ["letor", "textbook", "he2009"]; // the definitions that differ for this list

// Scores that put the documents in the order in which they are given.
const scores = (grades) => grades.map((_, at) => -at);

export const measured = (grades, kind = "letor") => ndcg(scores(grades), grades, kind, K);
export const quality = (grades, kind) => measured(grades, kind).value;
export const swapped = (grades, [a, b]) => grades.map((_, at) => grades[at === a ? b : at === b ? a : at]);

export function wrongPairs(grades) {
  const { right, pairs } = pairAccuracy(scores(grades), grades);
  return pairs - right;
}

// NDCG@10 of the list and after each swap.
export const TRUTH = [LIST, ...SWAPS.map((swap) => swapped(LIST, swap))].map((grades) => quality(grades));

export const gapOf = (guess) => guess.reduce((sum, one, k) => sum + Math.abs(one - TRUTH[k]), 0) / guess.length;

// Lowest and highest NDCG@10 if documents of equal score may come in any order: tied[k] ties places k and k + 1.
export function bounds(grades, tied, kind) {
  const by = (compare) => {
    const groups = [];
    grades.forEach((grade, at) => (at > 0 && tied[at - 1] ? groups.at(-1).push(grade) : groups.push([grade])));
    return quality(groups.flatMap((group) => group.sort(compare)), kind);
  };
  return [by((a, b) => a - b), by((a, b) => b - a)];
}

// Move the item at one place to another.
export function moved(list, from, to) {
  const rest = list.filter((_, at) => at !== from);
  return [...rest.slice(0, to), list[from], ...rest.slice(to)];
}
