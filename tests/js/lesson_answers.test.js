// What the answers of lessons say, and reasons that their texts give, are true.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import { hessian } from "../../ui/browser/core/ranking.js";
import * as data from "../../ui/browser/lessons/examples/approximation.js";
import * as descent from "../../ui/browser/lessons/examples/descent.js";
import * as dual from "../../ui/browser/lessons/examples/dual.js";
import { mean } from "../../ui/browser/lessons/examples/documents.js";
import * as lists from "../../ui/browser/lessons/examples/lists.js";
import * as pulls from "../../ui/browser/lessons/examples/pulls.js";
import * as turning from "../../ui/browser/lessons/examples/turning.js";
import * as wrong from "../../ui/browser/lessons/examples/wrong_grade.js";
import { withTerms } from "../../ui/browser/lessons/formula.js";
import { filled } from "../../ui/browser/lessons/kit/words.js";
import * as fourier from "../../ui/browser/lessons/scenes/fourier.js";
import * as kernel from "../../ui/browser/lessons/scenes/kernel.js";
import * as regularisation from "../../ui/browser/lessons/scenes/regularisation.js";
import * as nystroem from "../../ui/browser/lessons/examples/landmarks.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));

// The numbers of a lesson's answer, in their order.
const told = (name) => (read(name).steps[4].answer.match(/\d+(\.\d+)?/g) ?? []).map(Number);

test("lesson 8: at x no wave is below 0 and their squares are 1/2 on average, so that the mean is the kernel", () => {
  const waves = fourier.wavesOf(data.waveMap(5, 4000), data.X), middle = (waves[0].length - 1) / 2;
  assert.ok(waves.every((wave) => wave[middle] >= 0));
  assert.ok(Math.abs(mean(waves.map((wave) => wave[middle])) - 0.5) < 0.01);
  const bump = fourier.bump(), found = fourier.meanOf(waves);
  assert.ok(bump.every((value, k) => Math.abs(value - found[k]) < 0.05));
  assert.ok(waves.slice(0, 40).some((wave) => wave[0] < -0.2) && waves.slice(0, 40).some((wave) => wave[0] > 0.2));
});

test("lesson 8: the answer's number of cosines has the error of six landmarks, as lesson 7 says it", () => {
  const six = fourier.curves().nystroem.find(({ m }) => m === 6).mean, [cosines, each] = told("fourier");
  const [found] = data.errors([cosines], data.waveMap);
  assert.ok(Math.abs(found.mean - six) < 0.002, `${found.mean} and ${six}`);
  assert.ok(cosines / 6 > each);
  assert.equal(nystroem.curves().error.find(({ m }) => m === 6).mean, six);
});

test("lesson 8: one or two cosines are worse than zeros, and no more landmarks are drawn than documents", () => {
  const { fourier: found } = fourier.curves(), above = found.filter((one) => one.mean > 1).map(({ m }) => m);
  assert.deepEqual(above, [1, 2]);
  const stage = stageOf(read("fourier")), scene = SCENES.fourier(stage);
  scene.show(4, "shown", false);
  for (let k = 0; k < 4; k++) scene.paint.grips.get("m").nudge(5, 0);
  const { m, marks, other } = scene.facts();
  assert.deepEqual([m, marks, other], ["400", "40", "0.000"]);
});

test("lesson 8: the reader adds waves from the first on", () => {
  const stage = stageOf(read("fourier")), scene = SCENES.fourier(stage);
  const lines = () => stage.svg.all.filter((one) => one.attributes["data-term"] === "omega").length;
  scene.show(0, null, true);
  const found = [0, 1, 1, 1, 1].map((by) => {
    if (by) scene.paint.grips.get("added").nudge(by, 0);
    return [scene.facts().m, lines()];
  });
  assert.deepEqual(found, [["1", 1], ["2", 2], ["3", 3], ["5", 5], ["10", 10]]);
});

test("every open question has an answer", () => {
  for (const name of read("frame").lessons) {
    const [, , , , { ask, answer }] = read(name).steps;
    assert.ok(ask && answer, name);
  }
});

