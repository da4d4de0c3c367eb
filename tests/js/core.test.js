// Parts of the small core that rankviz has no twin of; tests/test_small_core.py compares the others.
import assert from "node:assert/strict";
import { test } from "node:test";

import { drawFrequencies, landmarksKMeansPP, landmarksUniform, nystroem } from "../../ui/browser/core/features.js";
import { ndcg } from "../../ui/browser/core/metrics.js";
import { cholesky, eigenSymmetric, product, random, solveCholesky } from "../../ui/browser/core/numbers.js";
import { fit, LOSSES, objective } from "../../ui/browser/core/ranking.js";

const close = (a, b, by) => assert.ok(Math.abs(a - b) < by, `${a} and ${b}`);
const mean = (values) => values.reduce((sum, v) => sum + v, 0) / values.length;
const many = (n, draw) => Array.from({ length: n }, draw);

test("the same seed gives the same numbers, another seed others", () => {
  const [a, b, c] = [random(3), random(3), random(4)].map((rng) => many(50, rng.uniform));
  assert.deepEqual(a, b);
  assert.notDeepEqual(a, c);
  assert.equal(new Set(a).size, 50);
});

test("uniform and normal numbers have their mean, variance and ends", () => {
  const rng = random(1), u = many(40000, rng.uniform), z = many(40000, rng.normal);
  assert.ok(Math.min(...u) >= 0 && Math.max(...u) < 1);
  close(mean(u), 1 / 2, 0.01);
  close(mean(u.map((v) => (v - 0.5) ** 2)), 1 / 12, 0.003);
  close(mean(z), 0, 0.02);
  close(mean(z.map((v) => v * v)), 1, 0.03);
  close(mean(z.map((v) => Number(Math.abs(v) > 1.96))), 0.05, 0.005);
  close(mean(z.slice(1).map((v, k) => v * z[k])), 0, 0.02);
});

test("every order of three is drawn equally often", () => {
  const rng = random(2), counts = new Map();
  for (let k = 0; k < 6000; k++) {
    const order = rng.permutation(3).join("");
    counts.set(order, (counts.get(order) ?? 0) + 1);
  }
  assert.equal(counts.size, 6);
  for (const count of counts.values()) close(count, 1000, 120);
});

test("eigenvectors are orthonormal and belong to their values", () => {
  const rng = random(5), n = 9, a = new Float64Array(n * n);
  for (let i = 0; i < n; i++) for (let j = 0; j <= i; j++) a[i * n + j] = a[j * n + i] = rng.normal();
  const { values, vectors } = eigenSymmetric(a, n);
  for (let k = 0; k < n; k++) {
    const v = vectors.subarray(k * n, (k + 1) * n);
    product(a, n, n, v).forEach((x, i) => close(x, values[k] * v[i], 1e-12));
    product(vectors, n, n, v).forEach((x, i) => close(x, Number(i === k), 1e-12));
    assert.ok(k === 0 || values[k] <= values[k - 1]);
  }
});

test("a system is solved by its Cholesky factor, and an indefinite matrix is refused", () => {
  const a = Float64Array.of(4, 2, 2, 3), x = solveCholesky(cholesky(a, 2), 2, [10, 9]);
  close(x[0], 1.5, 1e-14);
  close(x[1], 2, 1e-14);
  assert.throws(() => cholesky(Float64Array.of(1, 2, 2, 1), 2), RangeError);
});

const CLUSTERS = Float64Array.from([0, 0, 0.01, 0, 0, 0.01, 5, 5, 5.01, 5, 5, 5.01, -5, 5, -5.01, 5]);

test("k-means++ takes each far cluster once, and each document at most once", () => {
  for (let seed = 0; seed < 30; seed++) {
    const three = landmarksKMeansPP(random(seed), CLUSTERS, 2, 3);
    assert.deepEqual(three.map((row) => Math.min(2, Math.floor(row / 3))).sort(), [0, 1, 2]);
    assert.equal(new Set(landmarksKMeansPP(random(seed), CLUSTERS, 2, 20)).size, 8);
  }
});

