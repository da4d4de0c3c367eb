// Forty documents of one query in four groups, and how well landmarks or random cosines approximate their kernel.
// Lessons 7 and 8 show them.

import {
  drawFrequencies, fourier, kernelMatrix, landmarksKMeansPP, landmarksUniform, nystroem,
} from "../../core/features.js";
import { ndcg } from "../../core/metrics.js";
import { dot, gram, product, random } from "../../core/numbers.js";
import { fit } from "../../core/ranking.js";
import { hundredths, mean, playgroundOf } from "./documents.js";

export const GAMMA = 2, C = 1, DIM = 2;
const GROUPS = [[18, -0.55, 0.35], [12, 0.5, 0.5], [7, 0.35, -0.55], [3, -0.7, -0.7]]; // documents, and the middle
const SPREAD = 0.16, NOISE = 0.1, SEED = 1, LISTS = 8, AT = 10;
export const N = GROUPS.reduce((sum, [size]) => sum + size, 0);
export const DRAWS = 100; // their mean is near what theory says
export const TRAINED = 20; // draws that are also trained

const relevance = (x, y) => Math.sin(3 * x) + Math.cos(2.5 * y + 0.5);

// Return one list of documents: x (n × 2), grades y. The best 15 % have grade 2, the next 25 % grade 1.
function list(rng) {
  const x = Float64Array.from(GROUPS.flatMap(([size, u, v]) => Array.from({ length: size }, () => (
    [hundredths(u + SPREAD * rng.normal()), hundredths(v + SPREAD * rng.normal())]))).flat());
  const latent = Array.from({ length: N }, (_, i) => relevance(x[2 * i], x[2 * i + 1]) + NOISE * rng.normal());
  const sorted = [...latent].sort((a, b) => a - b), [one, two] = [0.6, 0.85].map((k) => sorted[Math.floor(k * N)]);
  return { x, y: latent.map((value) => (value >= two ? 2 : value >= one ? 1 : 0)) };
}

const rng = random(SEED);
export const { x: X, y: GRADES } = list(rng);
const OTHERS = Array.from({ length: LISTS }, () => list(rng));
export const KERNEL = kernelMatrix(X, X, DIM, GAMMA);
const NORM = Math.sqrt(dot(KERNEL, KERNEL));

const rowsOf = (positions) => Float64Array.from(positions.flatMap((i) => [X[2 * i], X[2 * i + 1]]));
export const landmarkMap = (positions) => nystroem(rowsOf(positions), DIM, GAMMA);
export function waveMap(seed, m) {
  const { omega, phase } = drawFrequencies(random(seed), DIM, m, GAMMA);
  return fourier(omega, phase);
}

// Return K̃ = Φ Φᵀ of a map, and its error ‖K̃ − K‖ / ‖K‖; without a map K̃ is 0.
export function approximation(map) {
  const values = map ? gram(map.transform(X), N, map.m) : new Float64Array(N * N);
  const difference = values.map((value, k) => value - KERNEL[k]);
  return { values, difference, error: Math.sqrt(dot(difference, difference)) / NORM };
}

// Return the mean NDCG@10 (equal scores at their mean) on eight other lists after training on the forty documents.
export function quality(map) {
  const { weights } = fit({ features: map.transform(X), m: map.m, y: GRADES, ptr: [0, N], C });
  const scores = (one) => product(map.transform(one.x), N, map.m, weights);
  return mean(OTHERS.map((one) => ndcg(scores(one), one.y, "compared", AT).value));
}

// Return the errors of all choices of three landmarks, in rising order, and the best choice.
export function allTriples() {
  const found = [];
  for (let a = 0; a < N; a++) {
    for (let b = a + 1; b < N; b++) {
      for (let c = b + 1; c < N; c++) found.push({ error: errorOfTriple(a, b, c), chosen: [a, b, c] });
    }
  }
  found.sort((one, other) => one.error - other.error);
  return { errors: Float64Array.from(found, ({ error }) => error), chosen: found[0].chosen };
}

// Return how many documents are in the groups of these.
export function reached(positions) {
  let end = 0;
  return GROUPS.reduce((sum, [size]) => {
    end += size;
    return sum + (positions.some((i) => i >= end - size && i < end) ? size : 0);
  }, 0);
}

export const errorOfTriple = (...positions) => approximation(landmarkMap(positions)).error;

const DRAWN = { random: landmarksUniform, kmeans: landmarksKMeansPP };
export const drawLandmarks = (kind, seed, m) => Array.from(DRAWN[kind](random(seed), X, DIM, m));

// Return for each m the mean, lowest and highest error of the maps that these seeds draw.
export function errors(sizes, draw) {
  return sizes.map((m) => {
    const found = Array.from({ length: DRAWS }, (_, seed) => approximation(draw(seed, m)).error);
    return { m, mean: mean(found), low: Math.min(...found), high: Math.max(...found) };
  });
}

export const kmeansMap = (seed, m) => landmarkMap(drawLandmarks("kmeans", seed, m));

// Return for each m the mean NDCG@10 of the maps that some seeds draw.
export const qualities = (sizes, draw) => sizes.map((m) => (
  mean(Array.from({ length: TRAINED }, (_, seed) => quality(draw(seed, m))))));

export const playground = (settings) => (
  playgroundOf(X, GRADES, { pg: Math.log2(GAMMA), pc: Math.log2(C), ...settings }));

// Return the square root of the expected squared error of m random cosines, which falls as 1/√m: their products
// have the variance 1 + κ⁴/2 − κ² (rahimi2007, with phases).
export function expectedError(m) {
  const variance = KERNEL.reduce((sum, k) => sum + 1 + k ** 4 / 2 - k ** 2, 0);
  return Math.sqrt(variance / m) / NORM;
}