test("lesson 1: the best arrow leaves one pair wrong, and only one of its two documents can change that", () => {
  const lines = turning.linesOf(turning.GRADES, turning.PTR, []), angles = Array.from({ length: 180 }, (_, k) => 2 * k);
  const wrongAt = (places, degrees) => turning.wrongAt(lines, places, degrees);
  const left = angles.map((one) => wrongAt(turning.PLACES, one)).filter((all) => all.filter(Boolean).length === 1);
  const pairs = new Set(left.map((all) => all.indexOf(true)));
  assert.equal(pairs.size, 1);
  const { i, j } = lines[[...pairs][0]], steps = [-1, -0.6, -0.2, 0.2, 0.6, 1];
  assert.deepEqual([i, j].map((k) => [turning.GRADES[k], turning.queryOf(k)]), [[2, 1], [1, 1]]);
  assert.ok(turning.PLACES[j][0] > turning.PLACES[i][0], "to its right");
  const helps = turning.PLACES.map((_, k) => steps.some((x) => steps.some((y) => {
    const places = turning.PLACES.map((place, at) => (at === k ? [x, y] : place));
    return angles.some((one) => !wrongAt(places, one).some(Boolean));
  })));
  assert.deepEqual(helps.flatMap((one, k) => (one ? [k] : [])), [i, j].sort());
});

test("lesson 2: of all swaps of different grades only that of ranks 1 and 2 costs nothing", () => {
  const cost = (swap, kind) => lists.quality(lists.LIST, kind) - lists.quality(lists.swapped(lists.LIST, swap), kind);
  const free = [];
  for (let a = 0; a < 10; a++) {
    for (let b = a + 1; b < 10; b++) {
      if (lists.LIST[a] !== lists.LIST[b] && Math.abs(cost([a, b])) < 1e-12) free.push([a + 1, b + 1]);
    }
  }
  assert.deepEqual(free, [told("ndcg").slice(0, 2)]);
  assert.ok(cost([0, 1], "textbook") > 0.1);
});

test("lesson 3: with a longer w right pairs become silent for both hinges, and wrong pairs cost more", () => {
  for (const loss of ["hinge", "squaredHinge"]) {
    const [short, long] = [0.5, 50].map((length) => pulls.pulled(loss, [0.87 * length, 0.5 * length]));
    short.forEach(({ t, cost }, k) => {
      assert.ok(Math.abs(long[k].t - 100 * t) < 1e-9);
      assert.ok(t > 0 ? long[k].pull === 0 : long[k].cost > cost);
    });
    assert.ok(short.some(({ t }) => t > 0) && short.some(({ t }) => t < 0));
  }
});

test("lesson 4: every query twice and half the C give the same arrow", () => {
  const [one, twice] = [wrong.trained(-4), wrong.trained(-5, { twice: true })].map(({ weights }) => weights);
  one.forEach((value, k) => assert.ok(Math.abs(value - twice[k]) < 1e-9));
});

test("lesson 5: from the answer's start the jump crosses its lines, few pairs pull there, and more beyond", () => {
  const [u, v, lines, few, more] = told("newton"), { margins, lowest } = descent.bowl([u, v]);
  const pulling = (all) => Array.from(all).filter((t) => t < 1).length;
  assert.deepEqual([descent.crossed([u, v], lowest).length, pulling(margins)], [lines, few]);
  assert.equal(pulling(descent.bowl(lowest).margins), few + more);
  assert.ok(descent.distance(lowest, descent.BEST.weights) > 2 * descent.distance([u, v], descent.BEST.weights));
  const wide = ([, along]) => along;
  assert.ok(wide(descent.curvatures([u, v])) < wide(descent.curvatures(descent.START)) / 2, "the bowl is wide");
});

test("lesson 5: H stretches one direction by its first number, and the one across it by the second", () => {
  const { START, PROBLEM } = descent, H = hessian(Float64Array.from(START), PROBLEM);
  const [across, along] = descent.curvatures(START);
  const turn = Math.atan2(across - H[0], H[1]);
  for (const [angle, by] of [[turn, across], [turn + Math.PI / 2, along]]) {
    const [x, y] = [Math.cos(angle), Math.sin(angle)];
    assert.ok(Math.hypot(H[0] * x + H[1] * y - by * x, H[2] * x + H[3] * y - by * y) < 1e-6);
  }
  assert.ok(across > 5 * along);
  for (const w of [START, [2, 1], [0.5, -2]]) {
    const [a, b] = descent.slopes(w).map((slope, k) => slope / descent.curvatures(w)[k]);
    const { gradient, lowest } = descent.bowl(w);
    assert.ok(Math.abs(Math.hypot(...descent.slopes(w)) / Math.hypot(...gradient) - 1) < 1e-9);
    assert.ok(Math.abs(Math.hypot(a, b) / descent.distance(w, lowest) - 1) < 1e-9, "they are the parts of the step");
  }
});

test("lesson 1: a negative number of a score stands in brackets after a sign", () => {
  const scene = SCENES.pairs(stageOf(read("pairs")));
  scene.show(3, "shown", false);
  for (const angle of [0, 30, 100, 200, 300]) {
    scene.angle = angle;
    assert.doesNotMatch(JSON.stringify(scene.facts()), /[+−×] −/, `${angle}`);
  }
});

