// What figures of lessons say without a browser: scales, names that no curve crosses, one colour for one thing.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import { hessian, prepared } from "../../ui/browser/core/ranking.js";
import { PROBLEM, START, bowl, curvatures } from "../../ui/browser/lessons/examples/descent.js";
import * as dual from "../../ui/browser/lessons/examples/dual.js";
import { mix } from "../../ui/browser/lessons/kit/motion.js";
import { histogram, triples } from "../../ui/browser/lessons/examples/landmarks.js";
import { SHRUNK } from "../../ui/browser/lessons/scenes/newton.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));
const SIZES = [[840, 700], [368, 432]]; // of figures in windows of 1400 and 400 pixels

test("lesson 5: -g has its true length in words, and one scale in the picture", () => {
  const stage = stageOf(read("newton")), scene = SCENES.newton(stage);
  scene.show(3, "shown", false);
  for (const at of [[-1, 2], [-2, -2], [0.5, 0.5], [2, 1]]) {
    scene.move(at);
    const { slope } = scene.facts(), arrow = stage.svg.all.find((one) => one.attributes["data-term"] === "g");
    const [x1, x2, y1, y2] = ["x1", "x2", "y1", "y2"].map((name) => Number(arrow.attributes[name]));
    assert.ok(Math.abs((Math.hypot(x2 - x1, y2 - y1) / scene.unit) * SHRUNK - slope) < 0.1, `${at}`);
    const words = stage.svg.all.map((one) => one.textContent);
    assert.ok(words.some((one) => one.includes(slope) && one.includes(`1/${SHRUNK}`)), "the key says both");
    for (const tick of ["−2", "0", "2"]) assert.equal(words.filter((one) => one === tick).length, 2, tick);
  }
});

test("lesson 5: w is the same in both planes, the tip of an arrow and a dot", () => {
  for (const [width, height] of SIZES) {
    const stage = stageOf(read("newton"), { width, height }), scene = SCENES.newton(stage);
    scene.show(0, null, false);
    for (const key of ["w", "arrow"]) {
      scene.paint.grips.get(key).nudge(5, -5);
      const [dot, tip] = ["w", "arrow"].map((name) => scene.paint.known.get(`grips ${name}`).attributes);
      const { documents, weights } = scene.boxes();
      for (const [axis, name] of [["x", "cx"], ["y", "cy"]]) {
        assert.ok(Math.abs((dot[name] - weights[axis]) - (tip[name] - documents[axis])) < 1e-9, `${axis} by ${key}`);
      }
      assert.match(stage.said.at(-1), new RegExp(scene.facts().value));
      for (const { x, y, width: side } of [documents, weights]) {
        assert.ok(x >= 0 && x + side <= width && y + side < height);
      }
    }
    assert.deepEqual(scene.w, [0, 1]);
    scene.show(1, null, false);
    assert.deepEqual(scene.w, [-1, 2], "the prediction starts where its text says");
  }
});

test("lesson 5: heights on the map are true, and none is on another", () => {
  for (const [width, height] of SIZES) {
    const stage = stageOf(read("newton"), { width, height }), scene = SCENES.newton(stage);
    for (const step of [0, 1, 2]) {
      scene.show(step, step < 2 ? null : "shown", false);
      const told = stage.svg.all.filter((one) => one.attributes.class === "height halo");
      assert.ok(told.length >= 4, `${told.length} heights in step ${step + 1}, ${width} pixels`);
      told.forEach(({ attributes: { x, y }, textContent }, k) => {
        const { value } = bowl(scene.from(Number(x), Number(y)));
        assert.ok(Math.abs(value - textContent) < 0.02 * textContent, `${value} for ${textContent}`);
        for (const { attributes: other, textContent: word } of told.slice(0, k)) {
          const near = Math.abs(x - other.x) < 4 * (textContent.length + word.length) && Math.abs(y - other.y) < 14;
          assert.ok(!near, `${textContent} on ${word}`);
        }
      });
    }
  }
});

