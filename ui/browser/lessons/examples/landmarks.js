// What lesson 7 compares the reader's landmarks with.

import { cholesky, solveCholesky } from "../../core/numbers.js";
import { number } from "../kit/words.js";
import * as data from "./approximation.js";
import { once } from "./documents.js";

export const M = 3; // landmarks of the prediction
export const SIZES = [1, 2, 3, 4, 6, 8, 12, 20, 30]; // those that the Playground offers
export const ALL = [...SIZES, data.N]; // with all documents K̃ is K

// What the reveal compares the reader's choice with: all choices of three, and means of those that seeds draw.
export const triples = once(() => {
  const drawn = (kind) => (seed, m) => data.landmarkMap(data.drawLandmarks(kind, seed, m));
  const [random, kmeans] = ["random", "kmeans"].map((kind) => data.errors([M], drawn(kind))[0].mean);
  const { errors, chosen } = data.allTriples();
  return { errors, best: errors[0], chosen, random, kmeans };
});

// Error and NDCG against m, by k-means++.
export const curves = once(() => (
  { error: data.errors(ALL, data.kmeansMap), ndcg: data.qualities(ALL, data.kmeansMap) }));

// The number of choices with a smaller error.
export const better = (errors, error) => errors.findLastIndex((one) => one < error - 1e-12) + 1;

export function histogram(values, bins) {
  const found = new Array(bins).fill(0);
  for (const value of values) found[Math.min(Math.floor(value * bins), bins - 1)] += 1;
  return found;
}

// One cell with one landmark z: the similarities of two documents that are near it, multiplied; numbers from 1.
export function product(z) {
  const at = (i, j) => data.KERNEL[i * data.N + j];
  const near = Array.from({ length: data.N }, (_, i) => i).sort((i, j) => at(j, z) - at(i, z));
  const [i, j] = [near[3], near[6]], [a, b] = [at(i, z), at(z, j)].map((value) => number(value));
  return { i: i + 1, j: j + 1, z: z + 1, a, b, ab: number(a * b), inK: number(at(i, j)) };
}

// The rows of W, the similarities of landmarks.
export const similarities = (chosen) => chosen.map((k) => chosen.map((l) => data.KERNEL[k * data.N + l]));

// The rows of W⁻¹.
export function inverseOf(chosen) {
  const m = chosen.length, root = cholesky(Float64Array.from(similarities(chosen).flat()), m);
  return chosen.map((_, k) => [...solveCholesky(root, m, Float64Array.from(chosen, (_one, l) => Number(l === k)))]);
}

const WIDE = 5; // letters of a number of W⁻¹
const short = (value) => number(value, Math.max(0, 3 - Math.max(1, Math.abs(value).toFixed(0).length)));

// The two most similar landmarks, from 1, their similarity, and what it would be without W⁻¹, as their cell of W·W.
export function twice(W) {
  const [k, l] = [[0, 1], [0, 2], [1, 2]].reduce((a, b) => (W[b[0]][b[1]] > W[a[0]][a[1]] ? b : a));
  const counted = W.reduce((sum, row, at) => sum + W[k][at] * row[l], 0);
  return { one: k + 1, other: l + 1, similar: number(W[k][l]), counted: number(counted) };
}

// The same cell with three landmarks z: a sum over every two of them, and the share of the first with itself. Its
// weight is the first number of W⁻¹; W and W⁻¹ stand side by side, in columns.
export function sumOf(chosen) {
  const rows = inverseOf(chosen).map((row) => row.map(short)), [[weight]] = rows, { i, j, ab } = product(chosen[0]);
  const W = similarities(chosen), wide = (one) => one.padStart(WIDE, "\u2007");
  const lines = rows.map((row, k) => [W[k].map((value) => number(value)), row.map(wide)]);
  const tables = lines.map((line) => line.map((all) => all.join("\u2002")).join("\u2003")).join("\n");
  const { values } = data.approximation(data.landmarkMap(chosen)), sum = number(values[(i - 1) * data.N + j - 1]);
  const share = number(weight * ab), others = number(sum.replace("−", "-") - share); // of the numbers that are shown
  return { weight, sum, share, others, tables, ...twice(W) };
}