test("lesson 5: the parts of the step are the quotients of the numbers that are shown", () => {
  const scene = SCENES.newton(stageOf(read("newton")));
  scene.show(3, "shown", false);
  for (let k = 0; k < 400; k++) {
    const w = [(k % 20) / 4 - 2.4, Math.floor(k / 20) / 4 - 2.4], exact = descent.slopes(w);
    scene.w = w;
    const { slopeAcross, across, stepAcross, slopeAlong, along, stepAlong } = scene.facts();
    for (const [slope, by, step] of [[slopeAcross, across, stepAcross], [slopeAlong, along, stepAlong]]) {
      const [u, v, shown] = [slope, by, step].map((text) => Number(text.replace("−", "-")));
      assert.ok(Math.abs(u / v - shown) < 0.05 + 1e-9, `${slope} / ${by} ≈ ${step}`);
    }
    const [x, y] = [stepAcross, stepAlong].map((text) => Number(text.replace("−", "-")));
    exact.forEach((part, axis) => {
      assert.ok(Math.abs(part / descent.curvatures(w)[axis] - [x, y][axis]) < 0.1, `${w}`);
    });
  }
});

test("lesson 5: jumps are numbered in their order", () => {
  const stage = stageOf(read("newton")), scene = SCENES.newton(stage);
  for (const step of [2, 4]) {
    scene.show(step, "shown", false);
    const numbers = stage.svg.all.filter((one) => one.attributes.class === "size halo").map((one) => one.textContent);
    assert.deepEqual(numbers, scene.newton.slice(1).map((_, k) => String(k + 1)));
  }
});

test("lesson 6: the answer's γ is the best on other lists, with its share, and training becomes perfect", () => {
  const found = kernel.curves(), top = found.reduce((a, b) => (b.validation > a.validation ? b : a));
  const [share, perfect] = told("kernel").slice(-2);
  assert.deepEqual([top.exponent, Math.round(100 * top.validation), perfect], [0, share, 100]);
  assert.ok(found.at(-1).training === 1 && found.every((one, k) => k === 0 || one.training >= found[k - 1].training));
});

test("lesson 7: no landmark of the answer can be swapped for a smaller error, and its NDCG is as said", () => {
  const six = [10, 16, 23, 25, 32, 37], error = (chosen) => data.approximation(data.landmarkMap(chosen)).error;
  const [least, , ndcg, full] = told("nystroem"), others = Array.from({ length: data.N }, (_, i) => i);
  assert.equal(error(six).toFixed(3), String(least));
  for (const k of six.keys()) {
    const swaps = others.filter((i) => !six.includes(i)).map((i) => six.map((one, at) => (at === k ? i : one)));
    assert.ok(swaps.every((chosen) => error(chosen) > error(six)));
  }
  const quality = (chosen) => data.quality(data.landmarkMap(chosen));
  assert.deepEqual([six, others].map((chosen) => quality(chosen).toFixed(3)), [ndcg, full].map(String));
  assert.ok(error([3, 20, 35]) > error(six) && quality([3, 20, 35]) > ndcg);
});

test("lesson 7: NDCG ends at that of the full K, and falls a little while the error falls to 0", () => {
  const { error, ndcg } = nystroem.curves(), six = nystroem.SIZES.indexOf(6), means = error.map((one) => one.mean);
  assert.ok(means.every((one, k) => k === 0 || one < means[k - 1]) && means.at(-1) < 1e-8);
  const top = Math.max(...ndcg);
  assert.ok(ndcg.indexOf(top) >= six && top - ndcg[six] < 0.01 && top - ndcg.at(-1) > 0.01 && top - ndcg.at(-1) < 0.03);
  assert.ok(Math.abs(ndcg.at(-1) - told("nystroem").at(-1)) < 0.001);
});

test("lesson 7: the orange cell is that of documents x and z", () => {
  const scene = SCENES.nystroem(stageOf(read("nystroem")));
  scene.show(3, [3, 20, 35], false);
  const { x: row, z: column } = scene.example;
  const { x, y, width } = scene.maps[0], cell = scene.paint.known.get("over example0").attributes;
  const place = [[cell.x, x], [cell.y, y]].map(([left, from]) => (Number(left) + 2 - from) / (width / data.N));
  assert.deepEqual(place.map(Math.round), [column, row]);
  for (const letter of ["x", "z"]) {
    const { cx, cy } = scene.paint.known.get(`over example ${letter}`).attributes, at = scene.example[letter];
    assert.deepEqual([Number(cx), Number(cy)], scene.places[at]);
  }
});