test("lesson 2: parts of a sum carry their ranks, and the gauges have a scale", () => {
  for (const [width, height] of SIZES) {
    const stage = stageOf(read("ndcg"), { width, height }), scene = SCENES.ndcg(stage);
    scene.show(2, [0.7, 0.6, 0.65], false);
    const ranks = (row) => stage.svg.all.filter((one, k, all) => one.attributes.class === "rank"
      && all[k - 1].attributes.y === row.attributes.y).map((one) => one.textContent);
    const rows = stage.svg.all.filter((one) => one.attributes.class === "gauge");
    const [list, top, bottom] = [[1, 2, 5, 8, 9], [2, 3, 5, 8, 9], [1, 2, 5, 9, 10]].map((all) => all.map(String));
    assert.deepEqual(rows.map(ranks), [list, top, bottom]);
    const [{ attributes: gauge }] = rows;
    for (const [text, share] of [["0", 0], ["0.5", 0.5], ["1", 1]]) {
      const { x, y } = scene.paint.known.get(`back scale${text}`).attributes;
      assert.ok(Math.abs(x - gauge.x - share * gauge.width) < 0.01 && y < height, text);
    }
  }
});

test("lesson 3: no name of a loss is on a curve, on the reader's line or on the plane", () => {
  const lines = [[5, 4, 3.2, 2.4, 1.8, 1.4, 1, 0.5, 0.2, 0, 0], Array(11).fill(5), [0, 0, 0, 0, 1, 1, 2, 3, 4, 5, 5]];
  for (const [width, height] of SIZES) {
    for (const [step, guess] of [...lines.map((line) => [2, line]), [2, "shown"], [4, "shown"]]) {
      const stage = stageOf(read("loss"), { width, height }), scene = SCENES.loss(stage);
      scene.show(step, guess, false);
      const all = stage.svg.all, { cx, cy, r } = scene.inset();
      const points = all.filter((one) => /^(loss |sketch)/.test(one.attributes.class)).flatMap((one) => onPath(one));
      const names = all.filter((one) => /loss-name/.test(one.attributes.class));
      assert.equal(names.length, 4);
      for (const { attributes: { x, y }, textContent } of names) {
        const half = 4.7 * textContent.length, on = ([u, v]) => Math.abs(u - x) < half && Math.abs(v - y) < 9;
        assert.deepEqual(points.filter(on), [], `${textContent}, step ${step + 1}, ${width} pixels`);
        if (step === 4) assert.ok(Math.hypot(Math.max(cx - half - x, 0), cy - y) >= r - 9, textContent);
      }
    }
  }
});

test("lesson 4: no name of a curve is on a curve or on another name", () => {
  for (const [width, height] of SIZES) {
    const drawn = [0.85, 0.87, 0.9, 0.92, 0.95, 0.94, 0.9, 0.8];
    for (const [step, guess] of [[2, drawn], [2, Array(8).fill(1)], [3, "shown"], [4, "shown"]]) {
      const stage = stageOf(read("regularisation"), { width, height }), scene = SCENES.regularisation(stage);
      scene.show(step, guess, false);
      const { training, validation, mine } = stage.words, words = [training, validation, mine];
      const curves = stage.svg.all.filter((one) => one.tag === "path" && /L.*L.*L.*L/.test(one.attributes.d)
        && one.parent.attributes.class === "layer-lines");
      assert.equal(curves.length, Array.isArray(guess) ? 3 : 2);
      const names = stage.svg.all.filter((one) => words.includes(one.textContent)), points = curves.flatMap(onPath);
      assert.equal(names.length, curves.length);
      for (const { attributes: { x, y }, textContent } of names) {
        const on = ([u, v]) => Math.abs(u - x) < 4 * textContent.length - 1 && Math.abs(v - y) < 8;
        assert.deepEqual(points.filter(on), [], `${textContent}, step ${step + 1}, ${width} pixels`);
      }
    }
  }
});

// Points on the straight parts of a path, a pixel apart.
function onPath({ attributes: { d } }) {
  let [x, y] = [0, 0];
  return d.match(/[MLHV][^MLHV]*/g).flatMap((part) => {
    const [kind, [a, b]] = [part[0], part.slice(1).trim().split(" ").map(Number)], from = [x, y];
    [x, y] = kind === "H" ? [a, y] : kind === "V" ? [x, a] : [a, b];
    const n = kind === "M" ? 1 : Math.ceil(Math.hypot(x - from[0], y - from[1])) + 1;
    return Array.from({ length: n }, (_, k) => [0, 1].map((axis) => mix([x, y][axis], from[axis], k / n)));
  });
}

