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

// The rows of W, the similarities of landmarks.
export const similarities = (chosen) => chosen.map((k) => chosen.map((l) => data.KERNEL[k * data.N + l]));

// The rows of W⁻¹.
export function inverseOf(chosen) {
  const m = chosen.length, root = cholesky(Float64Array.from(similarities(chosen).flat()), m);
  return chosen.map((_, k) => [...solveCholesky(root, m, Float64Array.from(chosen, (_one, l) => Number(l === k)))]);
}

// The two most similar landmarks, from 1.
export function nearest(W) {
  const [k, l] = [[0, 1], [0, 2], [1, 2]].reduce((a, b) => (W[b[0]][b[1]] > W[a[0]][a[1]] ? b : a));
  return { one: k + 1, other: l + 1 };
}

const asNumber = (told) => Number(told.replace("−", "-"));
const added = (factors) => factors.map(([a, b], k) => (
  `${k ? (a.startsWith("−") ? " − " : " + ") : ""}${k ? a.replace("−", "") : a} × ${b}`)).join("");
const dot = (a, b) => a.reduce((sum, value, k) => sum + value * b[k], 0);
const sumOf = (factors) => factors.reduce((sum, [a, b]) => sum + asNumber(a) * asNumber(b), 0);

// One cell of K̃ as a mix: document x is a sum of shares of the landmarks, and its similarity to z the same sum of
// their similarities to z. The shares are W⁻¹ times the similarities of x to the landmarks: each is such a similarity
// minus what the other shares bring to it. Documents from 0.
function mixOf(chosen, W, inverse, x, z) {
  const [ofX, ofZ] = [x, z].map((i) => chosen.map((landmark) => data.KERNEL[i * data.N + landmark]));
  const shares = inverse.map((row) => dot(row, ofX)), K = data.KERNEL[x * data.N + z];
  const [cell, without] = [shares, ofX].map((mix) => dot(mix, ofZ)); // with W⁻¹, and without it
  const told = shares.map((share) => number(share)), factors = told.map((share, k) => [share, number(ofZ[k])]);
  const changes = shares.map((share, k) => Math.abs(share - ofX[k])), row = changes.indexOf(Math.max(...changes));
  const others = [0, 1, 2].filter((k) => k !== row);
  const own = [[number(ofX[row]), "1"], ...others.map((k) => [number(-asNumber(told[k])), number(W[row][k])])];
  const plain = ofX.map((similar, k) => [number(similar), number(ofZ[k])]);
  const adds = (list, sum) => number(sumOf(list)) === sum;
  const exact = adds(own, told[row]); // large shares lack digits
  const right = adds(factors, number(cell)) + adds(plain, number(without)) + exact; // as shown
  const second = shares.map((share, k) => Math.abs(share * ofZ[k])).sort((a, b) => b - a)[1];
  const near = Math.abs(cell - K), shows = Math.abs(without - K) - near + Math.min(second, 0.1);
  const worked = exact ? `${added(own).replace(" × 1", "")} = ${told[row]}` : told[row];
  const twice = number(cell) === number(ofX[row]); // two things with one number
  const score = shows - (near < 0.05 ? 0 : 10) - (twice ? 5 : 0) + 100 * right;
  const named = others.map((k) => k + 1).join(" and ");
  return { x, z, K, told, factors, plain, row: row + 1, others: named, worked, cell, without, score };
}

// The cell of the example: its shown numbers add up, K̃ is near K, and without W⁻¹ it would be farthest from it.
export function example(chosen) {
  const others = Array.from({ length: data.N }, (_, i) => i).filter((i) => !chosen.includes(i));
  const W = similarities(chosen), inverse = inverseOf(chosen), all = others.flatMap((x) => (
    others.filter((z) => z !== x).map((z) => mixOf(chosen, W, inverse, x, z))));
  const best = all.reduce((a, b) => (b.score > a.score ? b : a));
  const tables = W.map((row) => row.map((value) => number(value)).join("\u2002")).join("\n");
  const [s1, s2, s3] = best.told, told = { sum: best.cell, inK: best.K, without: best.without };
  const sums = { mixed: added(best.factors), plain: added(best.plain) };
  const { x, z, row, worked } = best;
  return { x, z, row, worked, others: best.others, s1, s2, s3, ...sums, tables,
    ...Object.fromEntries(Object.entries(told).map(([name, value]) => [name, number(value)])), ...nearest(W) };
}
