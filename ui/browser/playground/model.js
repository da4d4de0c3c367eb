// The model of documents in the plane: its map, training, and kernels; tests/js/playground.test.js tests it.
//
// A world is { documents, settings, moved, turned }: documents in order, settings {map, m, gamma, C, loss, seed},
// places of landmarks and frequencies that were moved by hand, by number. Frequencies are in units of √(2γ).

import { drawFrequencies, fourier, kernelMatrix, linear, nystroem } from "../core/features.js";
import { dot, gram, product, random } from "../core/numbers.js";
import { fit, LOSSES, pairs } from "../core/ranking.js";

export const EXTENT = 1.2; // half the width of the plane
export const NAMES = ["nystroem", "fourier"]; // of the approximations
const NUMBERS = 1000; // documents have smaller numbers
// points of the surface along a side; of that in a small picture
const [GRID, SMALL] = [57, 29].map((side) => {
  const across = Float64Array.from({ length: side }, (_, k) => EXTENT * ((2 * k) / (side - 1) - 1));
  return { side, across, down: across.slice().reverse() };
});
const LIVE = 1e-3, RESTED = 1e-10; // tolerances of training, during a drag and after it
const GAPS = { [LIVE]: 1e-2, [RESTED]: 1e-4 }; // those of the hinge, whose training takes more steps

// Return documents in the order of training: query by query.
export const inOrder = (documents) => [...documents].sort((a, b) => a.query - b.query || a.id - b.id);

function places(list) {
  const found = new Float64Array(2 * list.length);
  list.forEach(({ x, y }, k) => { [found[2 * k], found[2 * k + 1]] = [x, y]; });
  return found;
}

function ptrOf(documents) {
  const ptr = [0];
  documents.forEach((one, k) => { if (k && one.query !== documents[k - 1].query) ptr.push(k); });
  return [...ptr, documents.length];
}

const same = (a, b) => a === b
  || (typeof a === "object" && a.length === b.length && a.every((v, k) => same(v, b[k])));

// Return `make`, which keeps its last result: a drag asks for the same random numbers and pairs at every frame.
function kept(make) {
  let last = [], made = null;
  return (...asked) => {
    if (!same(asked, last)) [last, made] = [asked, make(...asked)];
    return made;
  };
}

const ranksOf = kept((seed) => random(seed).permutation(NUMBERS));
const wavesOf = kept((seed, m) => drawFrequencies(random(seed), 2, m, 0.5));
const pairsOf = kept(pairs);
const fourierOf = kept(fourier);
const nystroemOf = kept(nystroem);

// Draw landmarks among different documents: those with the smallest random numbers, so the others stay where
// they are when a document comes or goes.
export function landmarksOf({ documents, settings: { m, seed }, moved }) {
  const rank = ranksOf(seed), seen = new Set();
  const different = [...documents].sort((a, b) => rank[a.id] - rank[b.id])
    .filter(({ x, y }) => !seen.has(`${x} ${y}`) && seen.add(`${x} ${y}`));
  return different.slice(0, m).map(({ x, y }, number) => ({ number, x, y, ...moved.get(number) }));
}

// Return frequencies in units of √(2γ), and phases.
export function frequenciesOf({ settings: { m, seed }, turned }) {
  const { omega, phase } = wavesOf(seed, m);
  return Array.from(phase, (b, number) => ({
    number, x: omega[number], y: omega[m + number], phase: b, ...turned.get(number),
  }));
}

const MAPS = {
  linear: () => linear(2),
  nystroem: (world) => nystroemOf(places(landmarksOf(world)), 2, world.settings.gamma),
  exact: (world) => nystroem(places(world.documents), 2, world.settings.gamma),
  fourier: (world) => {
    const list = frequenciesOf(world), scale = Math.sqrt(2 * world.settings.gamma);
    const omega = [...list.map(({ x }) => scale * x), ...list.map(({ y }) => scale * y)];
    return fourierOf(Float64Array.from(omega), Float64Array.from(list, ({ phase }) => phase));
  },
};

const last = new WeakMap(); // places and features, by map

// Return the features of documents; those that stay where they were keep theirs.
function featuresOf(map, x) {
  const known = last.get(map), { m } = map;
  let phi;
  if (known?.x.length === x.length) {
    const rows = Array.from({ length: x.length / 2 }, (_, i) => i)
      .filter((i) => x[2 * i] !== known.x[2 * i] || x[2 * i + 1] !== known.x[2 * i + 1]);
    const found = map.transform(Float64Array.from(rows.flatMap((i) => [x[2 * i], x[2 * i + 1]])));
    phi = known.phi.slice();
    rows.forEach((i, k) => phi.set(found.subarray(k * m, (k + 1) * m), i * m));
  } else phi = map.transform(x);
  last.set(map, { x, phi });
  return phi;
}

// Return weights for m features that begin as `weights`: those for fewer landmarks belong to the first of more.
function padded(weights, m) {
  const found = new Float64Array(m);
  if (weights) found.set(weights.subarray(0, Math.min(m, weights.length)));
  return found;
}

// Train a world; from `start`, or from zero with all steps in `path`. `factors` is `kept` of `fit`.
export function trained(world, start = null, factors = undefined) {
  const { documents, settings: { C, loss } } = world, y = documents.map((one) => one.grade), ptr = ptrOf(documents);
  const map = MAPS[world.settings.map](world), features = featuresOf(map, places(documents));
  const tol = start ? LIVE : RESTED;
  const problem = { features, m: map.m, y, ptr, C, loss: LOSSES[loss], pairs: pairsOf(y, ptr) };
  const tolerance = problem.loss.byContinuation ? GAPS[tol] : tol;
  const found = fit(problem, { tolerance, ...(start && { start: padded(start, map.m), kept: factors }) });
  return { map, features, pairs: problem.pairs, weights: found.weights, path: found.trace };
}

export const scoresOf = ({ map, features }, weights) => product(features, features.length / map.m, map.m, weights);

// Return the scores on a grid of the plane, row by row from the top; on a coarser one for a small picture.
export function surfaceOf({ map }, weights, small = false) {
  const { side, across, down } = small ? SMALL : GRID;
  return { side, values: map.surface(weights, across, down) };
}

export const ordered = ({ winner, loser }, scores) => (
  winner.reduce((count, i, k) => count + (scores[i] > scores[loser[k]]), 0));

const length = (values) => Math.sqrt(dot(values, values));

// Return K by query and grade, and approximations: K̃ = ΦΦᵀ, its error ‖K̃ − K‖/‖K‖, and the model `learn(name)`.
export function kernelsOf({ documents, settings: { gamma } }, learn, names = NAMES) {
  const grade = (i) => documents[i].grade, query = (i) => documents[i].query;
  const order = Array.from(documents.keys()).sort((i, j) => query(i) - query(j) || grade(i) - grade(j));
  const x = places(order.map((i) => documents[i])), n = order.length, K = kernelMatrix(x, x, 2, gamma);
  const approximations = names.map((name) => {
    const model = learn(name), { map: { m }, features } = model, sorted = new Float64Array(n * m);
    order.forEach((i, row) => sorted.set(features.subarray(i * m, (i + 1) * m), row * m));
    const approximate = gram(sorted, n, m);
    const error = approximate.map((v, k) => v - K[k]);
    return { name, model, approximate, error, share: length(error) / length(K) };
  });
  return { side: n, K, approximations };
}
