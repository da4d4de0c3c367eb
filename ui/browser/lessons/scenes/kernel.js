// Lesson "kernel": relevant documents lie in a ring. The reader tries an arrow, then paints where to score high.

import * as data from "../examples/ring.js";
import { once, powerOf } from "../examples/documents.js";
import { drawDocument } from "../kit/look.js";
import { mix } from "../kit/motion.js";
import { ofTerm } from "../kit/paint.js";
import * as parts from "../kit/parts.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { filled, number, texts } from "../kit/words.js";

export const SIDE = 9, EXTENT = 1.2;
const GRID = 49, TICKS = parts.ticksOf(GRID, EXTENT), SECONDS = 4, TRAINED = 0; // log₂ γ of the reveal
const CLEAR = { fill: "transparent" }; // unlike none, a pointer finds it
const HIGHEST = 6; // log₂ γ of the Playground
const CROSS = [0, 0.8]; // the place of the example

// A painting as numbers, one for each row, from the top: bit k is cell k from the left.
export const rowsOf = (cells) => Array.from({ length: SIDE }, (_, row) => (
  cells.slice(row * SIDE, (row + 1) * SIDE).reduce((sum, on, k) => sum + on * 2 ** k, 0)));
export const cellsOf = (rows) => rows.flatMap((bits) => Array.from({ length: SIDE }, (_, k) => (bits >> k) & 1));

export const curves = once(() => data.EXPONENTS.map((exponent) => ({ exponent, ...data.trained(2 ** exponent) })));
const bestArrow = once(data.bestArrow);
const percent = (share) => number(100 * share, 0);
const end = once(() => data.trained(2 ** TRAINED)); // of the reveal: its numbers stand from the start

export const kernelScene = (stage) => new Kernel(stage);

