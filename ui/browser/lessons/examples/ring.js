// Documents of one query, relevant in a ring around the middle; some grades are wrong. Lesson 6 shows them.

import { kernelMatrix, linear, nystroem } from "../../core/features.js";
import { pairAccuracy } from "../../core/metrics.js";
import { product, random } from "../../core/numbers.js";
import { fit } from "../../core/ranking.js";
import { hundredths, mean, playgroundOf } from "./documents.js";

export const N = 48, C = 1, DIM = 2;
export const EXPONENTS = Array.from({ length: 12 }, (_, k) => k - 3); // of γ
const LISTS = 6, SEED = 1, RADIUS = 1.1, RING = [0.42, 0.82], BLUR = 0.06, WRONG = 0.08;

function list(rng) {
  const x = new Float64Array(DIM * N), y = [];
  for (let i = 0; i < N; i++) {
    const radius = RADIUS * Math.sqrt(rng.uniform()), angle = 2 * Math.PI * rng.uniform();
    x.set([hundredths(radius * Math.cos(angle)), hundredths(radius * Math.sin(angle))], DIM * i);
    const seen = Math.hypot(x[DIM * i], x[DIM * i + 1]) + BLUR * rng.normal();
    const relevant = seen > RING[0] && seen < RING[1], wrong = rng.uniform() < WRONG;
    y.push(Number(relevant !== wrong));
  }
  return { x, y };
}

const rng = random(SEED);
export const { x: X, y: GRADES } = list(rng);
const OTHERS = Array.from({ length: LISTS }, () => list(rng));

// Return right pairs of all pairs, and their share; a tie is not right.
export const right = (scores) => pairAccuracy(scores, GRADES);

export const alongArrow = (degrees) => {
  const angle = (degrees * Math.PI) / 180;
  return right(product(X, N, DIM, [Math.cos(angle), Math.sin(angle)]));
};

export const bestArrow = () => Math.max(...Array.from({ length: 360 }, (_, degrees) => alongArrow(degrees).share));

// Train with the exact kernel; γ = 0 trains the linear model. → map, weights, scores, shares of right pairs.
export function trained(gamma, start) {
  const map = gamma ? nystroem(X, DIM, gamma) : linear(DIM), features = map.transform(X);
  const { weights, scores } = fit({ features, m: map.m, y: GRADES, ptr: [0, N], C }, { start });
  const others = OTHERS.map(({ x, y }) => pairAccuracy(product(map.transform(x), N, map.m, weights), y).share);
  return { map, weights, scores, training: right(scores).share, validation: mean(others) };
}

// Return the height of each document's bump, and the similarity of a place to the document.
export function bumpsAt(place, { map, weights }, gamma) {
  const similar = kernelMatrix(Float64Array.from(place), X, DIM, gamma);
  return { heights: [...map.coefficients(weights)], similar: Array.from(map.kept, (i) => similar[i]) };
}

const BUMP = 8; // γ of the bumps of a painting

// Return the middles of painted cells; a square has side × side cells, row by row from the top.
export const paintedCells = (cells, side, extent) => Float64Array.from(cells.flatMap((on, k) => {
  const at = (position) => -extent + (2 * extent * (position + 0.5)) / side;
  return on ? [at(k % side), -at(Math.floor(k / side))] : [];
}));

// Return the scores of a painting: a sum of bumps on its cells.
export function paintedScores(cells, side, extent, x = X) {
  const places = paintedCells(cells, side, extent), m = places.length / DIM;
  return product(kernelMatrix(x, places, DIM, BUMP), x.length / DIM, m, new Float64Array(m).fill(1));
}

export const paintedShare = (cells, side, extent) => ({
  training: right(paintedScores(cells, side, extent)).share,
  validation: mean(OTHERS.map(({ x, y }) => pairAccuracy(paintedScores(cells, side, extent, x), y).share)),
});

export const playground = (settings) => playgroundOf(X, GRADES, { pc: Math.log2(C), ...settings });
