// What the answers of lessons say, and reasons that their texts give, are true.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import * as data from "../../ui/browser/lessons/examples/approximation.js";
import { mean } from "../../ui/browser/lessons/examples/documents.js";
import * as fourier from "../../ui/browser/lessons/scenes/fourier.js";
import * as nystroem from "../../ui/browser/lessons/scenes/nystroem.js";
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
