import assert from "node:assert/strict";
import { test } from "node:test";

import * as geometry from "../../ui/browser/playground/geometry.js";
import { percent } from "../../ui/browser/playground/kernels.js";
import * as model from "../../ui/browser/playground/model.js";
import { answerOf, ofPairs, titleOf, titleOfWave } from "../../ui/browser/playground/telling.js";
import { pairs as listed } from "../../ui/browser/core/ranking.js";
import { random } from "../../ui/browser/core/numbers.js";

const SIDE = 9, EXTENT = 1.2;
const grid = (f) => Float32Array.from({ length: SIDE * SIDE }, (_, at) => {
  const tick = (k) => -EXTENT + (2 * EXTENT * k) / (SIDE - 1);
  return f(tick(at % SIDE), -tick(Math.floor(at / SIDE)));
});
const close = (a, b, by = 1e-5) => assert.ok(Math.abs(a - b) < by, `${a} and ${b}`);

test("margins have three classes, and 0 is misordered", () => {
  const { MISORDERED, WITHIN, BEYOND } = geometry;
  assert.deepEqual([-1, 0, 0.5, 1].map(geometry.classOf), [MISORDERED, MISORDERED, WITHIN, BEYOND]);
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

test("a slider's move that was undone by an older run is told again, a few times", () => {
  const move = { kind: "set", name: "m", raw: 6, rev: 2 }, now = (raw, rev) => ({ rev, sliders: [{ name: "m", raw }] });
  assert.deepEqual(geometry.lostSliders([move], now(6, 2)), []);
  assert.deepEqual(geometry.lostSliders([move], now(4, 1)), []);
  assert.deepEqual(geometry.lostSliders([move], now(4, 3)), [{ ...move, tries: 1 }]);
  assert.deepEqual(geometry.lostSliders([move, { ...move, raw: 8, rev: 4 }], now(4, 3)), []);
  assert.deepEqual(geometry.lostSliders([{ ...move, tries: 5 }], now(4, 3)), []);
});

test("the nearest mark within reach is grasped", () => {
  const places = [{ x: 0, y: 0 }, { x: 10, y: 0 }];
  assert.equal(geometry.nearest(places, 7, 0, 5), places[1]);
  assert.equal(geometry.nearest(places, 5, 30, 5), null);
  assert.equal(geometry.clamped(1.2345, 1.15), 1.15);
  assert.equal(geometry.clamped(-0.1234, 1.15), -0.12);
});

test("pairs and misordered pairs are counted for each document", () => {
  const found = geometry.tallied({ winner: [0, 2, 2], loser: [1, 1, 0] }, [0.5, 0.5, 3, 9]);
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

// --- the model ------------------------------------------------------------------------------------------------

const SETTINGS = { map: "nystroem", m: 6, gamma: 2, C: 1, loss: "squaredHinge", seed: 3 };

// Documents of two queries: the farther from the middle, the higher the grade.
function world(settings = {}, seed = 1) {
  const rng = random(seed), documents = Array.from({ length: 24 }, (_, id) => {
    const [x, y] = [2 * rng.uniform() - 1, 2 * rng.uniform() - 1];
    return { id, x, y, grade: Math.min(2, Math.floor(2.5 * Math.hypot(x, y))), query: id % 2 };
  });
  return { documents: model.inOrder(documents), settings: { ...SETTINGS, ...settings }, moved: new Map(),
    turned: new Map() };
}

test("documents are trained query by query", () => {
  const queries = world().documents.map((one) => one.query);
  assert.deepEqual(queries, [...queries].sort());
  const found = model.trained(world()), { documents } = world();
  found.pairs.winner.forEach((i, k) => {
    const [one, other] = [documents[i], documents[found.pairs.loser[k]]];
    assert.ok(one.query === other.query && one.grade > other.grade);
  });
});

test("landmarks are nested, stay where others come and go, and lie where they were put", () => {
  const whole = world({ m: 8 }), few = model.landmarksOf(world({ m: 5 })), more = model.landmarksOf(whole);
  assert.deepEqual(more.slice(0, 5), few);
  const used = (one) => more.some(({ x, y }) => x === one.x && y === one.y);
  const less = { ...whole, documents: whole.documents.filter((one, k) => used(one) || k % 2) };
  assert.deepEqual(model.landmarksOf(less), more);
  whole.moved.set(2, { x: 0.5, y: -0.5 });
  assert.deepEqual(model.landmarksOf(whole)[2], { number: 2, x: 0.5, y: -0.5 });
  const twice = { ...whole, documents: whole.documents.map((one) => ({ ...one, x: one.id % 3, y: 0 })) };
  assert.equal(model.landmarksOf(twice).length, 3);
});

test("a moved frequency turns its wave, in units of √(2γ)", () => {
  const asked = world({ map: "fourier", gamma: 2 });
  asked.turned.set(1, { x: 1.5, y: -0.5 });
  const { map } = model.trained(asked);
  close(map.omega[1], 3, 1e-12);
  close(map.omega[6 + 1], -1, 1e-12);
  assert.equal(model.frequenciesOf(asked)[1].x, 1.5);
});

test("training from other weights ends at the same model, and begins at zero for its steps", () => {
  for (const map of ["linear", "nystroem", "fourier", "exact"]) {
    const asked = world({ map }), cold = model.trained(asked), start = cold.weights.map((v) => v + 0.2);
    const warm = model.trained(asked, start);
    warm.weights.forEach((v, k) => close(v, cold.weights[k], 1e-4));
    assert.ok(cold.path[0].weights.every((v) => v === 0) && cold.path.at(-1).weights === cold.weights);
    for (const other of [new Float64Array(2), new Float64Array(40)]) {
      model.trained(asked, other).weights.forEach((v, k) => close(v, cold.weights[k], 1e-2));
    }
  }
});

test("a drag trains as well as a fresh model: what it keeps belongs to where documents are now", () => {
  for (const map of ["nystroem", "fourier"]) {
    const asked = world({ map, m: 12 }), kept = {}, [landmark] = model.landmarksOf(asked);
    const drawn = asked.documents.find(({ x, y }) => x === landmark.x && y === landmark.y);
    let { weights } = model.trained(asked, new Float64Array(0), kept);
    for (let turn = 0; turn < 6; turn++) {
      if (turn % 2) drawn.x = 0.1 * turn;
      else asked.documents[3].y = -0.1 * turn;
      const found = model.trained(asked, weights, kept);
      ({ weights } = found);
      const places = Float64Array.from(asked.documents.flatMap(({ x, y }) => [x, y]));
      found.map.transform(places).forEach((v, k) => close(v, found.features[k], 1e-12));
      if (map === "nystroem") assert.equal(found.map.landmarks[1], model.landmarksOf(asked)[0].y);
      const features = found.map.transform(Float64Array.of(-model.EXTENT, model.EXTENT));
      close(model.surfaceOf(found, weights).values[0], model.scoresOf({ map: found.map, features }, weights)[0], 1e-10);
    }
    const rested = model.trained(asked);
    weights.forEach((v, k) => close(v, rested.weights[k], 0.05));
  }
});

test("the surface has the scores at the points of the grid", () => {
  for (const map of ["linear", "nystroem", "fourier"]) {
    const asked = world({ map }), found = model.trained(asked);
    const { side, values } = model.surfaceOf(found, found.weights);
    const there = { ...asked, documents: [{ id: 0, x: -model.EXTENT, y: model.EXTENT, grade: 0, query: 0 },
      { id: 1, x: model.EXTENT, y: model.EXTENT, grade: 0, query: 0 }] };
    const features = found.map.transform(Float64Array.from(there.documents.flatMap(({ x, y }) => [x, y])));
    const [left, right] = model.scoresOf({ map: found.map, features }, found.weights);
    close(values[0], left, 1e-10);
    close(values[side - 1], right, 1e-10);
  }
});

test("every loss in the menu is trained, and orders more pairs than none", () => {
  for (const loss of ["squaredHinge", "huber", "hinge", "logistic", "logisticPwq", "smoothHinge"]) {
    const found = model.trained(world({ loss, C: 4 }));
    const right = model.ordered(found.pairs, model.scoresOf(found, found.weights));
    assert.ok(right > 0.8 * found.pairs.length, `${loss}: ${right} of ${found.pairs.length}`);
  }
});

test("both approximations meet the kernel as m grows, Nyström where all documents are landmarks", () => {
  const compared = (asked) => model.kernelsOf(asked, (map) => (
    model.trained({ ...asked, settings: { ...asked.settings, map } })));
  const shares = (m) => compared(world({ m })).approximations.map((one) => one.share);
  const [few, many] = [shares(3), shares(24)];
  assert.ok(few[0] > many[0] && many[0] < 1e-8);
  assert.ok(shares(4)[1] > shares(100)[1]);
  const { side, K } = compared(world());
  assert.equal(side, 24);
  close(K[0], 1, 1e-15);
  assert.deepEqual([0.0004, 0.0123, 0.66].map(percent), ["less than 0.1 %", "1.2 %", "66 %"]);
});

test("without documents of two grades nothing is learned", () => {
  const asked = world(), equal = { ...asked, documents: asked.documents.map((one) => ({ ...one, grade: 1 })) };
  assert.ok(model.trained(equal).weights.every((v) => v === 0));
  assert.ok(model.trained(equal, Float64Array.of(1, 2)).weights.every((v) => Math.abs(v) < 1e-12));
});

// --- the answer -----------------------------------------------------------------------------------------------

test("the best direction is better than any of many, and none orders documents in one place", () => {
  for (const seed of [1, 2, 3]) {
    const { documents } = world({}, seed), own = model.trained(world({}, seed)).pairs;
    const counts = Array.from({ length: 2000 }, (_, k) => {
      const angle = (2 * Math.PI * k) / 2000, [u, v] = [Math.cos(angle), Math.sin(angle)];
      const f = documents.map(({ x, y }) => u * x + v * y);
      return model.ordered(own, f);
    });
    const best = geometry.bestDirection(documents, own), most = Math.max(...counts);
    assert.ok(best >= most && best <= most + 2, `${best} and ${most}`);
  }
  const of = (rows, y) => geometry.bestDirection(rows.map(([u, v]) => ({ x: u, y: v })), listed(y, [0, y.length]));
  assert.equal(of([[0, 0], [1, 1]], [0, 1]), 1);
  assert.equal(of([[0, 0], [-1, 0], [1, 0]], [0, 1, 1]), 1);
  assert.equal(of([[1, 0], [1, 0]], [0, 1]), 0);
  assert.equal(of([[0, 0], [1, 0]], [1, 0]), 1);
});

const PHRASES = {
  who: ["N with {m} landmark", "N with {m} landmarks"], isLinear: false, empty: "none", oneDocument: "one",
  oneGrade: "same", onlyPair: "the only pair", allPairs: "all {n} pairs", ofPair: "{right} of {n} pair ({share} %)",
  ofPairs: "{right} of {n} pairs ({share} %)", all: "all", answer: "{who}: {found}{compared}; {limit}",
  asExact: ", as exact", exact: ", exact {exact}", noLinear: "none more", noLinearAbove: "none above {direction}",
  linearAll: "linear all", linearMost: "linear {direction}",
};

test("pairs are counted in words", () => {
  assert.equal(ofPairs(PHRASES, 1, 1), "the only pair");
  assert.equal(ofPairs(PHRASES, 0, 1), "0 of 1 pair (0 %)");
  assert.equal(ofPairs(PHRASES, 999, 1000), "999 of 1,000 pairs (99 %)");
  assert.equal(ofPairs(PHRASES, 1, 1000), "1 of 1,000 pairs (1 %)");
});

test("the answer compares with the exact kernel and the best direction", () => {
  const facts = { documents: 9, pairs: 20, m: 1, right: 15, exact: 20, direction: 12 };
  assert.equal(answerOf(PHRASES, facts), "N with 1 landmark: 15 of 20 pairs (75 %), exact all; linear 12");
  assert.equal(answerOf(PHRASES, { ...facts, m: 2, right: 20, direction: 20 }),
    "N with 2 landmarks: all 20 pairs, as exact; linear all");
  const linear = { ...PHRASES, isLinear: true };
  assert.equal(answerOf(linear, { ...facts, exact: null }), "N with 1 landmark: 15 of 20 pairs (75 %); none more");
  assert.equal(answerOf(linear, { ...facts, exact: null, direction: 16 }),
    "N with 1 landmark: 15 of 20 pairs (75 %); none above 16");
  assert.equal(answerOf(PHRASES, { documents: 0, pairs: 0 }), "none");
  assert.equal(answerOf(PHRASES, { documents: 1, pairs: 0 }), "one");
  assert.equal(answerOf(PHRASES, { documents: 3, pairs: 0 }), "same");
});
