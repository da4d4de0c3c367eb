// Every lesson, drawn at every step without a browser: its texts, formula, prediction and marks.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import { asGuess, asText, filled } from "../../ui/browser/lessons/kit/words.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));
const LESSONS = read("frame").lessons;
const SIZES = [{ width: 800, height: 550 }, { width: 370, height: 490 }, { width: 0, height: 0 }];
const PREDICTIONS = {
  regularisation: [0.85, 0.87, 0.9, 0.92, 0.95, 0.94, 0.9, 0.8], kernel: [0, 56, 68, 130, 257, 130, 68, 56, 0],
  nystroem: [3, 20, 35], fourier: [20], alpha: [12],
};

// What a reader does by keys: grips and what happens to them, for a prediction and in free play.
const press = (key) => (scene) => scene.paint.grips.get(key).press();
const nudge = (key, right, up = 0) => (scene) => scene.paint.grips.get(key).nudge(right, up);
const PREDICTS = {
  regularisation: [[nudge("sketch 0", 0, 5), nudge("sketch 3", 0, 9), nudge("sketch 7", 0, 2)],
    (guess) => guess.length === 8 && guess[0].toFixed(2) === "0.80" && guess[3].toFixed(2) === "0.89"],
  kernel: [[press("cursor"), nudge("cursor", 1, 1), press("cursor")], (guess) => guess[4] === 16 && guess[3] === 32],
  nystroem: [["doc3", "doc9", "doc9", "doc20", "doc1", "doc35"].map(press), (guess) => String(guess) === "1,20,35"],
  fourier: [[nudge("guess", 1), nudge("guess", 5)], ([guess]) => guess === 40],
  alpha: [[nudge("guess", 5)], ([guess]) => guess === 6],
};
const PLAYS = {
  regularisation: [nudge("C", 1), press("mended"), press("twice")], kernel: [nudge("gamma", 1), nudge("gamma", 5)],
  nystroem: [nudge("m", 1), press("doc0")], fourier: [nudge("m", 1), press("again")],
  alpha: [nudge("C", 1), nudge("error", 1), press("hinge")],
};

const termsOf = (part) => {
  if (typeof part !== "object" || part === null) return [];
  return [...(part.term ? [part.term] : []), ...Object.values(part).flatMap(termsOf)];
};

// All texts of a step as the frame fills them.
const textsOf = (text, step, shown) => {
  const { head, shownHead, text: told, shown: instead, gap, help, ask } = text.steps[step];
  const numbers = gap ? [gap.value, gap.label] : [];
  const parts = shown ? [shownHead ?? head, ...(instead ?? told)] : [head, ...told, ...numbers];
  return [...parts, help, ask, ...(step === 3 ? Object.values(text.terms) : [])].filter(Boolean);
};

for (const name of LESSONS) {
  const text = read(name), make = SCENES[text.scene];

  test(`${name}: each symbol of the formula has a meaning, and each meaning a symbol`, () => {
    assert.deepEqual([...new Set(termsOf(text.formula))].sort(), Object.keys(text.terms).sort());
  });

  if (PREDICTIONS[name]) walk(name, text, make);
  if (PREDICTS[name]) play(name, text, make);
}

// Draw a step and light up its terms; its texts and marks are complete.
function look(stage, scene, text, step, guess) {
  scene.show(step, guess, true);
  for (const told of textsOf(text, step, guess === "shown")) {
    const found = filled(told, scene.facts());
    assert.ok(!/[{}]|NaN|undefined|Infinity/.test(found), found);
  }
  for (const term of step === 3 ? [...Object.keys(text.terms), null] : []) scene.light(term);
  for (const { tag, attributes, textContent } of stage.svg.all) {
    const values = [...Object.values(attributes), textContent].join(" ");
    assert.ok(!/NaN|undefined|Infinity|[{}]/.test(values), `step ${step}: ${tag} ${values}`);
    for (const side of ["width", "height", "r"]) assert.ok(!(attributes[side] < 0), `${step} ${values}`);
  }
}

function walk(name, text, make) {
  for (const size of SIZES) {
    test(`${name}: every step is drawn, and its texts are complete, at ${size.width} pixels`, () => {
      const stage = stageOf(text, size), scene = make(stage);
      for (const guess of [null, PREDICTIONS[name], "shown"]) {
        for (let step = 0; step < (guess === null ? 2 : 5); step++) look(stage, scene, text, step, guess);
      }
      scene.stop();
    });
  }

  test(`${name}: a prediction survives the address, and a wrong one is refused`, () => {
    const scene = make(stageOf(text)), guess = PREDICTIONS[name];
    scene.show(1, null, false);
    assert.equal(scene.guess(), null);
    assert.ok(scene.fits(asGuess(asText(guess))));
    scene.show(1, guess, false);
    assert.deepEqual(scene.guess(), guess);
    for (const wrong of [[...guess, 0], [], guess.map(() => 1e6), guess.map(() => -7.5)]) assert.ok(!scene.fits(wrong));
  });

  test(`${name}: everything that Tab reaches has a name`, () => {
    const stage = stageOf(text), scene = make(stage);
    for (let step = 0; step < 5; step++) {
      scene.show(step, step > 1 ? PREDICTIONS[name] : null, false);
      const grips = stage.svg.all.filter((one) => one.attributes["data-grip"]);
      if (step === 1 || step === 4) assert.ok(grips.length > 0);
      for (const { attributes: own } of grips) assert.ok(own["aria-label"] || !own.tabindex, own["data-grip"]);
    }
  });
}

function play(name, text, make) {
  test(`${name}: keys make the prediction, and change the free play`, () => {
    const stage = stageOf(text), scene = make(stage), [acts, holds] = PREDICTS[name];
    scene.show(1, null, false);
    for (const act of acts) act(scene);
    assert.ok(holds(scene.guess()), String(scene.guess()));
    scene.show(4, scene.guess(), false);
    for (const act of PLAYS[name]) {
      const before = JSON.stringify([scene.facts(), scene.choice]);
      act(scene);
      assert.notEqual(JSON.stringify([scene.facts(), scene.choice]), before);
      assert.ok(!/[{}]/.test(stage.said.at(-1)));
    }
  });
}
