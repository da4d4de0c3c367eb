// The reasons that lessons 1, 4 and 7 to 9 give are true, and their figures show them.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import * as data from "../../ui/browser/lessons/examples/approximation.js";
import { mean } from "../../ui/browser/lessons/examples/documents.js";
import * as dual from "../../ui/browser/lessons/examples/dual.js";
import * as nystroem from "../../ui/browser/lessons/examples/landmarks.js";
import { filled } from "../../ui/browser/lessons/kit/words.js";
import * as alpha from "../../ui/browser/lessons/scenes/alpha.js";
import * as fourier from "../../ui/browser/lessons/scenes/fourier.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));
const SIZES = [[840, 700], [635, 550], [368, 432]];
const shown = (name, step, guess = "shown", size = {}) => {
  const text = read(name), stage = stageOf(text, size), scene = SCENES[name](stage);
  scene.show(step, guess, false);
  return { text, stage, scene, of: (key) => scene.paint.known.get(key)?.attributes };
};
const close = (a, b, by = 1e-9) => assert.ok(Math.abs(a - b) <= by, `${a} and ${b}`);
const asNumber = (told) => Number(told.replace("−", "-"));
const evaluated = (sum) => sum.replace(/ ([+−]) /g, "|$1").split("|").reduce((all, part) => (
  all + part.replace("+", "").split(" × ").map(asNumber).reduce((a, b) => a * b)), 0); // of "a × b − c × d"

test("no sentence of a lesson's text has more than 20 words where a reader was lost", () => {
  const told = [[read("alpha"), [2, 4]], [read("nystroem"), [3]], [read("regularisation"), [0, 1, 4]],
    [read("fourier"), [0, 2]]].flatMap(([{ steps, terms }, own]) => (
    [...own.flatMap((k) => steps[k].text), terms?.W ?? ""]));
  for (const sentence of told.join(" ").replace(/\{(halved|same)\}/g, "").split(/[.:?]\s/)) {
    assert.ok(sentence.split(/\s+/).filter((word) => /\p{L}/u.test(word)).length <= 20, sentence);
  }
});

test("lesson 1: the name of the margin is on no line of its pair, and a faded document keeps its number", () => {
  for (const [width, height] of SIZES) {
    const { scene, of } = shown("pairs", 3, "shown", { width, height });
    for (let angle = 0; angle < 360; angle += 5) {
      scene.turnTo(angle);
      const { x, y } = of("over t name"), line = of("lines pair0"), at = (name) => Number(line[name]);
      const [dx, dy] = [at("x2") - at("x1"), at("y2") - at("y1")];
      assert.ok(Math.abs(dx * (y - at("y1")) - dy * (x - at("x1"))) / Math.hypot(dx, dy) > 9, `${angle}°, ${width}`);
    }
  }
  const { scene, of } = shown("pairs", 3);
  const faded = scene.places.map((_, k) => of(`marks doc${k} grade`)).filter((one) => / dim$/.test(one.class));
  assert.ok(faded.length === 6 && faded.every((one) => one.style === "fill:var(--ink)"));
});

test("lesson 4: at the best C the right grade costs NDCG, as its arrow stops before the best direction", () => {
  const { text, scene } = shown("regularisation", 4), told = () => filled(text.steps[4].text.join(" "), scene.facts());
  const { best, lower, short, goal, pushed } = scene.facts();
  assert.ok(Number(lower) < best - 0.02);
  assert.ok(Number(short) < goal && Math.abs(pushed - goal) < Math.abs(short - goal) / 2);
  scene.paint.grips.get("mended").press();
  assert.deepEqual([scene.facts().validation, scene.facts().angle], [lower, short]);
  assert.doesNotMatch(told(), /halves|[{}]/);
  scene.paint.grips.get("twice").press();
  assert.match(told(), /2⁻³ instead of 2⁻⁶\. If every query counts twice, both halve\./);
  assert.deepEqual([scene.facts().best, scene.facts().lower], [best, lower]);
});