test("lesson 7 shows K wherever it shows K̃, and the reader's choice has one colour", () => {
  for (const [width, height] of [...SIZES, [620, 565]]) {
    const stage = stageOf(read("nystroem"), { width, height }), scene = SCENES.nystroem(stage), { words } = stage;
    const find = (holds) => stage.svg.all.filter(holds);
    const diamonds = () => find((one) => one.tag === "path" && one.attributes["data-term"] === "W");
    const isOurs = (one) => one.attributes.style.includes("var(--guess)");
    for (const step of [1, 2, 3, 4]) {
      scene.show(step, [3, 20, 35], false);
      const named = find((one) => ["K", "K̃"].includes(one.textContent)).map((one) => one.textContent);
      assert.deepEqual(named, step === 1 ? ["K"] : ["K", "K̃"]);
      for (const { x, y, width: side } of scene.maps) {
        const inside = x >= 0 && x + side <= width && y + side <= height;
        assert.ok(inside && side > (width > 400 ? 180 : 100), `step ${step + 1}, ${width} pixels`);
        if (scene.below) assert.ok(scene.below.height > 110, `step ${step + 1}, ${width} pixels: room for the chart`);
      }
      assert.ok(diamonds().length === 3 && diamonds().every(isOurs), `step ${step + 1}`);
    }
    scene.paint.grips.get("m").nudge(1, 0);
    assert.ok(!diamonds().some(isOurs), "k-means++ chose these");
    scene.show(2, [3, 20, 35], false);
    const ours = find((one) => one.textContent.includes(words.mine));
    assert.ok(ours.length === 2 && ours.every(isOurs), "in the plane and in the histogram");
  }
});

test("a slider stands above its value on the chart below", () => {
  const cases = [["regularisation", "C", "now validation"], ["kernel", "gamma", "now validation"],
    ["nystroem", "m", "now error"], ["fourier", "m", "now"]];
  for (const [width, height] of SIZES) {
    for (const [name, knob, point] of cases) {
      const scene = SCENES[name](stageOf(read(name), { width, height }));
      scene.show(4, "shown", false);
      for (const by of [2, 1]) {
        scene.paint.grips.get(knob).nudge(by, 0);
        const place = (key) => scene.paint.known.get(key).attributes.cx;
        const [above, below] = [`grips ${knob}`, `over ${point}`].map(place);
        assert.ok(Math.abs(above - below) < 0.01, `${name}, ${width} pixels: ${above} and ${below}`);
      }
    }
  }
});

test("points of a curve that are not drawn yet wait level with the first", () => {
  for (const name of ["loss", "regularisation"]) {
    const scene = SCENES[name](stageOf(read(name)));
    scene.show(1, null, false);
    scene.paint.grips.get("sketch 3").nudge(0, 5);
    const heights = scene.sketch.xs.map((_, k) => scene.paint.known.get(`grips sketch ${k}`).attributes.cy);
    assert.equal(new Set(heights).size, 1, name);
  }
});

test("lesson 1 names its axes and ticks inside the figure", () => {
  for (const [width, height] of SIZES) {
    const stage = stageOf(read("pairs"), { width, height }), scene = SCENES.pairs(stage);
    for (const step of [0, 1, 2, 3, 4]) {
      scene.show(step, step < 2 ? null : "shown", false);
      const { features, score, tick } = stage.words, ticks = step === 2 || step === 4 ? [tick] : [];
      const named = [...features, score, ...ticks];
      const found = stage.svg.all.filter((one) => named.includes(one.textContent));
      assert.deepEqual(found.map((one) => one.textContent).sort(), [...named].sort());
      for (const { attributes: { x, y } } of found) assert.ok(x >= 0 && x <= width && y > 0 && y < height);
    }
  }
});

test("lesson 4: the curves have their names while they still grow", () => {
  const stage = stageOf(read("regularisation")), scene = SCENES.regularisation(stage);
  scene.show(2, "shown", false);
  const { known } = scene.paint, names = ["training", "validation"];
  const places = () => names.map((name) => known.get(`labels of ${name}`)?.attributes.x);
  const end = places();
  scene.train(-8);
  assert.deepEqual(places(), end);
  assert.ok(end.every(Boolean));
});