test("k-means++ draws by the squared distance", () => {
  const line = Float64Array.of(0, 1, 3), counts = [0, 0, 0];
  for (let seed = 0; seed < 6000; seed++) {
    const [first, second] = landmarksKMeansPP(random(seed), line, 1, 2);
    if (first === 0) counts[second] += 1;
  }
  close(counts[2] / (counts[1] + counts[2]), 9 / 10, 0.03);
});

test("draws are nested, and equal documents count once", () => {
  const twice = Float64Array.from([...CLUSTERS, ...CLUSTERS]);
  for (const draw of [landmarksUniform, landmarksKMeansPP]) {
    const all = draw(random(1), twice, 2, 99);
    assert.equal(all.length, 8);
    assert.ok(all.every((row) => row < 8));
    assert.deepEqual([...draw(random(1), twice, 2, 3)], [...all].slice(0, 3));
  }
  const [few, more] = [3, 5].map((m) => drawFrequencies(random(2), 2, m, 0.5));
  assert.deepEqual([...few.phase], [...more.phase.slice(0, 3)]);
  assert.deepEqual([...few.omega.slice(3)], [...more.omega.slice(5, 8)]);
});

test("frequencies have variance 2γ", () => {
  const { omega } = drawFrequencies(random(3), 2, 20000, 2.5);
  close(mean([...omega].map((v) => v * v)), 5, 0.15);
});

test("landmarks in one place count once", () => {
  const z = Float64Array.of(0, 0, 0, 0, 1, 0), map = nystroem(z, 2, 1);
  assert.ok(map.m <= 3 && map.kept.includes(0) && map.kept.includes(2));
});

function problem(seed, loss, m = 4) {
  const rng = random(seed), n = 30;
  return { m, y: many(n, () => Math.floor(3 * rng.uniform())), ptr: [0, 12, 30], C: 0.7, loss,
    features: Float64Array.from({ length: n * m }, rng.normal) };
}

test("the gradient of every loss agrees with differences", () => {
  const w = Float64Array.of(0.3, -0.2, 0.5, 0.1), step = 1e-6;
  for (const loss of Object.values(LOSSES).slice(2)) {
    const asked = problem(4, loss), { gradient } = objective(w, asked);
    w.forEach((_, a) => {
      const moved = (by) => objective(w.map((v, b) => v + by * (a === b)), asked).value;
      close((moved(step) - moved(-step)) / (2 * step), gradient[a], 1e-5 * (1 + Math.abs(gradient[a])));
    });
  }
});

test("training falls at every step, and two steps suffice near the optimum", () => {
  const asked = problem(12), { weights, trace } = fit(asked);
  assert.ok(trace.length > 2 && trace[0].weights.every((v) => v === 0));
  trace.slice(1).forEach((row, k) => assert.ok(row.objective <= trace[k].objective));
  const start = weights.map((v) => v + 1e-3), again = fit(asked, { start });
  assert.ok(again.trace.length <= 4);
  again.weights.forEach((v, a) => close(v, weights[a], 1e-10));
});

test("a kept factor serves similar problems, and another is made for a different one", () => {
  const kept = {}, asked = problem(12, LOSSES.squaredHinge, 24), agrees = (given, start) => {
    const found = fit(given, { kept, start, tolerance: 1e-12 }).objective, exact = fit(given).objective;
    close(found / exact, 1, 1e-9);
  };
  agrees(asked);
  const { l } = kept;
  asked.features[5] += 0.1;
  agrees(asked, fit(asked).weights.map((v) => v + 1e-3));
  assert.equal(kept.l, l);
  agrees({ ...asked, C: 1e3, features: asked.features.map((v, k) => v * (1 + (k % 24))) });
  assert.notEqual(kept.l, l);
  agrees({ ...asked, m: 36, y: asked.y.slice(0, 20), ptr: [0, 8, 20] }); // of another size
});

test("NDCG is the sum of its terms over those of the ideal list", () => {
  const { value, terms, ideal } = ndcg([3, 2, 1], [0, 2, 1], "textbook", 3);
  assert.deepEqual(terms.map(({ document, gain }) => [document, gain]), [[0, 0], [1, 3], [2, 1]]);
  assert.deepEqual(ideal.map(({ document }) => document), [1, 2, 0]);
  close(value, (3 / Math.log2(3) + 1 / 2) / (3 + 1 / Math.log2(3)), 1e-15);
  assert.throws(() => ndcg([1], [1], "letor", 11), RangeError);
});