test("lesson 6: the sentences of the reveal have their last numbers from the start", () => {
  const { scene } = shown("kernel", 2, [0, 56, 68, 130, 257, 130, 68, 56, 0]), last = scene.facts();
  scene.train(-2);
  assert.notEqual(scene.model.training.toFixed(2), (last.training / 100).toFixed(2));
  for (const name of ["training", "validation", "bumps", "gap"]) assert.equal(scene.facts()[name], last[name]);
});

test("lesson 6: the numbers of the cross are those of its figure, and their sum is its score", () => {
  const { scene, of } = shown("kernel", 3), { height, s, part, lifts, sinks, score } = scene.facts();
  const { map, weights } = scene.model, at = (key) => [Number(of(`over ${key}`).cx), Number(of(`over ${key}`).cy)];
  close(map.surface(weights, [0], [0.8])[0], score, 0.0051);
  close(asNumber(lifts) + asNumber(sinks), score, 0.011); // as shown
  close(asNumber(height) * s, asNumber(part), 0.011);
  const [x, y] = scene.plane.at([0, 0.8]), far = ([u, v]) => Math.hypot(u - x, v - y);
  const documents = [...map.kept].map((i) => scene.plane.at(scene.place(i)));
  assert.deepEqual(at("near"), documents.reduce((a, b) => (far(b) < far(a) ? b : a)));
});

test("lesson 7: the mix of a document is as similar to each landmark, and gives its cell of K̃", () => {
  for (const chosen of [[3, 20, 35], [0, 5, 39], [18, 20, 22], data.drawLandmarks("kmeans", 0, 3)]) {
    const { scene } = shown("nystroem", 3, chosen), { s1, s2, s3, mixed, plain, sum, inK, without } = scene.facts();
    const { x, z } = scene.example, W = nystroem.similarities(chosen), at = (i, j) => data.KERNEL[i * data.N + j];
    const shares = nystroem.inverseOf(chosen).map((row) => (
      row.reduce((all, value, k) => all + value * at(x, chosen[k]), 0)));
    [s1, s2, s3].forEach((share, k) => close(shares[k], asNumber(share), 0.0051));
    W.forEach((row, p) => close(row.reduce((all, value, k) => all + value * shares[k], 0), at(x, chosen[p])));
    const cell = data.approximation(data.landmarkMap(chosen)).values[x * data.N + z];
    close(cell, sum, 0.0051);
    assert.equal(evaluated(mixed).toFixed(2), sum, "as shown");
    close(at(x, z), inK, 0.0051);
    const unmixed = chosen.reduce((all, l) => all + at(x, l) * at(z, l), 0);
    close(unmixed, without, 0.0051);
    assert.equal(evaluated(plain).toFixed(2), without, "as shown");
    assert.ok(Math.abs(cell - inK) < 0.06 && Math.abs(without - inK) > Math.abs(sum - inK) + 0.05, "W⁻¹ helps");
  }
});

test("lesson 7: a share is a similarity without what the other shares bring", () => {
  for (const chosen of [[3, 20, 35], [0, 5, 39], [18, 20, 22]]) {
    const W = nystroem.similarities(chosen), { tables, one, other, x, row, others, worked, ...found } = (
      nystroem.example(chosen));
    const lines = tables.split("\n").map((line) => line.split(/\s+/).map(asNumber));
    lines.forEach((line, i) => W[i].forEach((weight, j) => close(weight, line[j], 0.0051)));
    const [sum, share] = worked.split(" = "), told = found[`s${row}`], [i, j] = others.split(" and ").map(Number);
    assert.deepEqual([row, i, j].sort(), [1, 2, 3]);
    if (share) {
      const [first, ...rest] = sum.split(/ [−+] /), factors = rest.map((part) => part.split(" × ").map(asNumber));
      close(asNumber(first), data.KERNEL[x * data.N + chosen[row - 1]], 0.0051);
      factors.forEach(([s, weight], k) => {
        close(weight, W[row - 1][[i, j][k] - 1], 0.0051);
        close(Math.abs(asNumber(found[`s${[i, j][k]}`])), s);
      });
      assert.equal(evaluated(sum.replace(first, `${first} × 1`)).toFixed(2), told.replace("−", "-"), "as shown");
    } else assert.ok(worked === told && Math.max(...nystroem.inverseOf(chosen).flat()) > 5, "large shares lack digits");
    assert.ok(W.every((line, k) => line.every((weight, l) => k === l || weight <= W[one - 1][other - 1])));
  }
});

