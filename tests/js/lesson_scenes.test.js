// Lessons 4 and 6 to 9 without a browser: predictions in the address, keys, names for screen readers.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

import { stageOf } from "./lesson_stage.js";
import { asGuess, asText, filled } from "../../ui/browser/lessons/kit/words.js";
import { inPercent } from "../../ui/browser/lessons/scenes/alpha.js";
import { SCENES } from "../../ui/browser/lessons/scenes.js";

const TEXTS = new URL("../../ui/browser/lessons/texts/", import.meta.url);
const read = (name) => JSON.parse(readFileSync(new URL(`${name}.json`, TEXTS)));
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

for (const name of Object.keys(PREDICTIONS)) {
  walk(name, read(name), SCENES[name]);
  play(name, read(name), SCENES[name]);
}

function walk(name, text, make) {
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
    const place = stageOf(text), scene = make(place);
    for (let step = 0; step < 5; step++) {
      scene.show(step, step > 1 ? PREDICTIONS[name] : null, false);
      const grips = place.svg.all.filter((one) => "data-grip" in one.attributes);
      if (step === 1 || step === 4) assert.ok(grips.length > 0);
      const unnamed = grips.filter(({ attributes: own }) => own.tabindex && !own["aria-label"]);
      assert.deepEqual(unnamed.map((one) => one.attributes["data-grip"]), []);
    }
  });

  test(`${name}: marks of the figure light up terms of the formula`, () => {
    const place = stageOf(text), scene = make(place);
    scene.show(3, "shown", false);
    const marked = place.svg.all.map((one) => one.attributes["data-term"]).filter(Boolean);
    assert.ok(new Set(marked).size >= 3);
    for (const term of marked) assert.ok(term in text.terms, term);
    const quiet = place.svg.all.map((one) => Object.values(one.attributes).join());
    for (const term of Object.keys(text.terms)) {
      scene.light(term);
      assert.notDeepEqual(place.svg.all.map((one) => Object.values(one.attributes).join()), quiet, term);
    }
  });
}

function play(name, text, make) {
  test(`${name}: keys make the prediction, and change the free play`, () => {
    const place = stageOf(text), scene = make(place), [acts, holds] = PREDICTS[name];
    scene.show(1, null, false);
    for (const act of acts) act(scene);
    assert.ok(holds(scene.guess()), String(scene.guess()));
    scene.show(4, scene.guess(), false);
    for (const act of PLAYS[name]) {
      const before = JSON.stringify([scene.facts(), scene.choice]);
      act(scene);
      assert.notEqual(JSON.stringify([scene.facts(), scene.choice]), before);
      assert.ok(!/[{}]/.test(place.said.at(-1)));
    }
  });
}

// Predictions far from the answer; the gap of each is between the ends, where a class's histogram takes it.
const whole = (n, make) => Array.from({ length: n }, (_, k) => make(k));
const FAR = {
  pairs: [0, 1].map((mark) => Array(13).fill(mark)), ndcg: [[0, 0, 0], [1, 1, 1]],
  loss: [0, 5].map((top) => Array(11).fill(top)).concat([[...Array(6).fill(0), ...Array(5).fill(5)]]),
  regularisation: [0.75, 1].map((level) => Array(8).fill(level)),
  newton: [[-2.4, -2.4], [2.4, 2.4], [-2.4, 2.4], [2.4, -2.4]],
  kernel: whole(81, (k) => whole(9, (row) => (row === Math.floor(k / 9) ? 2 ** (k % 9) : 0))),
  nystroem: [[0, 1, 2], [3, 20, 35], [37, 38, 39]], fourier: [[12], [200]], alpha: [[1], [12]],
};