test("lesson 7: no row stays lit after a landmark was chosen, and the axis of choices reaches the tallest bar", () => {
  const scene = SCENES.nystroem(stageOf(read("nystroem")));
  scene.show(4, "shown", false);
  const grip = scene.paint.grips.get("doc7");
  grip.element.onpointerenter();
  assert.ok(scene.paint.known.get("over row"));
  grip.press();
  assert.equal(scene.paint.known.get("over row"), undefined);
  scene.show(2, "shown", false);
  const { errors } = triples(), most = Math.max(...histogram(errors, 60));
  const ticks = [0, 1, 2].map((k) => Number(scene.paint.known.get(`back all y${k}`).textContent));
  assert.ok(ticks[0] === 0 && Math.abs(ticks[2] / most - 1) < 0.1, `${ticks}`);
});

test("lesson 2: a number stands on its bar, and the line of the gap below the numbers of ranks", () => {
  const scene = SCENES.ndcg(stageOf(read("ndcg")));
  const at = (key, name) => Number(scene.paint.known.get(key).attributes[name]);
  scene.show(2, [0.7, 0.6, 0.65], false);
  assert.ok(Math.abs(at("over told7", "y") + 11 - at("back part7", "y")) < 0.01);
  assert.ok(at("over gap0", "y1") > at("back rank0.0", "y") + 8);
});

test("lesson 3: a penalty above the figure has a mark of its own, none on the edge", () => {
  const scene = SCENES.loss(stageOf(read("loss")));
  scene.show(4, "shown", false);
  scene.w = scene.w.map((one) => -8 * one);
  scene.draw();
  const dots = [...scene.paint.known.values()].filter((one) => one.attributes.class?.startsWith("pair-dot"));
  assert.deepEqual([...new Set(dots.map((one) => one.tag))].sort(), ["circle", "path"]);
});

test("lesson 9: both cuts need the same number while all pairs pull, and with the smallest C the rank is 4", () => {
  const scene = SCENES.alpha(stageOf(read("alpha"))), { grips } = scene.paint, told = () => scene.facts().same;
  scene.show(4, "shown", false);
  assert.match(told(), /Again it needs 4/);
  assert.equal(dual.tables(dual.trained(-5), -5).length, 4);
  grips.get("error").nudge(1, 0);
  assert.equal(told(), "");
  grips.get("error").nudge(-1, 0);
  grips.get("C").nudge(9, 0);
  assert.equal(told(), "");
  grips.get("C").nudge(-12, 0);
  assert.equal(scene.facts().rank, "4");
  grips.get("logistic").press();
  assert.deepEqual([scene.facts().rank, told()], ["4", ""]);
  assert.match(scene.facts().changes, /can be higher/);
  grips.get("C").nudge(12, 0);
  assert.ok(Number(scene.facts().rank) > 4);
});

test("lesson 9: on a phone, too, a table is no wider than α above it", () => {
  const scene = SCENES.alpha(stageOf(read("alpha"), { width: 640, height: 580 }));
  scene.show(2, "shown", false);
  const { map, added } = scene.boxes();
  assert.equal(added.width, map.width);
});

test("lesson 5: with a small C all rings are nearly circles, with that of the lesson they are long", () => {
  for (const w of [START, [0, 0], [2, 2]]) {
    const [a, b, , c] = hessian(Float64Array.from(w), prepared({ ...PROBLEM, C: 2 ** -6 }));
    assert.ok(a * c - b * b > 0.24 * (a + c) ** 2, `${w}`); // of a circle 0.25
  }
  assert.ok(curvatures(START)[0] / curvatures(START)[1] > 10);
});

test("lesson 4: the best C follows “Queries twice”, and a line of the formula's step has its C as a name", () => {
  const stage = stageOf(read("regularisation")), scene = SCENES.regularisation(stage);
  scene.show(3, "shown", false);
  assert.equal(scene.paint.known.get("labels C name").textContent, "C = 2⁻⁵");
  scene.show(4, "shown", false);
  assert.deepEqual([scene.facts().bestC, scene.facts().mendedC], ["2⁻⁵", "2⁻²"]);
  scene.paint.grips.get("twice").press();
  assert.deepEqual([scene.facts().bestC, scene.facts().mendedC], ["2⁻⁶", "2⁻³"]);
});

test("lesson 6: the circle of γ is there only while γ is chosen", () => {
  const scene = SCENES.kernel(stageOf(read("kernel"))), circle = () => scene.paint.known.has("lines reach");
  scene.show(3, "shown", false);
  assert.ok(!circle());
  scene.light("gamma");
  assert.ok(circle());
});