test("lesson 7: landmarks have their numbers, in the order of the rows of W, also where they are close", () => {
  for (const [width, height] of SIZES) {
    const { scene, of } = shown("nystroem", 3, [3, 20, 35], { width, height });
    [3, 20, 35].forEach((i, k) => {
      const name = scene.paint.known.get(`labels name ${k + 1}`), { cx, cy } = of(`marks doc${i}`);
      assert.equal(name.textContent, String(k + 1));
      const far = (one) => Math.hypot(name.attributes.x - one.cx, name.attributes.y - one.cy);
      assert.ok(far({ cx, cy }) < 26);
      const docs = data.GRADES.map((_, j) => of(`marks doc${j}`)).filter((one) => far(one) < 13);
      assert.deepEqual(docs, [], "on no document");
    });
  }
  assert.equal(shown("nystroem", 2).of("labels name 1"), undefined);
});

test("lesson 7: no ring of an earlier click stays when the slider draws landmarks, and red has its number", () => {
  const { scene, of, stage } = shown("nystroem", 4);
  scene.point(7);
  assert.ok(of("over pointed"));
  scene.paint.grips.get("m").nudge(1, 0);
  assert.equal(of("over pointed"), undefined);
  assert.ok(stage.svg.all.some((one) => one.textContent === "error (red = 1)"));
});

test("lesson 8: twice the product of two waves' errors is 0 on average, so only squares add up", () => {
  const at = 20, bump = fourier.bump()[at];
  const waves = fourier.wavesOf(data.waveMap(7, 40000), data.X).map((wave) => 2 * wave[at] - bump);
  const pairs = waves.filter((_, k) => k % 2 === 0).map((e, k) => [e, waves[2 * k + 1]]);
  const square = mean(waves.map((e) => e * e));
  assert.ok(Math.abs(mean(pairs.map(([e, f]) => 2 * e * f))) < 0.03 * square);
  assert.ok(pairs.some(([e, f]) => e * f > 0) && pairs.some(([e, f]) => e * f < 0));
  const sums = pairs.map(([e, f]) => e + f);
  const fours = sums.filter((_, k) => k % 2 === 0).map((e, k) => e + sums[2 * k + 1]);
  close(mean(fours.map((e) => e * e)) / square, 4, 0.15);
});

test("lesson 8: the errors of the sums are those of the means times the number of waves, as shown", () => {
  const { start, first, sum, needed, doubled, half } = shown("fourier", 2).scene.facts();
  close(start * first, sum, 0.051);
  assert.equal(needed, String(4 * start));
  close(2 * sum, doubled);
  close(doubled / needed, half, 0.0051);
});

test("lesson 8: an error below the end of the chart is not drawn, as the text says", () => {
  const { text, scene, of } = shown("fourier", 4);
  const told = filled(text.steps[4].text.join(" "), scene.facts());
  assert.match(told, /The chart ends at 0\.02: smaller errors are not drawn/);
  assert.ok(of("over now landmarks"));
  for (let k = 0; k < 4; k++) scene.paint.grips.get("m").nudge(5, 0);
  assert.ok(Number(scene.facts().other) < 0.02 && !of("over now landmarks"));
});

test("lesson 9: the nearest three tables miss a cell by the share of the text, and four miss none", () => {
  const { scene } = shown("alpha", 2), { values, rows, columns } = scene.model, largest = Math.max(...values);
  const { shares, largest: size } = dual.spectrum(values, rows, columns), left = dual.missed(scene.model, 3) * largest;
  assert.equal(scene.facts().miss, String(Number(((100 * left) / largest).toPrecision(1))));
  assert.ok(left <= shares[3] * size && left * Math.sqrt(values.length) >= shares[3] * size); // the rest has rank 1
  assert.ok(dual.missed(scene.model, 4) < 1e-12);
});