for (const [name, guesses] of Object.entries(FAR)) {
  test(`${name}: no prediction has a gap beyond the ends in the text`, () => {
    const scene = SCENES[name](stageOf(read(name))), [low, high] = read(name).steps[2].gap.ends;
    for (const guess of guesses) {
      assert.ok(scene.fits(guess), `${guess}`);
      scene.show(2, guess, false);
      const gap = Number(scene.facts().gap.replace("−", "-"));
      assert.ok(low <= gap && gap <= high, `${guess}: ${gap}`);
    }
  });
}

test("a slider's first position can be a guess, and a move within a position changes nothing", () => {
  const scene = SCENES.alpha(stageOf(read("alpha")));
  scene.show(1, null, false);
  nudge("guess", -1)(scene);
  assert.deepEqual(scene.guess(), [1]);
  scene.show(4, [1], false);
  const drag = (px) => scene.paint.grips.get("C track").drag(scene.boxes().controls.x + px, 0), before = scene.model;
  drag(39);
  const { model } = scene;
  assert.notEqual(model, before);
  drag(39.5);
  assert.equal(scene.model, model);
});

test("nystroem: a link to a step shows its landmarks over all documents", () => {
  const place = stageOf(read("nystroem")), scene = SCENES.nystroem(place);
  scene.show(3, PREDICTIONS.nystroem, false);
  const all = place.svg.all.filter(({ attributes: { "data-grip": grip } }) => !grip);
  const last = all.findLastIndex((one) => one.attributes.class === "document");
  const marks = all.flatMap((one, k) => (one.tag === "path" && one.attributes["data-term"] === "W" ? [k] : []));
  assert.equal(marks.length, 3);
  assert.ok(marks.every((k) => k > last), `marks ${marks}, documents up to ${last}`);
});

test("lesson 7 shows the best choice beside the reader's, and no line crosses a name", () => {
  const stage = stageOf(read("nystroem")), scene = SCENES.nystroem(stage);
  for (const guess of [PREDICTIONS.nystroem, "shown"]) {
    scene.show(2, guess, false);
    const rings = stage.svg.all.filter((one) => one.tag === "circle" && one.attributes.r === "17");
    assert.equal(rings.length, 3);
    const words = stage.svg.all.map((one) => one.textContent), { best, mine, drawn } = stage.words;
    assert.ok(words.includes(`○ ${best}`) && words.includes(`◇ ${guess === "shown" ? drawn : mine}`));
    const lines = stage.svg.all.filter((one) => /^M[\d.]+ [\d.]+V[\d.]+$/.test(one.attributes.d));
    const tops = lines.map((one) => one.attributes.d.match(/[\d.]+/g).map(Number)).sort(([a], [b]) => a - b);
    assert.ok(tops.length >= 3 && tops.every(([, top], k) => k === 0 || top > tops[k - 1][1]));
  }
});

test("lesson 5 names its curves where w is not", () => {
  const stage = stageOf(read("newton")), scene = SCENES.newton(stage);
  for (const step of [1, 2, 3, 4]) {
    scene.show(step, step === 1 ? null : "shown", false);
    const words = stage.svg.all.map((one) => one.textContent), drawn = stage.svg.all.map((one) => one.attributes.class);
    for (const kind of ["level", "ring", "kink", "newton", "gradient", "downhill"]) {
      const named = words.includes(filled(stage.words[kind], scene.facts()));
      const is = drawn.some((one) => one?.split(" ")[0] === kind);
      assert.ok(named || !is || kind === "level" || (kind === "newton" && step === 3), `${kind}, step ${step + 1}`);
      assert.ok(is || !named, `${kind} is named and not drawn in step ${step + 1}`);
    }
  }
  scene.show(4, "shown", false);
  for (const at of [[-2, -2], [-2, 2]]) {
    scene.move(at);
    const [w, ...lines] = [stage.svg.all.find((one) => one.dataset.grip === "w"),
      ...stage.svg.all.filter((one) => one.tag === "line" && ["newton", "gradient"].includes(one.attributes.class) && (
        Number(one.attributes.x2) - Number(one.attributes.x1) === 26))];
    assert.equal(lines.length, 2);
    for (const line of lines) assert.ok(Math.abs(line.attributes.y1 - w.attributes.cy) > 30, `${at}`);
  }
});