test("lesson 7: a document and its row light up together, from either, and landmarks are kept over other steps", () => {
  const stage = stageOf(read("nystroem")), scene = SCENES.nystroem(stage);
  const row = () => Number(scene.paint.known.get("over row").attributes.y);
  for (const step of [0, 1, 2, 4]) {
    scene.show(step, step > 1 ? "shown" : null, false);
    assert.equal(scene.paint.known.get("over row"), undefined);
    scene.paint.grips.get("doc7").element.onpointerenter();
    const { y, height } = scene.maps[0], middle = y + (7.5 * height) / data.N;
    assert.ok(Math.abs(row() + Number(scene.paint.known.get("over row").attributes.height) / 2 - middle) < 0.01);
    scene.paint.known.get("back rows").onpointermove({ clientX: 0, clientY: y + (20.5 * height) / data.N });
    assert.equal(scene.pointed, 20);
    const { cx } = scene.paint.known.get("over pointed").attributes;
    assert.equal(cx, scene.paint.grips.get("doc20").element.attributes.cx);
  }
  for (const i of [0, 9, 25]) scene.paint.grips.get(`doc${i}`).press();
  const chosen = [...scene.picked];
  for (const step of [3, 2, 3, 4]) scene.show(step, "shown", false);
  assert.deepEqual(scene.picked, chosen);
});

test("lesson 4: with the smallest C right pairs pull as hard as wrong ones, and more pairs stay wrong", () => {
  const of = (exponent) => {
    const { scores, pairs: { winner, loser } } = wrong.trained(exponent);
    const margins = Array.from(winner, (i, k) => scores[i] - scores[loser[k]]);
    const pull = (all) => mean(all.map((t) => Math.max(0, 1 - t)));
    const [good, bad] = [margins.filter((t) => t > 0), margins.filter((t) => t <= 0)];
    return { share: pull(good) / pull(bad), bad: bad.length };
  };
  const [least, best] = [wrong.EXPONENTS[0], regularisation.best().exponent].map(of);
  assert.ok(least.share > 0.9 && best.share < 0.7 && least.bad > 1.5 * best.bad);
});

test("lesson 4: a wrong grade and more pairs ask for a smaller C", () => {
  const [plain, mended, twice] = [{}, { mended: true }, { twice: true }]
    .map((choice) => regularisation.best({ mended: false, twice: false, ...choice }).exponent);
  assert.ok(plain < mended && twice === plain - 1);
});

test("lesson 9: the answer has the loss, C and error of the controls", () => {
  const text = read("alpha"), scene = SCENES.alpha(stageOf(text)), { grips } = scene.paint;
  const answer = () => filled(text.steps[4].answer, scene.facts());
  scene.show(4, "shown", false);
  assert.match(answer(), /squared hinge, C.=.2⁻⁵ and an error of 0\.1.%/);
  const first = answer();
  grips.get("error").nudge(2, 0);
  grips.get("C").nudge(9, 0);
  grips.get("hinge").press();
  assert.match(answer(), /With the hinge, C.=.2⁴ and an error of 1.%/);
  const { before, after, adds } = scene.facts();
  assert.ok(parseFloat(before) < 99 && parseFloat(after) < 99 && adds > 0 && adds < 1);
  assert.doesNotMatch(answer() + first, /[{}]/);
});

test("lesson 9: in the columns with crossed cells the upper rows need two tables, so three are not enough", () => {
  const { values, columns, rows } = dual.trained(-5), high = [0, 1, 2, 3, 4], part = (is, js) => dual.spectrum(
    Float64Array.from(is.flatMap((i) => js.map((j) => values[i * columns + j]))), is.length, js.length).rank;
  const low = Array.from({ length: rows - high.length }, (_, k) => k + high.length);
  const all = Array.from({ length: columns }, (_, j) => j);
  const crossed = all.filter((j) => !dual.isPair(low[0] * columns + j, columns));
  assert.deepEqual([part(high, crossed), part(low, all.filter((j) => !crossed.includes(j)))], [2, 2]);
});

test("a formula has bars over roots, a sign over an italic letter, and stays in one line", () => {
  const tagsOf = (one) => [one.tag, ...(one.children ?? []).flatMap(tagsOf)];
  const tags = tagsOf(withTerms({ formula: [{ root: "2" }, "K̃"], terms: {} }, () => null));
  assert.ok(tags.includes("msqrt") && tags.includes("mover"));
  for (const one of ["2C(1 − fᵢ) + 2C · fⱼ", "4 × 31 = 124", "0.91 + 0.91", "√2 × √2 = 2"]) {
    assert.ok(!filled(`so ${one}, here`, {}).slice(3, -6).includes(" "), one);
  }
  assert.equal(filled("as 1/√m", {}), "as 1/\u2060√m"); // a word joiner
  assert.ok(filled("w is α × (features of one − features of another)", {}).includes(" − "));
});
