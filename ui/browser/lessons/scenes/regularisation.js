// Lesson "regularisation": C from 2⁻¹⁰ to 2⁴ with one wrong grade. The reader draws NDCG on other lists against C.

import { mean, powerOf } from "../examples/documents.js";
import * as data from "../examples/wrong_grade.js";
import { drawDocument } from "../kit/look.js";
import { mix } from "../kit/motion.js";
import { ofTerm } from "../kit/paint.js";
import * as parts from "../kit/parts.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { Sketch } from "../kit/sketch.js";
import { filled, number } from "../kit/words.js";

const ALL = data.EXPONENTS, FIRST = ALL[0], LAST = ALL.at(-1), SECONDS = 6, EXTENT = 1.25, LOW = 0.75;
export const SIZE = 1.5, MARK = 12 * SIZE; // of documents: their scale, and pixels across
export const KNOTS = ALL.filter((exponent) => exponent % 2 === 0); // where the reader's curve has values

const computed = new Map();
export function curve(choice) {
  const key = `${choice.mended} ${choice.twice}`;
  if (!computed.has(key)) computed.set(key, ALL.map((exponent) => ({ exponent, ...data.trained(exponent, choice) })));
  return computed.get(key);
}
const PLAIN = { mended: false, twice: false };

export const best = (choice = PLAIN) => (
  curve(choice).reduce((found, one) => (one.validation > found.validation ? one : found)));

// The mean distance of a drawn curve from the validation curve, at the knots.
export const gapOf = (values) => mean(KNOTS.map((exponent, k) => (
  Math.abs(values[k] - curve(PLAIN).find((one) => one.exponent === exponent).validation))));

export const regularisationScene = (stage) => new Regularisation(stage);

