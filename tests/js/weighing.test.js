import assert from "node:assert/strict";
import { test } from "node:test";

import { Weighing, between, moved, told, valueOf } from "../../ui/browser/weights/weighing.js";

const base64 = (...numbers) => Buffer.from(Float32Array.from(numbers).buffer).toString("base64");
const made = () => new Weighing({
  documents: 5, features: 2, X: base64(1, 0, 0, 2, 1, /* second column */ 0, 1, 0, 1, 1), grades: [1, 0, 2, 1, 1],
  starts: [0, 3, 5], C: 0.5, loss: { zones: [{ high: 1, width: null, bend: 1 }] },
  gains: [0, 1, 3], discounts: [1, 1], ideals: [4, null],
});
const close = (a, b) => assert.ok(Math.abs(a - b) < 1e-9, `${a} and ${b}`);

test("scores are columns times weights", () => {
  assert.deepEqual([...made().score([2, -1])], [2, -1, 0, 3, 1]);
});

test("the objective is half the square of w and C times the losses of all pairs", () => {
  const weighing = made(), w = [2, -1];
  weighing.score(w);
  // pairs of the first query: 0 over 1 (t = 3), 2 over 0 (t = −2), 2 over 1 (t = 1); none in the second
  const { objective, misordered } = weighing.pairsAt(w);
  close(objective, 2.5 + 0.5 * 9);
  assert.equal(misordered, 1);
});

test("ties stay as in the file, and count as misordered", () => {
  const weighing = made(), w = [0, 0];
  weighing.score(w);
  assert.deepEqual(weighing.ranking(0), [0, 1, 2]);
  assert.deepEqual(weighing.ranking(1), [3, 4]);
  assert.equal(weighing.pairsAt(w).misordered, 3);
});

test("NDCG is the gain of the first ranks over the ideal; means omit empty queries", () => {
  const weighing = made();
  weighing.score([2, -1]); // 0, 2, 1
  close(weighing.ndcg(0), (1 + 3) / 4);
  assert.equal(weighing.ndcg(1), null);
  close(weighing.meanNdcg(), 1);
  weighing.score([1, 2]); // 1, 0, 2
  close(weighing.meanNdcg(), 0.25);
  weighing.score([0, 0]); // every order of grades 0, 1, 2 equally often: mean gain 4/3 at both ranks
  close(weighing.ndcg(0), (4 / 3) * 2 / 4);
});

test("the first ranks equal those of the whole ranking, with ties", () => {
  const n = 60, weighing = new Weighing({
    documents: n, features: 1, X: base64(...Array.from({ length: n }, (_, k) => (k * 7) % 13)),
    grades: Array(n).fill(0), starts: [0, 7, n], C: 1, loss: { kind: "hinge" }, gains: [0],
    discounts: Array(10).fill(1), ideals: [1, 1],
  });
  for (const w of [[1], [-1], [0]]) {
    weighing.score(w);
    for (const query of [0, 1]) assert.deepEqual(weighing.first(query), weighing.ranking(query).slice(0, 10));
  }
});

test("losses equal those of Python", () => {
  const huber = valueOf({ zones: [{ high: 1, width: 1, bend: 1 }] });
  for (const t of [-3, 0, 0.5, 2]) close(huber(t), Math.max(0, 1 - t) ** 2 - Math.max(0, -t) ** 2);
  const squared = valueOf({ zones: [{ high: 1, width: null, bend: 1 }] });
  for (const t of [-3, 0.5, 2]) close(squared(t), Math.max(0, 1 - t) ** 2);
  close(valueOf({ kind: "hinge" })(-2), 3);
  for (const t of [-2, 0, 3]) close(valueOf({ kind: "logistic" })(t), Math.log(1 + Math.exp(-t)));
});

test("a walk is somewhere between two of its steps", () => {
  const path = [[0, 0], [2, 0], [2, 4]];
  assert.deepEqual(between(path, 0.25), [1, 0]);
  assert.deepEqual(between(path, 0.75), [2, 2]);
  assert.deepEqual(between(path, 1), [2, 4]);
  assert.deepEqual(between([[5]], 0.5), [5]);
});

test("only weights that differ from the learned ones are sent", () => {
  assert.deepEqual(moved([1, 2, 0], [1, -2, 0]), [[1, 2]]);
  assert.deepEqual(moved([1, 2], [1, 2]), []);
});

test("small numbers have a power of ten, and all a minus sign", () => {
  assert.deepEqual([-0.00036, 0.00036, -0.0005].map(told), ["−3.6 × 10⁻⁴", "3.6 × 10⁻⁴", "−0.001"]);
  assert.deepEqual([0, 12.3456].map(told), ["0.000", "12.346"]);
});