test("lesson 7: names of landmarks that are side by side do not cover each other", () => {
  for (const [at, chosen] of [[0, [16, 1, 17]], [1, [14, 10, 24]], [2, [14, 2, 16]]]) {
    const [width, height] = SIZES[at], { of } = shown("nystroem", 3, chosen, { width, height });
    const names = ["1", "2", "3", "x", "z"].map((k) => of(`labels name ${k}`));
    const places = names.map(({ x, y }) => [Number(x), Number(y)]);
    places.forEach(([x, y], k) => places.slice(0, k).forEach(([u, v]) => assert.ok(Math.hypot(x - u, y - v) > 11)));
  }
});

test("lesson 9: each table is the nearest of rank 1 to what the tables before it leave", () => {
  for (const [exponent, loss] of [[alpha.START, "squaredHinge"], [0, "logistic"]]) {
    const { values, rows, columns } = dual.trained(exponent, loss), { shares, largest, rank } = dual.spectrum(
      values, rows, columns);
    let rest = values;
    const square = (list) => list.reduce((sum, value) => sum + value * value, 0);
    dual.nearest(values, rows, columns).slice(0, Math.min(rank, 4)).forEach((table, k) => {
      assert.equal(dual.spectrum(table, rows, columns).rank, 1);
      close(Math.sqrt(square(table)) / (shares[k] * largest), 1, 1e-6);
      const left = rest.map((value, at) => value - table[at]), [first, second] = [rest, left].map(square);
      close(second, first - square(table), 1e-9 * first);
      const found = dual.spectrum(rest, rows, columns); // no table of rank 1 leaves less (Eckart and Young)
      close(found.largest / Math.sqrt(square(table)), 1, 1e-6);
      rest = left;
    });
    assert.ok(Math.sqrt(square(rest)) < 1e-2 * largest);
  }
});

test("lesson 9: a bar shows its table and its size, and those that rounding leaves cannot be chosen", () => {
  for (const [width, height] of SIZES) {
    const { scene, stage, of } = shown("alpha", 4, "shown", { width, height }), { grips } = scene.paint;
    const tables = () => [...grips.keys()].filter((key) => /^table/.test(key));
    assert.equal(tables().length, 4);
    const { shares, largest } = scene.spectrum, size = String(Number((shares[1] * largest).toPrecision(2)));
    grips.get("table1").press();
    assert.deepEqual([scene.facts().at, scene.facts().size], ["2", size]);
    assert.ok(stage.svg.all.some((one) => one.textContent === filled(stage.words.part, scene.facts())));
    assert.match(stage.said.at(-1), /table 2, size 0\.\d+/);
    assert.deepEqual([0, 1].map((k) => grips.get(`table${k}`).element.attributes["aria-pressed"]), ["false", "true"]);
    const { x, width: wide, y, height: high } = scene.boxes().table;
    assert.ok(x >= 0 && x + wide <= width && y > 0 && y + high <= height && of("back table frame"));
    grips.get("table3").press();
    grips.get("hinge").press();
    grips.get("C").nudge(-5, 0);
    assert.deepEqual([scene.facts().rank, scene.facts().at], ["2", "2"], "there is no fourth table now");
  }
});

test("lesson 9: matrices stand inside the figure, also beside an open panel of terms", () => {
  for (const [width, height] of [...SIZES, [715, 410]]) {
    for (let step = 0; step < 5; step++) {
      const { scene } = shown("alpha", step, step < 2 ? null : "shown", { width, height });
      const { map, sum, added, table } = scene.boxes();
      for (const box of [map, sum, added, table].filter(Boolean)) {
        const inside = box.x >= 0 && box.x + box.width <= width && box.y + box.height <= height;
        assert.ok(inside, `step ${step + 1}, ${width} × ${height}`);
      }
    }
  }
});
