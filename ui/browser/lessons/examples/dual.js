// One query with 24 documents whose features say little about their grades, and its dual variables α. Lesson 9.

import { dot, eigenSymmetric, gram, random, singularValues, transposedProduct } from "../../core/numbers.js";
import { LOSSES, alpha, fit } from "../../core/ranking.js";

const N = 24, DIM = 5, SEED = 1, SCALE = 0.3, NOISE = 3, CUTS = [0.5, 0.8];
export const FEW = 4; // singular values whose energy is told
export const TOLERANCE = 1e-6; // a singular value counts above this share of the largest

// Draw the documents, those with the highest grade first.
function draw() {
  const rng = random(SEED), normals = (scale) => Array.from({ length: DIM }, () => scale * rng.normal());
  const rows = Array.from({ length: N }, () => normals(SCALE)), direction = normals(1 / SCALE);
  const latent = rows.map((row) => dot(row, direction) + NOISE * rng.normal());
  const sorted = [...latent].sort((a, b) => a - b);
  const [one, two] = CUTS.map((share) => sorted[Math.round(share * N)]);
  const grades = latent.map((value) => (value >= two ? 2 : value >= one ? 1 : 0));
  const order = grades.map((_, i) => i).sort((i, j) => grades[j] - grades[i] || latent[j] - latent[i]);
  return { x: Float64Array.from(order.flatMap((i) => rows[i])), y: order.map((i) => grades[i]) };
}

export const { x: X, y: GRADES } = draw();

// Return the optimum's α at C = 2^exponent: a matrix, with the documents of its rows and columns, w and the scores.
export function trained(exponent, loss = "squaredHinge") {
  const problem = { features: X, m: DIM, y: GRADES, ptr: [0, N], C: 2 ** exponent, loss: LOSSES[loss] };
  const found = fit(problem, loss === "hinge" ? { tolerance: 1e-9 } : {}), { weights, scores } = found;
  const { winners, losers, values } = alpha(weights, { ...problem, loss: found.loss }, 0);
  return { values, winners, losers, weights, scores, rows: winners.length, columns: losers.length };
}

// Change each α by a random error of about this share.
export function inexact(values, share, seed = 1) {
  const rng = random(seed);
  return values.map((value) => value * (1 + share * rng.normal()));
}

// Return the singular values, descending, as shares of the largest; the rank; and the energy of the first k.
export function spectrum(values, rows, columns, k = FEW) {
  const found = singularValues(values, rows, columns), squares = found.map((value) => value * value);
  const sum = (list) => list.reduce((total, value) => total + value, 0);
  const shares = found.map((value) => value / found[0]), energy = sum(squares.subarray(0, k)) / sum(squares);
  return { shares, largest: found[0], rank: shares.filter((value) => value > TOLERANCE).length, energy };
}

// Return the tables of rank 1 that the nearest one, then the nearest to the rest, and so on, make: u uᵀA for each
// eigenvector u of A Aᵀ.
export function nearest(values, rows, columns) {
  const { vectors } = eigenSymmetric(gram(values, rows, columns), rows);
  return Array.from({ length: rows }, (_, k) => {
    const u = vectors.subarray(k * rows, (k + 1) * rows), own = transposedProduct(values, rows, columns, u);
    return values.map((_one, at) => u[Math.floor(at / columns)] * own[at % columns]);
  });
}

// Return the largest difference between α and the sum of the k nearest tables, as a share of the largest α.
export function missed({ values, rows, columns }, k) {
  const some = nearest(values, rows, columns).slice(0, k);
  const differences = values.map((value, at) => Math.abs(some.reduce((rest, table) => rest - table[at], value)));
  return Math.max(...differences) / Math.max(...values);
}

// Return the largest rank that the grades allow: that of random α.
export function largestRank({ values, rows, columns }) {
  const rng = random(SEED), free = values.map((_, k) => rng.uniform() * isPair(k, columns));
  return spectrum(free, rows, columns).rank;
}

// Rows are documents of grades 2 and 1, columns those of grades 1 and 0; both in the order of the documents.
const HIGH = GRADES.filter((grade) => grade === 2).length;
export const isPair = (k, columns) => GRADES[Math.floor(k / columns)] > GRADES[HIGH + (k % columns)];

// Return four tables of rank 1 that add up to α of the squared hinge while all pairs pull: 2C (1 − fᵢ + fⱼ).
// Rows of grade 2 have a table of row's numbers and one of column's numbers; so have rows of grade 1, outside
// the crossed cells. A row's number is α at the lowest score, so that no number is negative.
export function tables({ values, winners, losers, scores, columns }, exponent) {
  const low = Math.min(...losers.map((j) => scores[j])), factor = 2 * 2 ** exponent;
  const numbers = [(i) => factor * (1 - scores[winners[i]] + low), (_, j) => factor * (scores[losers[j]] - low)];
  const grades = [2, 1].flatMap((grade) => numbers.map((of) => [grade, of]));
  return grades.map(([grade, of]) => values.map((_, k) => {
    const [i, j] = [Math.floor(k / columns), k % columns];
    return GRADES[winners[i]] === grade && isPair(k, columns) ? of(i, j) : 0;
  }));
}
