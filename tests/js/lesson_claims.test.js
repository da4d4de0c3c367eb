// What the lessons say about their examples is true.

import assert from "node:assert/strict";
import { test } from "node:test";

import * as data from "../../ui/browser/lessons/examples/approximation.js";
import * as plots from "../../ui/browser/lessons/kit/plots.js";
import * as fourier from "../../ui/browser/lessons/scenes/fourier.js";
import * as nystroem from "../../ui/browser/lessons/scenes/nystroem.js";

const close = (a, b, by) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);

test("a curve drawn by hand passes the knots between two points, and fills those left out", () => {
  const knots = [0, 10, 20, 30], none = [null, null, null, null];
  assert.deepEqual(plots.stroked(knots, none, [10, 1], [20, 2], 4), [null, 1, 2, null]);
  assert.deepEqual(plots.stroked(knots, none, [20, 2], [10, 1], 4), [null, 1, 2, null]);
  assert.deepEqual(plots.stroked(knots, none, [11, 5], [11, 5], 4), [null, 5, null, null]);
  assert.deepEqual(plots.completed([null, 1, 2, null]), [1, 1, 2, 2]);
  assert.deepEqual(plots.completed(none), none);
});

test("the path of a curve is interrupted where it has no value", () => {
  const plot = plots.chart({ x: 0, y: 0, width: 158, height: 170 }, { ends: [0, 1] }, { ends: [0, 1] });
  assert.equal(plots.pathOf(plot, [[0, 0], [0.5, 1], [0.7, null], [1, 0]]), "M46.0 126.0L96.0 26.0M146.0 126.0");
  close(plot.atX(96), 0.5, 1e-12);
  close(plot.atY(-1000), 1, 1e-12);
});

test("nystroem: K̃ is exact in the landmarks' columns", () => {
  const { difference } = data.approximation(data.landmarkMap([3, 20, 35]));
  for (const j of [3, 20, 35]) for (let i = 0; i < data.N; i++) close(difference[i * data.N + j], 0, 1e-8);
});

test("nystroem: the reader's choice is counted among all choices of three", () => {
  const { errors, best, random, kmeans } = nystroem.triples();
  assert.equal(errors.length, (40 * 39 * 38) / 6);
  assert.equal(nystroem.better(errors, best), 0);
  assert.equal(nystroem.better(errors, errors[500]), errors.indexOf(errors[500]));
  assert.ok(best < kmeans && kmeans < random);
  assert.equal(nystroem.histogram(errors, 60).reduce((sum, count) => sum + count), errors.length);
});

test("nystroem: NDCG flattens before the error does", () => {
  const { error, ndcg } = nystroem.curves(), six = nystroem.SIZES.indexOf(6), after = ndcg.slice(six);
  assert.ok(Math.max(...after) - Math.min(...after) < 0.025); // the text says 0.91 to 0.93
  assert.ok(ndcg[six] - ndcg[nystroem.SIZES.indexOf(3)] > 0.05);
  assert.ok(error[six].mean > 0.1 && error.at(-1).mean < 0.01);
  assert.ok(nystroem.SIZES[six] / data.N < 0.2);
});

test("fourier: the error is 1/√m of a constant, in theory and in 400 draws", () => {
  close(data.expectedError(40) / data.expectedError(10), 0.5, 1e-12);
  const error = (seed) => data.approximation(data.waveMap(seed + 1000, 10)).error;
  const squares = Array.from({ length: 400 }, (_, seed) => error(seed) ** 2);
  close(Math.sqrt(data.mean(squares)) / data.expectedError(10), 1, 0.05);
});

test("fourier: 20 draws show it, and their band has the dashed line", () => {
  const { at, fourier: found, nystroem: landmarks } = fourier.curves();
  close(at(fourier.NEEDED) / at(fourier.START), 0.5, 0.06);
  const inside = ({ m, low, high }) => low < data.expectedError(m) && data.expectedError(m) < high;
  assert.ok(found.every(inside));
  assert.ok(landmarks.find(({ m }) => m === 5).mean < at(fourier.NEEDED));
});

test("fourier: twice the mean of the waves is the row of K̃", () => {
  const map = data.waveMap(3, 25), row = fourier.meanOf(fourier.wavesOf(map, data.X));
  const [x, z] = [Float64Array.of(data.X[0], data.X[1]), Float64Array.of(data.X[0] - 1.2, data.X[1])].map(map.transform);
  close(row[0], x.reduce((sum, value, k) => sum + value * z[k], 0), 1e-12);
});

test("a link has the same documents, in hundredths", () => {
  const docs = new URLSearchParams(data.playground({ pm: 6 }).split("?")[1]).get("docs").split("_");
  docs.forEach((one, i) => {
    const [k, x, y, grade, query] = one.split(".").map(Number);
    assert.deepEqual([k, x / 100, y / 100, grade, query], [i, data.X[2 * i], data.X[2 * i + 1], data.GRADES[i], 0]);
  });
});