class Kernel extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "marks", "over", "labels", "grips"]);
    Object.assign(this, { angle: 30, cells: new Array(SIDE * SIDE).fill(0), cursor: 40, brush: null });
  }

  show(step, guess, fresh) {
    this.begin(step, guess, { brush: null });
    if (Array.isArray(guess)) this.cells = cellsOf(guess);
    this.train(TRAINED);
    if (fresh && step === REVEAL) {
      this.motion.play(SECONDS, (share) => this.train(mix(data.EXPONENTS[0], TRAINED, share)));
    }
  }

  train(exponent) {
    this.exponent = exponent;
    if (this.step >= REVEAL) this.model = data.trained(2 ** exponent);
    this.refresh();
  }

  guess() {
    return this.cells.some(Boolean) ? rowsOf(this.cells) : null;
  }

  fits(guess) {
    const whole = (bits) => Number.isInteger(bits) && bits >= 0 && bits < 2 ** SIDE;
    return guess.length === SIDE && guess.every(whole) && guess.some(Boolean);
  }

  facts() {
    const { right, pairs, share } = data.alongArrow(this.angle), { step } = this;
    const painted = this.cells.filter(Boolean).length;
    const found = { right, pairs, arrow: percent(share), best: percent(bestArrow()), painted };
    if (step >= REVEAL) {
      const { training, validation, weights } = step === REVEAL ? end() : this.model;
      const own = data.paintedShare(this.cells, SIDE, EXTENT);
      const difference = Math.round(100 * own.training) - Math.round(100 * training);
      Object.assign(found, {
        training: percent(training), validation: percent(validation), own: percent(own.training),
        other: percent(own.validation), gap: `${difference > 0 ? "+" : ""}${number(difference, 0)}`,
        gamma: powerOf(this.exponent), bumps: weights.length, reach: number(this.reach()),
      });
    }
    if (step === FORMULA) Object.assign(found, this.example());
    return texts(found);
  }

  // The score of the cross: the part of the nearest document, and the sums of the parts above and below 0.
  example() {
    const { heights, similar } = data.bumpsAt(CROSS, this.model, 2 ** this.exponent);
    const products = heights.map((height, k) => height * similar[k]), near = similar.indexOf(Math.max(...similar));
    const sum = (some) => products.filter(some).reduce((a, b) => a + b, 0);
    const found = { height: heights[near], s: similar[near], part: products[near], lifts: sum((one) => one > 0),
      sinks: sum((one) => one < 0), score: sum(() => true),
      far: Math.sqrt(-Math.log(similar[near]) / 2 ** this.exponent) };
    const told = Object.entries(found).map(([name, one]) => [name, number(one, ["s", "far"].includes(name) ? 3 : 2)]);
    return { near: this.model.map.kept[near], ...Object.fromEntries(told) };
  }

  // The distance at which the similarity is one half.
  reach() {
    return Math.sqrt(Math.LN2 / 2 ** this.exponent);
  }

  link() {
    return data.playground({ pmap: "exact kernel", pg: Math.min(this.exponent, HIGHEST) });
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const free = this.step === FREE, { square, rest, wide } = parts.layout(this.stage, { below: free ? 0.48 : 0 });
    const { width, height } = this.stage, side = Math.max(Math.min(width, height) - 8, 120);
    this.square = free ? square : { x: Math.max((width - side) / 2, 0), y: 4, width: side, height: side };
    this.plane = parts.plane(this.square, EXTENT);
    this.context = parts.canvasOf(this.stage);
    const blue = parts.methodColour("exact", this.stage.dark);
    if (this.step >= REVEAL) {
      const values = this.model.map.surface(this.model.weights, ...TICKS);
      parts.drawSurface(this.context, values, GRID, this.square, blue, this.lit === "f" ? 3 : 1);
    }
    this.paint.draw(() => {
      const lit = this.lit === "f", look = parts.strokeOf(lit ? "var(--guess)" : "var(--edge)", lit ? 3 : 1, CLEAR);
      this.paint.put("back", "square", "rect", { ...this.square, ...look, ...ofTerm("f") });
      if (this.step === GUESS || (this.step === REVEAL && Array.isArray(this.told))) this.drawCells();
      this.drawDocuments();
      if (this.step === QUESTION) this.drawArrow();
      if (this.step === FORMULA) this.drawLit();
      if (free) this.drawFree(rest, wide);
    });
  }

  drawDocuments() {
    data.GRADES.forEach((grade, i) => {
      const [x, y] = this.plane.at(this.place(i)), lit = this.lit === "z";
      drawDocument(this.paint, "marks", `doc${i}`, { x, y, grade, size: lit ? 1.7 : 1.4, dark: this.stage.dark,
        kind: lit ? "lit" : "" });
    });
  }

  place(i) {
    return [data.X[2 * i], data.X[2 * i + 1]];
  }

  drawArrow() {
    const angle = (this.angle * Math.PI) / 180, w = [Math.cos(angle), Math.sin(angle)];
    const along = (far) => this.plane.at(w.map((one) => far * one));
    const [[x0, y0], [x1, y1], [x, y]] = [0, 0.84, 0.9].map(along);
    const transform = `translate(${x} ${y}) rotate(${-this.angle})`;
    this.paint.put("over", "w", "line", { x1: x0, y1: y0, x2: x1, y2: y1, class: "arrow" });
    this.paint.put("over", "tip", "path", { d: "M6 0L-16 9L-16 -9Z", transform, class: "tip" });
    this.paint.grip("grips", "w", "circle", {
      cx: x, cy: y, r: 20, class: "reach", "aria-label": this.stage.words.arrow,
    }, {
      value: { now: this.angle, low: 0, high: 359, text: `${this.angle}°` },
      drag: (px, py) => this.turn((Math.atan2(...this.plane.from(px, py).reverse()) * 180) / Math.PI),
      nudge: (right, up) => this.turn(this.angle - right + up),
    });
  }

  turn(degrees) {
    this.angle = ((Math.round(degrees) % 360) + 360) % 360;
    this.refresh();
    this.announce();
  }

  // --- painting -------------------------------------------------------------------------------------------

  drawCells() {
    const { x, y, width: whole } = this.square, width = whole / SIDE, { words } = this.stage;
    const look = parts.inkOf("var(--guess)", { opacity: this.step === GUESS ? 0.4 : 0.22 });
    const cell = (k) => ({ x: x + (k % SIDE) * width, y: y + Math.floor(k / SIDE) * width, width, height: width });
    this.cells.forEach((on, k) => {
      if (on) this.paint.put("lines", `cell${k}`, "rect", { ...cell(k), ...look });
    });
    if (this.step !== GUESS) return;
    const lines = Array.from({ length: SIDE - 1 }, (_, k) => (k + 1) * width);
    const d = lines.map((by) => `M${x + by} ${y}v${whole}M${x} ${y + by}h${whole}`).join("");
    this.paint.put("back", "grid", "path", { d, ...parts.strokeOf("var(--line)", 1, { opacity: 0.35 }) });
    const pad = { ...this.square, class: "reach", style: "stroke:none", role: null, tabindex: null };
    this.paint.grip("grips", "pad", "rect", pad, {
      drag: (px, py) => this.brushOn(this.cellAt(px, py)),
      drop: () => { this.brush = null; },
    });
    const row = Math.floor(this.cursor / SIDE), column = this.cursor % SIDE, on = this.cells[this.cursor];
    this.paint.grip("grips", "cursor", "rect", {
      ...cell(this.cursor), class: "reach", style: "pointer-events:none",
      "aria-label": filled(words.cell, { row: row + 1, column: column + 1 }), "aria-pressed": String(Boolean(on)),
    }, { press: () => this.set(this.cursor, 1 - on), nudge: (right, up) => this.move(right, up) });
  }

  cellAt(px, py) {
    const { x, y, width } = this.square, place = (at) => parts.within(Math.floor((at / width) * SIDE), 0, SIDE - 1);
    return place(py - y) * SIDE + place(px - x);
  }

  brushOn(k) {
    this.brush ??= 1 - this.cells[k];
    if (this.cells[k] !== this.brush) this.set(k, this.brush);
  }

  set(k, on) {
    this.cells = this.cells.map((value, at) => (at === k ? on : value));
    this.refresh();
  }

  move(right, up) {
    const row = parts.within(Math.floor(this.cursor / SIDE) - Math.sign(up), 0, SIDE - 1);
    this.cursor = row * SIDE + parts.within((this.cursor % SIDE) + Math.sign(right), 0, SIDE - 1);
    this.draw();
  }

  // --- formula and free play ------------------------------------------------------------------------------

  // What a symbol stands for: the weight of each bump, or how far one reaches.
  drawLit() {
    const { near } = this.example(), [u, v] = this.plane.at(this.place(near));
    const c = this.model.map.coefficients(this.model.weights), largest = Math.max(...c.map(Math.abs));
    this.model.map.kept.forEach((i, k) => {
      const [cx, cy] = this.plane.at(this.place(i)), r = 26 * Math.sqrt(Math.abs(c[k]) / largest);
      const colour = c[k] > 0 ? "var(--good)" : "var(--wrong)";
      if (this.lit === "c") this.paint.put("over", `c${i}`, "circle", { cx, cy, r, ...parts.strokeOf(colour, 3) });
      const term = ofTerm(i === near ? "gamma" : "z");
      this.paint.put("over", `spot${i}`, "circle", { cx, cy, r: 9, class: "spot", ...term });
    });
    const look = parts.strokeOf("var(--guess)", 3, { "pointer-events": "none" });
    this.paint.put("over", "near", "circle", { cx: u, cy: v, r: 13, ...look });
    if (this.lit !== "gamma") {
      const [x, y] = this.plane.at(CROSS);
      this.paint.put("over", "cross", "path", { d: `M${x - 9} ${y}h18M${x} ${y - 9}v18`, ...look });
      return;
    }
    const r = this.plane.unit * this.reach();
    const wide = parts.strokeOf("var(--guess)", 5);
    this.paint.clip("lines", this.square); // a wide bump reaches beyond the figure
    this.paint.put("lines", "reach", "circle", { cx: u, cy: v, r, ...wide, ...ofTerm("gamma") });
  }

  drawFree(box, wide) {
    const { words } = this.stage, { EXPONENTS: all } = data, top = box.y + (wide ? 40 : 12);
    const height = Math.min(box.y + box.height - top - 44, 340);
    const plot = parts.chart({ x: box.x, y: top + 44, width: box.width, height },
      { ends: [all[0], all.at(-1)], ticks: [-2, 0, 2, 4, 6, 8].map((k) => [k, powerOf(k)]), name: "γ" },
      { ends: [0.5, 1], ticks: [0.5, 0.75, 1].map((v) => [v, `${percent(v)} %`]), name: words.right });
    parts.drawAxes(this.paint, "curves", plot);
    parts.drawSlider(this.paint, "gamma", { x: plot.left, y: top, width: plot.width }, {
      name: words.slider, values: all, at: all.indexOf(this.exponent), text: (one) => `γ = ${powerOf(one)}`,
      set: (to) => {
        this.train(all[to]);
        this.announce(words.model);
      },
    });
    for (const [part, colour, y] of [["training", "var(--ink)", 0.9], ["validation", "var(--accent)", 0.59]]) {
      const points = curves().map((one) => [one.exponent, one[part]]);
      parts.drawCurve(this.paint, part, plot, points, parts.strokeOf(colour, 3));
      parts.drawText(this.paint, part, plot.right, plot.y(y), words[part], { anchor: "end", colour });
      parts.drawPoint(this.paint, `now ${part}`, plot, [this.exponent, this.model[part]], colour);
    }
  }
}