test("lesson 1 tells found, wrongly marked and missed lines apart, and a line lights up before a click", () => {
  const stage = stageOf(read("pairs")), scene = SCENES.pairs(stage), guess = [1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
  const count = (name) => stage.svg.all.filter((one) => one.attributes.class === name).length;
  scene.show(0, null, false);
  assert.equal(count("pair right across"), 0, "what joins two queries is no pair");
  scene.show(1, null, false);
  assert.equal(count("pair right across"), 3);
  const grips = stage.svg.children.at(-1).children, aims = grips.filter((one) => one.attributes.class === "aim");
  assert.equal(aims.length, 13);
  for (const aim of aims) assert.match(grips[grips.indexOf(aim) - 1].dataset.grip, /^line/); // as the style sheet needs
  scene.show(2, guess, false);
  const found = ["found", "over", "missed"].map((kind) => count(`judged ${kind}`) - 1); // without the legend
  assert.deepEqual(found, [1, 2, 2]);
  assert.deepEqual(found, ["hits", "over", "missed"].map((name) => Number(scene.facts()[name])));
  const words = stage.svg.all.map((one) => one.textContent);
  for (const named of Object.values(stage.words.judged)) assert.ok(words.includes(named));
  scene.show(2, "shown", false);
  assert.equal(count("judged missed"), 0);
});

test("lesson 3 says what the reader's own line charges, beside the nearest loss", () => {
  const stage = stageOf(read("loss")), scene = SCENES.loss(stage);
  scene.show(2, [4, 3.5, 3, 2.5, 2, 1.5, 1, 0.5, 0, 0, 0], false);
  const facts = scene.facts(), of = (name) => [0, 1, 2].map((k) => Number(facts[name + k]));
  assert.deepEqual([facts.nearest, of("own"), of("best")], ["hinge", [3, 1.5, 0], [2, 0.5, 0]]);
  assert.match(read("loss").steps[1].text.join(), /t = −1 .* t = 0\.5 .* t = 2 /);
  assert.ok(stage.svg.all.some((one) => one.textContent === stage.words.mine));
});

const ACROSS = ["ArrowLeft", "ArrowRight"];
for (const [name, steps] of [["pairs", [1]], ["nystroem", [1, 4]], ["regularisation", [1]], ["loss", [1]]]) {
  test(`${name}: Tab reaches one of many marks, and arrow keys all others`, () => {
    for (const [width, height] of [[840, 550], [368, 432], [640, 550]]) {
      const place = stageOf(read(name), { width, height }), scene = SCENES[name](place), { paint } = scene;
      for (const step of steps) {
        scene.show(step, step === 4 ? "shown" : null, false);
        const keys = paint.many().map(([key]) => key), reached = [keys[0]];
        const strike = (from, key) => paint.key({ key, target: paint.grips.get(from).element, preventDefault: () => {},
          stopPropagation: () => {} });
        const open = () => keys.filter((key) => paint.grips.get(key).element.attributes.tabindex === "0");
        for (const from of reached) {
          for (const key of paint.grips.get(from).nudge ? ACROSS : [...ACROSS, "ArrowUp", "ArrowDown"]) {
            globalThis.focused = paint.grips.get(from).element;
            strike(from, key);
            const to = globalThis.focused.dataset.grip;
            place.svg.onfocusin({ target: globalThis.focused });
            assert.deepEqual(open(), [to]);
            if (!reached.includes(to)) reached.push(to);
          }
        }
        assert.deepEqual(reached.sort(), keys.sort(), `step ${step + 1}, ${width} pixels`);
      }
    }
  });
}

test("lesson 9 writes the sizes of tables above their bars, and counts the numbers that they take", () => {
  const stage = stageOf(read("alpha"), { width: 368, height: 432 }), scene = SCENES.alpha(stage);
  scene.show(4, "shown", false);
  const told = stage.svg.all.filter((one) => one.attributes.class === "size").map((one) => one.textContent);
  assert.equal(told.length, scene.spectrum.rank);
  told.forEach((one, k) => assert.ok(Math.abs(one / (100 * scene.spectrum.shares[k]) - 1) < 0.07, one));
  assert.deepEqual([1, 0.386, 0.0649, 0.0091, 1e-6].map(inPercent), ["100", "39", "6", "0.9", "0.0001"]);
  const { rows, columns, rank, pairs, kept } = scene.facts();
  assert.equal(rank * (Number(rows) + Number(columns)), Number(kept));
  assert.ok(Number(kept) < Number(pairs));
});

test("lesson 9 counts no more tables than the rank, and says what the chosen loss changes", () => {
  const stage = stageOf(read("alpha")), scene = SCENES.alpha(stage);
  scene.show(4, "shown", false);
  assert.deepEqual([scene.facts().few, scene.facts().changes], ["4", stage.words.changes.squaredHinge]);
  press("hinge")(scene);
  nudge("C", -5)(scene);
  const { rank, few, changes } = scene.facts();
  assert.deepEqual([rank, few, changes], ["2", "2", stage.words.changes.hinge]);
});

test("lesson 9: the slider takes tables away and adds them, and says which cells are wrong", () => {
  const stage = stageOf(read("alpha")), scene = SCENES.alpha(stage), found = [];
  scene.show(2, "shown", false);
  for (let k = 4; k > 0; k--) {
    const facts = scene.facts(), words = stage.svg.all.map((one) => one.textContent);
    assert.equal(facts.k, String(k));
    assert.ok([stage.words.sum, stage.words.last].every((one) => words.includes(filled(one, facts))));
    assert.equal(facts.table, stage.words.tables[k - 1]);
    found.unshift(Number(facts.wrong));
    nudge("added", -1)(scene);
  }
  assert.deepEqual(found, [174, 84, 77, 0]);
});

test("lesson 9: what the margin lacks has one sign, also when the margin is negative", () => {
  const scene = SCENES.alpha(stageOf(read("alpha"))), found = new Set();
  scene.show(3, "shown", false);
  const { values, rows, columns } = scene.model;
  for (let k = 0; k < rows * columns; k++) {
    scene.choose(Math.floor(k / columns), k % columns);
    const { row, column } = scene.example, [, sign, by] = /^1 ([+−]) (\d\.\d{3})$/.exec(scene.facts().lack);
    found.add(sign);
    const lack = 1 + Number(`${sign}${by}`.replace("−", "-"));
    assert.ok(Math.abs(0.0625 * lack - values[row * columns + column]) < 1e-4);
  }
  assert.equal(found.size, 2);
});

test("lesson 9: another pair has its own row, column and α, and a crossed cell is no pair", () => {
  const stage = stageOf(read("alpha")), scene = SCENES.alpha(stage), box = () => scene.boxes().map;
  scene.show(3, "shown", false);
  const before = scene.facts(), { x, y, width, height } = box();
  scene.paint.grips.get("cell").drag(x + width - 2, y + height - 2);
  assert.deepEqual(scene.example, { row: 11, column: 18 });
  const { a, fi, fj, t } = scene.facts();
  assert.ok(a !== before.a && fi !== before.fi && Math.abs(0.0625 * (1 - t) - a) < 0.001);
  nudge("cell", 1, -1)(scene);
  assert.deepEqual(scene.example, { row: 11, column: 18 }, "no cell beyond the edge");
  scene.paint.grips.get("cell").drag(x + 2, y + height - 2);
  assert.deepEqual([scene.example.column, scene.facts().fj], [18, fj]);
});
