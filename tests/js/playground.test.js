import assert from "node:assert/strict";
import { test } from "node:test";

import * as geometry from "../../ui/browser/playground/geometry.js";
import { titleOf, titleOfWave } from "../../ui/browser/playground/telling.js";

const SIDE = 9, EXTENT = 1.2;
const grid = (f) => Float32Array.from({ length: SIDE * SIDE }, (_, at) => {
  const tick = (k) => -EXTENT + (2 * EXTENT * k) / (SIDE - 1);
  return f(tick(at % SIDE), -tick(Math.floor(at / SIDE)));
});
const close = (a, b, by = 1e-5) => assert.ok(Math.abs(a - b) < by, `${a} and ${b}`);

test("surfaces are decoded from integers with a scale", () => {
  const values = Buffer.from(Int16Array.from([0, 1, 2, 3, -32767, 5, 6, 32767]).buffer).toString("base64");
  const [first, second] = geometry.surfaces({ surface: { values, scale: 0.5 }, side: 2, steps: [0, 4] });
  assert.deepEqual([...first], [0, 0.5, 1, 1.5]);
  assert.deepEqual([...second], [-16383.5, 2.5, 3, 16383.5]);
});

test("pairs are documents of one query, the higher grade first", () => {
  const rows = [[7, 0, 0, 1, 0], [8, 0, 0, 0, 0], [9, 0, 0, 2, 1], [3, 0, 0, 2, 0]];
  const pairs = geometry.pairsOf(geometry.documentsOf(rows));
  assert.deepEqual(pairs, [[0, 1], [3, 0], [3, 1]]);
});

test("margins have three classes, and 0 is misordered", () => {
  const { MISORDERED, WITHIN, BEYOND } = geometry;
  assert.deepEqual([-1, 0, 0.5, 1].map(geometry.classOf), [MISORDERED, MISORDERED, WITHIN, BEYOND]);
});

test("a linear surface is read exactly between the points of the grid and at the edge", () => {
  const values = grid((x, y) => 3 * x - 2 * y + 1);
  for (const [x, y] of [[0, 0], [0.313, -0.777], [-1.2, 1.2], [1.2, -1.2], [5, 0]]) {
    const inside = (v) => Math.min(Math.max(v, -EXTENT), EXTENT);
    close(geometry.valueAt(values, SIDE, EXTENT, x, y), 3 * inside(x) - 2 * inside(y) + 1);
  }
});

test("contours of a slope are one straight line, those of a bowl close", () => {
  const slope = geometry.contour(grid((x) => x), SIDE, 0.1);
  assert.equal(slope.length, SIDE - 1);
  for (const [x0, , x1] of slope) [x0, x1].forEach((x) => close(x, ((0.1 + EXTENT) / (2 * EXTENT)) * (SIDE - 1)));
  const meets = new Map();
  for (const [a, b, c, d] of geometry.contour(grid((x, y) => x * x + y * y), SIDE, 0.5)) {
    for (const place of [`${a.toFixed(4)} ${b.toFixed(4)}`, `${c.toFixed(4)} ${d.toFixed(4)}`]) {
      meets.set(place, (meets.get(place) ?? 0) + 1);
    }
  }
  assert.ok(meets.size > 8 && [...meets.values()].every((times) => times === 2));
});

test("a flat surface has ends and no contour", () => {
  const flat = grid(() => 0);
  assert.deepEqual(geometry.ends(flat), [-1, 1]);
  assert.deepEqual(geometry.contour(flat, SIDE, 0.5), []);
});

test("levels are round numbers within the ends", () => {
  assert.deepEqual(geometry.levels(-1, 1, 4), [-1, -0.5, 0, 0.5, 1]);
  for (const [low, high] of [[0.013, 0.19], [-512, 77], [3, 3.001]]) {
    const found = geometry.levels(low, high);
    assert.ok(found.length >= 3 && found.length <= 10 && found[0] >= low && found.at(-1) <= high);
  }
});

test("crests lie where the cosine is 1, troughs where it is −1", () => {
  for (const omega of [[5, 2], [0, 7], [-3, 0], [0.1, 0.1]]) {
    for (const sign of [1, -1]) {
      for (const [x0, y0, x1, y1] of geometry.crests(omega, 1.3, EXTENT, sign)) {
        for (const [x, y] of [[x0, y0], [x1, y1], [(x0 + x1) / 2, (y0 + y1) / 2]]) {
          close(Math.cos(omega[0] * x + omega[1] * y + 1.3), sign, 1e-9);
          assert.ok(Math.max(Math.abs(x), Math.abs(y)) <= EXTENT + 1e-9);
        }
      }
    }
  }
  assert.equal(geometry.crests([0, 2 * Math.PI], 0, EXTENT).length, 3);
});

