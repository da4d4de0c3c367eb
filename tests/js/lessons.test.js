import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";

import { LOSSES } from "../../ui/browser/core/ranking.js";
import { apart } from "../../ui/browser/lessons/kit/parts.js";
import { bridged, Sketch } from "../../ui/browser/lessons/kit/sketch.js";
import { SHOWN as ANSWER, asGuess, asText, filled, number } from "../../ui/browser/lessons/kit/words.js";
import { fromHash, toHash } from "../../ui/browser/lessons/alone.js";
import { allowed } from "../../ui/browser/lessons/lesson.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";
import * as descent from "../../ui/browser/lessons/examples/descent.js";
import * as lists from "../../ui/browser/lessons/examples/lists.js";
import * as pulls from "../../ui/browser/lessons/examples/pulls.js";
import * as turning from "../../ui/browser/lessons/examples/turning.js";
import * as wrongGrade from "../../ui/browser/lessons/examples/wrong_grade.js";
import { MARK } from "../../ui/browser/lessons/scenes/regularisation.js";
import { stageOf } from "./lesson_stage.js";

const close = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) < by, `${a} and ${b}`);
const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const text = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS), "utf8"));
const LINES = turning.linesOf(turning.GRADES, turning.PTR, turning.ACROSS);

test("the reveal needs a prediction, or the wish to see the answer", () => {
  assert.deepEqual([0, 1, 2, 4, 9, -3, NaN].map((step) => allowed(step, null)), [0, 1, 1, 1, 1, 0, 0]);
  assert.deepEqual([0, 2, 4, 9].map((step) => allowed(step, ANSWER)), [0, 2, 4, 4]);
  assert.equal(allowed(3, [0.5]), 3);
});

test("predictions survive an address", () => {
  for (const guess of [null, ANSWER, [1, 0, -2.5], [0.123]]) assert.deepEqual(asGuess(asText(guess)), guess);
  assert.equal(asGuess("1_x"), null);
  assert.equal(asText([1 / 3]), "0.333");
});

test("the hash of a file has the state; unknown lessons lead to the first one", () => {
  const order = ["pairs", "ndcg"];
  for (const state of [{ lesson: "ndcg", step: 2, guess: "1_0.5" }, { lesson: "pairs", step: 0, guess: "" }]) {
    assert.deepEqual(fromHash(toHash(state), order), state);
  }
  assert.equal(toHash({ lesson: "ndcg", step: 2, guess: "1_0.5" }), "#lesson=ndcg&step=3&guess=1_0.5");
  for (const hash of ["", "#", "#lesson=nosuch&step=3"]) {
    assert.deepEqual(fromHash(hash, order), { lesson: "pairs", step: 0, guess: "" });
  }
});

test("names in braces are filled, others stay, and minus signs are long", () => {
  assert.equal(filled("{a} of {b}, {c}", { a: "2", b: "3" }), "2 of 3, {c}");
  assert.equal(filled("{a} % of {n} × 3", { a: "5", n: "40" }), "5\u00a0% of 40\u00a0×\u00a03", "on one line");
  assert.equal(filled("From C = {c} to 4", { c: "2" }), "From C\u00a0=\u00a02 to 4");
  assert.deepEqual([-0.001, -1.239, 2].map((one) => number(one)), ["0.00", "−1.24", "2.00"]);
});

test("every lesson has a scene, five steps, and the terms of its formula", () => {
  const order = text("frame").lessons, files = readdirSync(TEXTS).map((name) => name.replace(".json", ""));
  assert.deepEqual([...order, "frame"].sort(), files.sort());
  for (const name of order) {
    const one = text(name), terms = [...new Set(JSON.stringify(one.formula).match(/"term":"\w+"/g))].length;
    assert.equal(one.scene, name);
    assert.ok(SCENES[name]);
    assert.equal(one.steps.length, 5);
    assert.ok(one.steps[2].gap.axis && one.steps[2].shown && one.steps[4].ask);
    assert.equal(Object.keys(one.terms).length, terms);
  }
});

test("only texts about keys speak of keys, and none speaks of a mouse alone", () => {
  for (const name of text("frame").lessons) {
    for (const { keys = "Tab", ...step } of text(name).steps) {
      assert.doesNotMatch(JSON.stringify(step), /\bTab\b|Enter|arrow keys|Point |\bClick|[^-]click/, name);
      assert.match(keys, /Tab/);
    }
  }
});

