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

// The rows of W⁻¹, of the similarities of landmarks.
export function inverseOf(chosen) {
  const m = chosen.length, W = chosen.flatMap((k) => chosen.map((l) => data.KERNEL[k * data.N + l]));
  const root = cholesky(Float64Array.from(W), m);
  return chosen.map((_, k) => [...solveCholesky(root, m, Float64Array.from(chosen, (_one, l) => Number(l === k)))]);
}

// The same cell with three landmarks z: a sum over every two of them, and the share of the first with itself. Its
// weight is the first number of W⁻¹.
export function sumOf(chosen) {
  const rows = inverseOf(chosen).map((row) => row.map((value) => number(value))), [[weight]] = rows;
  const { i, j, ab } = product(chosen[0]), inverse = rows.map((row) => (
    row.map((told) => (told.startsWith("−") ? told : `\u2007${told}`)).join("\u2002"))).join("\n"); // in columns
  const { values } = data.approximation(data.landmarkMap(chosen)), sum = number(values[(i - 1) * data.N + j - 1]);
  const others = Number(sum.replace("−", "-")) - Number((weight * ab).toFixed(2)); // of the numbers that are shown
  return { weight, sum, inverse, others: `${others < -0.004 ? "−" : "+"} ${number(Math.abs(others))}` };
}