test("changes that Python has not seen apply: documents added, moved, removed", () => {
  const documents = geometry.documentsOf([[0, 0, 0, 1, 0], [5, 0.5, 0, 0, 0]]);
  const moved = geometry.after(documents, { kind: "put", id: 0, x: 1, y: 1, grade: 2, query: 1, rev: 4 });
  assert.deepEqual(moved.map((one) => one.id), [0, 5]);
  assert.deepEqual(moved[0], { id: 0, x: 1, y: 1, grade: 2, query: 1 });
  const added = geometry.after(documents, { kind: "put", id: 9, x: 0, y: 0, grade: 0, query: 0 });
  assert.deepEqual(added.map((one) => one.id), [0, 5, 9]);
  assert.deepEqual(geometry.after(documents, { kind: "drop", id: 0 }).map((one) => one.id), [5]);
  assert.equal(geometry.after(documents, { kind: "undo" }), documents);
  assert.equal(geometry.nextId(documents, 3), 6);
  assert.equal(geometry.nextId([], 3), 3);
});

test("the nearest mark within reach is grasped", () => {
  const places = [{ x: 0, y: 0 }, { x: 10, y: 0 }];
  assert.equal(geometry.nearest(places, 7, 0, 5), places[1]);
  assert.equal(geometry.nearest(places, 5, 30, 5), null);
  assert.equal(geometry.clamped(1.2345, 1.15), 1.15);
  assert.equal(geometry.clamped(-0.1234, 1.15), -0.12);
});

test("surfaces of two steps are mixed by a share", () => {
  assert.deepEqual([...geometry.mixed(Float32Array.of(0, 2), Float32Array.of(2, 2), 0.5)], [1, 2]);
});

test("pairs and misordered pairs are counted for each document", () => {
  const found = geometry.tallied([[0, 1], [2, 1], [2, 0]], [0.5, 0.5, 3, 9]);
  assert.deepEqual(found.map(({ pairs, wrong }) => [pairs, wrong]), [[2, 1], [2, 1], [2, 0], [0, 0]]);
});

test("a landmark is taken by its visible corners, but not by a finger", () => {
  const landmark = { kind: "landmark", x: 0, y: 0, size: 1, chosen: false };
  const document = { kind: "document", x: 0, y: 0, size: 1, chosen: true };
  const taken = (x, y, fine = true) => geometry.grasped([landmark, document], x, y, 12, fine);
  assert.equal(taken(0, 3), document);
  assert.equal(taken(0, 10), landmark);
  assert.equal(taken(-9, 0), landmark);
  assert.equal(taken(0, 10, false), document);
  assert.equal(taken(13, 13), null);
});

test("the chosen mark is taken before one above it", () => {
  const below = { kind: "landmark", x: 0, y: 0, size: 1, chosen: true };
  const above = { kind: "document", x: 0, y: 0, size: 1, chosen: false };
  assert.equal(geometry.grasped([below, above], 0, 1, 12, true), below);
});

test("marks have descriptions", () => {
  const one = { number: 2, grade: 2, query: 2, x: 0, y: 0 };
  const document = { kind: "document", one, score: -0.4123, tally: { pairs: 13, wrong: 7 } };
  assert.equal(titleOf(document), "Query ▲ 3, grade 2, score −0.412, 7 of 13 pairs misordered");
  assert.equal(titleOf({ ...document, tally: { pairs: 0, wrong: 0 } }), "Query ▲ 3, grade 2, score −0.412, in no pair");
  assert.equal(titleOf({ ...document, tally: undefined }), "Query ▲ 3, grade 2");
  assert.equal(titleOf({ kind: "landmark", one, alpha: 0.8 }), "Landmark 3, coefficient +0.8");
  assert.equal(titleOfWave(6, -120), "Frequency 7, weight −120");
});

test("the label of an arrow is beyond its tip, unless a mark is there", () => {
  const at = (marks) => geometry.placeOfName([100, 0], marks, 26);
  const close2 = (place, x, y) => { close(place.x, x); close(place.y, y); };
  close2(at([]), 112, 0);
  close2(at([{ x: 0, y: 0 }, { x: 112, y: 30 }]), 112, 0);
  close2(at([{ x: 120, y: 0 }]), 60, 14);
  close2(at([{ x: 120, y: 0 }, { x: 60, y: 10 }]), 100, 14);
});