test("a pair turns exactly where its projections cross", () => {
  for (const line of LINES.filter((one) => one.counts)) {
    for (const degrees of turning.turning(line, turning.PLACES)) {
      close(turning.margin(line, turning.PLACES, turning.direction(degrees)), 0);
      const [before, after] = [-0.01, 0.01].map((by) => turning.wrongAt([line], turning.PLACES, degrees + by)[0]);
      assert.notEqual(before, after);
    }
  }
});

test("the turn of lesson 1 changes pairs both ways, and no arrow has all pairs right", () => {
  const wrong = (degrees) => turning.wrongAt(LINES, turning.PLACES, degrees);
  const [before, after] = [turning.FROM, turning.FROM + turning.TURN].map(wrong);
  assert.ok(before.some((one, k) => one && !after[k]) && before.some((one, k) => !one && after[k]));
  const best = Math.min(...Array.from({ length: 3600 }, (_, k) => wrong(k / 10).filter(Boolean).length));
  assert.equal(best, 1);
});

test("a line across queries is never wrong, though its projections change their order", () => {
  const across = LINES.filter((one) => !one.counts), ends = [turning.FROM, turning.FROM + turning.TURN];
  const signs = across.map((line) => ends.map((degrees) => (
    Math.sign(turning.margin(line, turning.PLACES, turning.direction(degrees))))));
  assert.ok(signs.filter(([before, after]) => before > 0 && after < 0).length >= 2);
  assert.ok(signs.every(([before]) => before > 0), "else a grey line would contradict the text of step 1");
  assert.ok(ends.every((degrees) => turning.wrongAt(across, turning.PLACES, degrees).every((one) => !one)));
});

test("the gap counts lines that are judged otherwise", () => {
  const lines = [true, true, true, true, false].map((counts) => ({ counts }));
  const found = turning.gapOf([true, false, false, true, true], [true, true, true, false, false], lines);
  assert.deepEqual(found, { gap: 4, hits: 1, missed: 2, over: 2, across: 1 });
});

test("marks of lesson 4 do not hide each other, and move less than their width", () => {
  for (const side of [280, 400]) {
    const points = wrongGrade.GRADES.map((_, i) => [0, 1].map((k) => (wrongGrade.X[2 * i + k] * side) / 2.5));
    const moved = apart(points, MARK);
    moved.forEach((a, i) => {
      assert.ok(Math.hypot(a[0] - points[i][0], a[1] - points[i][1]) < MARK);
      for (const b of moved.slice(0, i)) assert.ok(Math.hypot(a[0] - b[0], a[1] - b[1]) > 0.95 * MARK);
    });
  }
  assert.deepEqual(apart([[0, 0], [30, 0]], MARK), [[0, 0], [30, 0]]);
  assert.deepEqual(apart([[0, 0], [0, 0]], 10), [[-5, 0], [5, 0]]);
});

test("both swaps of lesson 2 misorder as many pairs, and the upper one costs more", () => {
  const [now, top, bottom] = [lists.LIST, ...lists.SWAPS.map((swap) => lists.swapped(lists.LIST, swap))];
  assert.equal(lists.wrongPairs(top), lists.wrongPairs(bottom));
  assert.equal(lists.wrongPairs(top) - lists.wrongPairs(now), 3);
  const [a, b, c] = lists.TRUTH;
  assert.ok(a - b > 10 * (a - c) && a > c);
  close(a, (3 + 1 + 1 / Math.log2(5) + 3 / Math.log2(8) + 1 / Math.log2(9))
    / (3 + 3 + 1 / Math.log2(3) + 1 / Math.log2(4) + 1 / Math.log2(5)));
});

test("ranks 1 and 2 weigh the same under LETOR, and not in the textbook", () => {
  const other = lists.swapped(lists.LIST, [0, 1]);
  close(lists.quality(other), lists.quality(lists.LIST));
  assert.ok(lists.quality(other, "textbook") < lists.quality(lists.LIST, "textbook"));
});

test("tied documents leave a range that has every order of theirs", () => {
  const tied = lists.LIST.map((_, at) => at === 1 || at === 2), [low, high] = lists.bounds(lists.LIST, tied, "letor");
  const orders = [[1, 0, 0], [0, 1, 0], [0, 0, 1]].map((middle) => [2, ...middle, ...lists.LIST.slice(4)]);
  const values = orders.map((grades) => lists.quality(grades));
  close(low, Math.min(...values));
  close(high, Math.max(...values));
  assert.deepEqual(lists.moved([1, 2, 3, 4], 3, 1), [1, 4, 2, 3]);
});