class Regularisation extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "marks", "over", "labels", "grips"]);
    this.sketch = new Sketch(KNOTS, [LOW, 1], 0.01);
    this.choice = { ...PLAIN };
  }

  show(step, guess, fresh) {
    this.begin(step, guess);
    if (Array.isArray(guess)) this.sketch.take(guess);
    if (step < FREE) this.choice = { ...PLAIN };
    this.train(step === QUESTION ? -3 : step === REVEAL ? LAST : best().exponent);
    if (fresh && step === REVEAL) this.motion.play(SECONDS, (share) => this.train(mix(FIRST, LAST, share)));
  }

  train(exponent) {
    Object.assign(this, { exponent, model: data.trained(exponent, this.choice) });
    this.refresh();
  }

  guess() {
    return this.sketch.values();
  }

  fits(guess) {
    return this.sketch.fits(guess);
  }

  facts() {
    const { model, step } = this, validation = number(model.validation, 3);
    const length = Math.hypot(...model.weights);
    const found = { C: powerOf(this.exponent), angle: number(model.angle, 0), validation, length: number(length, 3),
      squared: number(length ** 2) };
    if (step >= REVEAL) {
      const { twice } = this.choice, of = (mended) => best({ mended, twice }), top = of(false);
      const high = curve(PLAIN).at(-1), drawn = Array.isArray(this.told), goal = of(true);
      const right = curve({ mended: true, twice }).find((one) => one.exponent === top.exponent);
      Object.assign(found, {
        gap: drawn ? number(gapOf(this.told), 3) : "", bestC: powerOf(top.exponent), highest: powerOf(LAST),
        best: number(top.validation, 3), high: number(high.validation, 3),
        turn: number(high.angle - top.angle, 0), mendedC: powerOf(goal.exponent), lower: number(right.validation, 3),
        short: number(right.angle, 0), goal: number(goal.angle, 0), pushed: number(top.angle, 0),
        halved: twice ? this.stage.words.halved : "",
        early: number(curve(PLAIN)[0].training, 2), trained: number(high.training, 2),
        active: String(this.active().length), pairs: String(model.pairs.length),
      });
    }
    return found;
  }

  // The pairs whose margin is below 1: only they pull.
  active() {
    const { scores, pairs: { winner, loser } } = this.model, all = Array.from(winner, (i, k) => [i, loser[k]]);
    return all.filter(([i, j]) => scores[i] - scores[j] < 1);
  }

  link() {
    return data.playground(Math.round(this.exponent), this.model.y);
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const free = this.step === FREE, below = free ? 0.62 : this.step === QUESTION ? 0.2 : 0.5;
    const { square, rest, wide } = parts.layout(this.stage, { below });
    parts.canvasOf(this.stage);
    this.plane = parts.plane(square, EXTENT);
    this.places = parts.apart(this.model.y.map((_, i) => this.plane.at([data.X[2 * i], data.X[2 * i + 1]])), MARK);
    this.paint.draw(() => {
      this.paint.put("back", "square", "rect", { ...square, ...parts.strokeOf("var(--edge)", 1) });
      this.drawPairs();
      this.drawArrow();
      this.drawDocuments();
      const used = this.step === QUESTION || free ? this.drawControls(rest, wide) : 0;
      if (this.step !== QUESTION) this.drawCurves({ ...rest, y: rest.y + used, height: rest.height - used });
    });
  }

  drawPairs() {
    if (this.lit !== "loss") return;
    for (const [i, j] of this.active()) {
      const [[x1, y1], [x2, y2]] = [this.places[i], this.places[j]];
      const d = `M${x1} ${y1}L${x2} ${y2}`, pulls = i === data.WRONG || j === data.WRONG;
      const look = parts.strokeOf(pulls ? "var(--wrong)" : "var(--line)", 1.2);
      this.paint.put("lines", `pair${i} ${j}`, "path", { d, ...look });
    }
  }

  drawDocuments() {
    const { dark, words } = this.stage;
    this.model.y.forEach((grade, i) => {
      const [x, y] = this.places[i], query = Math.floor(i / data.EACH);
      drawDocument(this.paint, "marks", `doc${i}`, { x, y, grade, query, dark, size: SIZE });
      this.paint.put("over", `spot${i}`, "circle", { cx: x, cy: y, r: 9, class: "spot", ...ofTerm("loss") });
      if (i !== data.WRONG) return;
      const colour = this.choice.mended ? "var(--good)" : "var(--wrong)";
      this.paint.put("marks", "ring", "circle", { cx: x, cy: y, r: 15, ...parts.strokeOf(colour, 3) });
      parts.drawText(this.paint, "wrong", x + 20, y, words[this.choice.mended ? "mended" : "wrong"],
        { anchor: "start", colour });
    });
  }

  drawArrow() {
    const { weights } = this.model, length = Math.hypot(...weights), w = Array.from(weights, (one) => one / length);
    const [[x0, y0], [x1, y1], [x, y]] = [0, 0.84, 0.9].map((far) => this.plane.at(w.map((one) => far * one)));
    const lit = this.glow("w"), transform = `translate(${x} ${y}) rotate(${-this.model.angle})`;
    this.paint.put("lines", "w", "line", { x1: x0, y1: y0, x2: x1, y2: y1, class: `arrow${lit}`, ...ofTerm("w") });
    this.paint.put("lines", "tip", "path", { d: "M6 0L-16 9L-16 -9Z", transform, class: `tip${lit}` });
    const [tx, ty] = this.plane.at([1.02 * w[0], 1.02 * w[1]]);
    this.paint.put("labels", "w name", "text", { x: tx, y: ty, class: `name${lit}` }, "w");
  }

  // The slider of C, and the two buttons of free play; returns the height that they use.
  drawControls({ x, y, width }, wide) {
    const { words } = this.stage, top = y + (wide ? 40 : 14), half = (width - 40) / 2;
    parts.drawSlider(this.paint, "C", { x: x + 46, y: top, width: width - 58 }, { // as the chart
      name: words.slider, values: ALL, at: ALL.indexOf(this.exponent),
      text: (one) => filled(words.value, { C: powerOf(one), length: this.facts().length }),
      set: (to) => this.tell(ALL[to], this.choice),
    });
    if (this.step !== FREE) return 0;
    ["mended", "twice"].forEach((name, k) => {
      const press = () => this.tell(this.exponent, { ...this.choice, [name]: !this.choice[name] });
      const place = { x: x + 14 + k * (half + 12), y: top + 44, width: half };
      parts.drawButton(this.paint, name, place, words.buttons[name], press, this.choice[name]);
    });
    return top - y + 88;
  }

  tell(exponent, choice) {
    this.choice = choice;
    this.train(exponent);
    const { words } = this.stage; // the reader predicts NDCG, so it is not told before
    this.announce(this.step >= REVEAL ? words.now : words.turned);
  }

  drawCurves(box) {
    const { step } = this, { words } = this.stage;
    const plot = parts.chart({ ...box, height: Math.min(box.height, 420) },
      { ends: [FIRST, LAST], ticks: [-10, -6, -2, 2].map((k) => [k, powerOf(k)]), name: "C" },
      { ends: [LOW, 1], ticks: [0.8, 0.9, 1].map((v) => [v, number(v, 1)]), name: words.ndcg });
    parts.drawAxes(this.paint, "ndcg", plot);
    if (step === GUESS) {
      const changed = () => {
        this.refresh();
      };
      const label = (exponent) => filled(words.knot, { C: powerOf(exponent) });
      this.sketch.draw(this.paint, "lines", "grips", plot, { label, changed });
      return;
    }
    const last = step === REVEAL ? this.exponent : LAST;
    const all = curve(this.choice), shown = all.filter((one) => one.exponent <= last);
    const lines = [["training", "var(--ink)"], ["validation", "var(--accent)"]].map(([part, colour]) => {
      parts.drawPoint(this.paint, `now ${part}`, plot, [this.exponent, this.model[part]], colour);
      const points = shown.map((one) => [one.exponent, one[part]]), look = parts.strokeOf(colour, 3);
      return { part, colour, points, whole: all.map((one) => [one.exponent, one[part]]), look };
    });
    if (Array.isArray(this.told) && step === REVEAL) {
      const colour = "var(--guess)", look = parts.strokeOf(colour, 3, { "stroke-dasharray": "7 5" });
      lines.push({ part: "mine", colour, points: KNOTS.map((exponent, k) => [exponent, this.told[k]]), look });
    }
    for (const { part, points, look } of lines) parts.drawCurve(this.paint, part, plot, points, look);
    this.drawNames(plot, lines);
    if (step !== FORMULA) return;
    const x = plot.x(this.exponent), look = parts.strokeOf("var(--guess)", this.lit === "C" ? 6 : 2);
    this.paint.put("lines", "C", "path", { d: `M${x} ${plot.top}V${plot.bottom}`, ...look, ...ofTerm("C") });
    const name = `C = ${powerOf(this.exponent)}`;
    parts.drawText(this.paint, "C name", x, plot.top - 10, name, { colour: "var(--guess)" });
  }

  // The names beside whole curves, also while these still grow, on no other curve or name.
  drawNames(plot, lines) {
    const ways = lines.map(({ points, whole = points }) => whole.map(([x, y]) => [plot.x(x), plot.y(y)]));
    const all = ways.map(parts.dense), names = [];
    lines.forEach(({ part, colour }, k) => {
      const text = this.stage.words[part], size = [8 * text.length, 18], own = [...all[k]].reverse();
      const [x, y] = parts.freePlace([own], size, plot, [...all, ...names].flat()) ?? own[0];
      for (const at of [y - 9, y + 9]) names.push(parts.dense([[x - size[0] / 2, at], [x + size[0] / 2, at]]));
      parts.drawText(this.paint, `of ${part}`, x, y, text, { colour });
    });
  }
}