test("a drawn loss is nearest to itself", () => {
  for (const loss of pulls.SHOWN) {
    const [nearest] = pulls.distances(pulls.MARGINS.map((t) => pulls.shown(loss, t)));
    assert.deepEqual(nearest, { loss, gap: 0 });
  }
  close(pulls.distances(pulls.MARGINS.map((t) => pulls.shown("hinge", t) + 0.25))[0].gap, 0.25);
});

test("the pulls of all pairs are minus the gradient of the total loss", () => {
  const w = [0.4, 0.9], total = (v, loss) => pulls.pulled(loss, v).reduce((sum, { cost }) => sum + cost, 0), h = 1e-6;
  for (const loss of ["squaredHinge", "logistic"]) {
    const force = pulls.together(pulls.pulled(loss, w));
    [[h, 0], [0, h]].forEach(([x, y], axis) => {
      const slope = (total([w[0] + x, w[1] + y], loss) - total([w[0] - x, w[1] - y], loss)) / (2 * h);
      close(force[axis], -slope, 1e-5);
    });
  }
  assert.ok(pulls.pulled("squaredHinge", [3, 3]).some(({ pull }) => pull === 0), "silent pairs");
  assert.ok(pulls.pulled("logistic", [3, 3]).every(({ pull }) => pull > 0));
  assert.equal(LOSSES.hinge.value(2), 0);
});

test("a stroke sets every value that it passes, and gaps are bridged", () => {
  const sketch = new Sketch([0, 1, 2, 3, 4], [0, 2], 0.5);
  assert.equal(sketch.values(), null);
  sketch.stroke(0, 0);
  sketch.stroke(4, 9);
  assert.deepEqual(sketch.drawn, [0, 0.5, 1, 1.5, 2]);
  assert.deepEqual(sketch.values(), sketch.drawn);
  assert.deepEqual(bridged([null, 1, null, 3, null]), [1, 1, 2, 3, 3]);
  assert.ok(sketch.fits([0, 0, 0, 0, 2]) && !sketch.fits([0, 0]) && !sketch.fits([0, 0, 0, 0, 3]));
});

test("keys move each handle from where it is drawn", () => {
  const sketch = new Sketch([0, 1, 2, 3], [0, 2], 0.5);
  assert.deepEqual(sketch.heights(), [0, 0, 0, 0]);
  sketch.nudge(1, 3);
  assert.deepEqual(sketch.heights(), [1.5, 1.5, 1.5, 1.5]);
  sketch.nudge(3, -1);
  assert.deepEqual(sketch.heights(), [1.5, 1.5, 1.25, 1]);
});

test("a straight stroke is drawn straight, and a value that is dragged up follows", () => {
  const sketch = new Sketch([0, 1, 2, 3, 4], [0, 2], 0.5);
  for (let x = 0; x < 4.01; x += 0.13) sketch.stroke(x, 2 - x / 2);
  sketch.stroke(4, 0);
  sketch.drawn.forEach((value, k) => close(value, 2 - k / 2, 0.1));
  sketch.last = null;
  for (const [x, y] of [[2.05, 0.2], [1.95, 0.6], [2.1, 1.4], [2.05, 1.9]]) sketch.stroke(x, y);
  assert.equal(sketch.drawn[2], 1.9);
});

test("Newton's step lands at the lowest point of the quadratic, and few steps end it", () => {
  const { START, BEST } = descent, { gradient, H, lowest } = descent.bowl(START);
  const [u, v] = lowest.map((one, axis) => one - START[axis]);
  close(gradient[0] + H[0] * u + H[1] * v, 0);
  close(gradient[1] + H[2] * u + H[3] * v, 0);
  const [newton, slow] = [descent.newtonPath(START), descent.gradientPath(START)];
  for (const path of [newton, slow]) {
    path.at(-1).forEach((one, axis) => close(one, BEST.weights[axis], 0.01));
  }
  assert.ok(newton.length - 1 <= 3 && slow.length > 2 * newton.length, `${newton.length} and ${slow.length}`);
  assert.ok(descent.crossed(START, lowest).length > 0 && descent.distance(lowest, newton.at(-1)) > 0.3);
});

test("rings of the quadratic pass through the point, and lie on one level", () => {
  const { START } = descent, { gradient, H } = descent.bowl(START), points = descent.ring(START, 1);
  const quadratic = ([x, y]) => {
    const [u, v] = [x - START[0], y - START[1]];
    return gradient[0] * u + gradient[1] * v + (H[0] * u * u + 2 * H[1] * u * v + H[3] * v * v) / 2;
  };
  for (const point of points) close(quadratic(point), 0, 1e-6);
  assert.ok(points.some((point) => descent.distance(point, START) < 0.4));
});

test("the arcs of lesson 5 are near w, each closer to the middle", () => {
  const { START } = descent, { lowest } = descent.bowl(START), whole = descent.ring(START, 1, 720);
  const arcs = descent.nearRings(START, 0.9);
  assert.ok(arcs.length >= 3);
  arcs.forEach((arc, k) => arc.forEach((point, at) => {
    assert.ok(descent.distance(point, START) < 0.9 && (at === 0 || descent.distance(point, arc[at - 1]) < 0.2));
    const outer = point.map((one, axis) => lowest[axis] + (one - lowest[axis]) / descent.SHARES[k]);
    assert.ok(whole.some((one) => descent.distance(one, outer) < 1e-9));
  }));
});

test("on its line a pair has margin 1, and the first jump of lesson 5 crosses each line that is drawn", () => {
  const { SITES, PROBLEM: { pairs: { winner, loser } }, START } = descent, { lowest } = descent.bowl(START);
  const margin = (k, [x, y]) => (
    x * (SITES[winner[k]][0] - SITES[loser[k]][0]) + y * (SITES[winner[k]][1] - SITES[loser[k]][1]));
  const found = descent.crossed(START, lowest), lines = descent.kinks(found);
  assert.equal(lines.length, found.length);
  found.forEach((k, at) => {
    for (const end of lines[at]) close(margin(k, end), 1);
    assert.ok((margin(k, START) - 1) * (margin(k, lowest) - 1) < 0);
  });
});

test("some starts make the first jump go too far, as the open question of lesson 5 says", () => {
  const value = (w) => descent.bowl(w).value;
  assert.ok([[2, 2], [2, -2]].some((start) => value(descent.bowl(start).lowest) > value(start)));
});

// The grips of a scene, moved by keys and by a pointer.
function handle(scene) {
  for (const key of [...scene.paint.grips.keys()]) {
    const grip = scene.paint.grips.get(key);
    if (!grip) continue;
    grip.drag?.(150, 120);
    grip.drop?.();
    grip.nudge?.(0, 1);
    (grip.enter ?? grip.press)?.();
  }
}

for (const name of text("frame").lessons) {
  test(`every step of "${name}" is drawn at all sizes, and has all facts that its texts name`, () => {
    for (const [width, height] of [[640, 550], [0, 0]]) {
      const own = text(name), place = stageOf(own, { width, height }), scene = SCENES[name](place);
      own.steps.forEach((step, k) => {
        scene.show(k, k < 2 ? null : ANSWER, true);
        if (k !== 2) handle(scene);
        const guess = scene.guess();
        if (guess) assert.ok(scene.fits(guess) && !scene.fits([]), "a prediction fits");
        if (k >= 2) scene.show(k, guess, false);
        const gap = Object.values({ ...step.gap, ends: [] }).flat();
        const told = [step.head, ...step.text, ...(step.shown ?? []), ...gap, step.help ?? "", step.keys ?? "",
          ...(k === 3 ? Object.values(own.terms) : []), ...place.said].map((one) => filled(one, scene.facts()));
        assert.ok(!told.some((one) => /[{}]|undefined|NaN/.test(one)), told.join(" | "));
        for (const one of [...Object.keys(own.terms), null]) scene.light(one);
        const drawn = place.svg.all.flatMap((one) => [...Object.values(one.attributes), one.textContent]);
        assert.ok(!drawn.some((one) => /NaN|undefined|null/.test(one)), `NaN in step ${k} at ${width} pixels`);
        const sizes = place.svg.all.flatMap(({ attributes }) => ["width", "height", "r"].map((one) => attributes[one]));
        assert.ok(!sizes.some((one) => Number(one) < 0), `a negative size in step ${k} at ${width} pixels`);
        assert.match(scene.link(), /^(\w+(\?\S+)?)?$/);
      });
      scene.stop();
    }
  });
}
