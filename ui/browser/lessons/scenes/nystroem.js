// Lesson "nystroem": the reader picks three of forty documents as landmarks. How far is K̃ from K?

import * as data from "../examples/approximation.js";
import { ALL, M, SIZES, better, curves, example, histogram, triples } from "../examples/landmarks.js";
import { gradeColour } from "../kit/look.js";
import { ofTerm } from "../kit/paint.js";
import * as parts from "../kit/parts.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { SHOWN, filled, number, texts } from "../kit/words.js";

const EXTENT = 1.2, SECONDS = 3, BINS = 60;

export const nystroemScene = (stage) => new Nystroem(stage);

class Nystroem extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "marks", "over", "labels", "grips"]);
    this.picked = this.predicted = []; // landmarks that are shown, and those of the prediction
    this.kept = null; // those of the free play, while the reader looks at other steps
  }

  show(step, guess, fresh) {
    if (Array.isArray(guess)) this.predicted = [...guess];
    const told = guess === SHOWN ? data.drawLandmarks("kmeans", 0, M) : this.predicted;
    const picked = step === QUESTION ? [] : [...told];
    this.begin(step, guess, { taken: M, picked, own: guess !== SHOWN, pointed: null });
    if (step === FREE && this.kept) Object.assign(this, this.kept);
    if (fresh && step === REVEAL) this.motion.play(SECONDS, (share) => this.take(Math.min(Math.ceil(share * M), M)));
    this.compute();
    this.draw();
  }

  take(count) {
    if (count === this.taken) return;
    this.taken = count;
    this.compute();
    this.draw();
  }

  compute() {
    const own = this.picked.slice(0, this.step === REVEAL ? this.taken : undefined);
    this.map = own.length ? data.landmarkMap(own) : null;
    this.found = data.approximation(this.map);
    this.example = this.step === FORMULA && own.length === M ? example(own) : null;
    this.ndcg = this.map && this.step === FREE ? data.quality(this.map) : null;
  }

  guess() {
    return this.predicted.length === M ? [...this.predicted].sort((a, b) => a - b) : null;
  }

  fits(guess) {
    const whole = (one) => Number.isInteger(one) && one >= 0 && one < data.N;
    return guess.length === M && guess.every(whole) && new Set(guess).size === M;
  }

  facts() {
    const { step } = this, found = { n: data.N, draws: data.DRAWS, trained: data.TRAINED, cells: data.N ** 2,
      chosen: this.picked.length, m: this.picked.length };
    if (step === REVEAL) {
      const { errors, best, chosen, random, kmeans } = triples(), mine = data.errorOfTriple(...this.picked);
      const told = { mine, best, random, kmeans }, grouped = (value) => value.toLocaleString("en");
      for (const [name, value] of Object.entries(told)) found[name] = number(value);
      Object.assign(found, {
        all: grouped(errors.length), better: grouped(better(errors, mine)),
        gap: `+${number(number(mine) - number(best))}`, // of the numbers that are shown
        reached: data.reached(this.picked), reachedBest: data.reached(chosen),
      });
    }
    Object.assign(found, this.example);
    if (step === FREE) {
      const six = SIZES.indexOf(6), { error, ndcg } = curves(), after = ndcg.slice(six);
      Object.assign(found, {
        high: number(Math.max(...after)), full: number(ndcg.at(-1)), error6: number(error[six].mean),
        error: number(this.found.error, 3), ndcg: this.map ? number(this.ndcg, 3) : "–",
      });
    }
    return texts(found);
  }

  link() {
    const m = SIZES.findLast((one) => one <= this.picked.length) ?? 1, places = this.picked.slice(0, m);
    const moved = places.map((i, k) => [`z${k}`, ...[0, 1].map((c) => Math.round(100 * data.X[2 * i + c]))].join("."));
    return data.playground({ pmap: "Nyström", pm: m }).replace(/docs=[^&]*/, (docs) => [docs, ...moved].join("_"));
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    this.place();
    this.context = parts.canvasOf(this.stage);
    this.paint.draw(() => {
      this.paint.put("back", "square", "rect", { ...this.square, ...parts.strokeOf("var(--edge)", 1) });
      this.drawDocuments();
      this.drawMaps();
      if (this.step === REVEAL) this.drawBest();
      if (this.step === REVEAL) this.drawHistogram(this.below);
      if (this.step === FREE) this.drawFree(this.below);
    });
  }

  // Boxes of the plane, of the heat maps K, K̃ and error, and of what is beside or below.
  place() {
    const { square, rest, wide } = parts.layout(this.stage), charted = this.step === REVEAL || this.step === FREE;
    const box = (left, upper, side) => ({ x: left, y: upper, width: side, height: side });
    const row = (left, upper, side) => [0, 1, 2].map((k) => box(left + k * (side + 12), upper, side));
    const [w, h] = [Math.max(this.stage.width, 240), Math.max(this.stage.height, 240)];
    this.square = square;
    if (charted) {
      const beside = w > 480, top = 30 + (beside ? Math.min(0.5 * h, 0.45 * w) : Math.min(0.56 * w, 0.38 * h));
      const side = top - 30;
      const each = Math.min((w - 24) / 3, beside ? h - top - 2 : 0.3 * h), left = (w - 3 * each - 24) / 2;
      this.square = box(beside ? 0 : (w - side) / 2, 2, side);
      this.maps = row(left, top, each);
      const below = { x: 0, y: top + each + 12, width: w, height: h - top - each - 12 };
      this.below = beside ? { x: side + 24, y: 6, width: w - side - 24, height: side } : below;
    } else if (this.step < REVEAL) {
      const each = Math.min(rest.width - 4, rest.height - 40, 320);
      this.maps = [box(wide ? rest.x : (rest.width - each) / 2, rest.y + 28, each)];
    } else if (wide) {
      const each = Math.min((rest.width - 12) / 2, (rest.height - 72) / 2), [K, approximate] = row(rest.x, 28, each);
      this.maps = [K, approximate, box(rest.x, 60 + each, each)];
    } else this.maps = row(rest.x, rest.y + 28, Math.min((rest.width - 24) / 3, rest.height - 40));
    this.plane = parts.plane(this.square, EXTENT);
    this.places = data.GRADES.map((_, i) => this.plane.at([data.X[2 * i], data.X[2 * i + 1]]));
  }

  drawDocuments() {
    this.names = [...this.places]; // no name covers a document or another name
    const { dark, words } = this.stage, named = this.step === FORMULA;
    data.GRADES.forEach((grade, i) => {
      const [cx, cy] = this.places[i], on = this.picked.includes(i);
      this.paint.put("marks", `doc${i}`, "circle", { cx, cy, r: 6, fill: gradeColour(grade, dark), class: "document" });
      if (on) {
        const r = 13, d = `M${cx} ${cy - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}Z`, strong = ["C", "W"].includes(this.lit);
        const stroke = parts.strokeOf(this.colour(), strong ? 6 : 3.5, { fill: "transparent" });
        this.paint.put("over", `mark${i}`, "path", { d, ...stroke, ...ofTerm("W") });
        const look = { taken: this.names, colour: this.colour() }, k = String(this.picked.indexOf(i) + 1);
        if (named) parts.drawName(this.paint, k, [cx, cy], look);
      }
      if (named) return;
      const picks = this.step === GUESS || this.step === FREE;
      const reach = this.paint.grip("grips", `doc${i}`, "circle", {
        cx, cy, r: this.plane.unit < 140 ? 8 : 11, class: "reach", "aria-pressed": picks ? String(on) : null,
        "aria-label": filled(words.document, { k: i + 1, grade }),
      }, { press: () => (picks ? this.pick(i) : this.point(i)), among: [cx, cy] });
      reach.onpointerenter = reach.onfocus = () => this.point(i);
    });
  }

  // The reader's landmarks have one colour in all figures of the lesson, and those that k-means++ draws another.
  colour() {
    return this.own ? "var(--guess)" : parts.methodColour("nystroem", this.stage.dark);
  }

  // The best three, and what the marks in the plane mean.
  drawBest() {
    const { words } = this.stage, { x, y } = this.square, name = this.own ? "mine" : "drawn";
    triples().chosen.forEach((i) => {
      const [cx, cy] = this.places[i];
      this.paint.put("lines", `best${i}`, "circle", { cx, cy, r: 17, ...parts.strokeOf("var(--good)", 4) });
    });
    [["best", "○", "var(--good)"], [name, "◇", this.colour()]].forEach(([key, mark, colour], k) => {
      const look = { anchor: "start", colour };
      parts.drawText(this.paint, `plane ${key}`, x + 8 + 72 * k, y + 14, `${mark} ${words[key]}`, look);
    });
  }

  pick(i) {
    this.own = true;
    if (this.picked.includes(i)) this.set(this.picked.filter((one) => one !== i));
    else if (this.step === FREE || this.picked.length < M) this.set([...this.picked, i]);
    else this.set([...this.picked.slice(1), i]); // the earliest goes
  }

  set(picked) {
    Object.assign(this, { picked, pointed: null });
    if (this.step === GUESS) Object.assign(this, { predicted: picked, kept: null });
    else this.kept = { picked, own: this.own };
    this.compute();
    this.refresh();
    this.announce(this.stage.words[this.step === GUESS ? "chosen" : "now"]);
  }

  drawMaps() {
    const { words, dark } = this.stage, red = parts.themeColour(this.stage, "--wrong");
    const shown = [[data.KERNEL, "K", parts.methodColour("exact", dark)],
      [this.found.values, "K̃", parts.methodColour("nystroem", dark)],
      [this.found.difference.map(Math.abs), words.difference, red]];
    this.maps.forEach((box, k) => {
      const [values, name, colour] = shown[k];
      parts.drawHeat(this.context, values, data.N, data.N, box, colour, red);
      parts.drawFrame(this.paint, `heat${k}`, box, name);
    });
    if (this.step !== FORMULA) {
      this.drawPointed(this.maps[0]);
      return;
    }
    const spot = (term, k) => this.put(`spot ${term}`, { ...this.maps[k], class: "spot", ...ofTerm(term) });
    spot("C", 0);
    spot("approximate", 1);
    this.drawLit((k) => this.maps[k]);
    if (this.example) this.drawExample(this.example);
  }

  // Light up a document and its row of K, from either.
  point(i) {
    if (i === this.pointed) return;
    this.pointed = i;
    this.draw();
  }

  drawPointed(box) {
    const rows = this.paint.put("back", "rows", "rect", { ...box, class: "spot" }), high = box.height / data.N;
    rows.onpointermove = rows.onpointerdown = (event) => (
      this.point(parts.within(Math.floor((this.paint.at(event)[1] - box.y) / high), 0, data.N - 1)));
    if (this.pointed === null) return;
    const look = parts.strokeOf("var(--orange)", 3, { "pointer-events": "none" }), i = this.pointed;
    const [cx, cy] = this.places[i];
    this.put("row", { ...box, x: box.x - 2, width: box.width + 4, y: box.y + i * high - 2, height: high + 4, ...look });
    this.paint.put("over", "pointed", "circle", { cx, cy, r: 10, ...look });
  }

  // The cell of the example in K and K̃, and its two documents with their letters.
  drawExample(found) {
    const look = parts.strokeOf("var(--orange)", 2.5, { "pointer-events": "none" });
    this.maps.slice(0, 2).forEach(({ x, y, width }, k) => {
      const cell = width / data.N, side = cell + 4, [left, top] = [x + found.z * cell - 2, y + found.x * cell - 2];
      this.put(`example${k}`, { x: left, y: top, width: side, height: side, ...look });
    });
    for (const letter of ["x", "z"]) {
      const [cx, cy] = this.places[found[letter]];
      this.paint.put("over", `example ${letter}`, "circle", { cx, cy, r: 10, ...look });
      parts.drawName(this.paint, letter, [cx, cy], { taken: this.names, colour: "var(--orange)", aside: [0, 18] });
    }
  }

  // The cells of K that a symbol stands for: columns of the landmarks, or their crossings.
  drawLit(box) {
    const look = parts.strokeOf("var(--guess)", 3), { x, y, width } = box(0), cell = width / data.N, side = cell + 2;
    if (this.lit === "approximate") this.put("lit", { ...box(1), ...parts.strokeOf("var(--guess)", 5) });
    this.picked.forEach((i) => {
      const left = x + i * cell - 1;
      if (this.lit === "C") this.put(`column${i}`, { x: left, y, width: side, height: width, ...look });
      if (this.lit !== "W") return;
      const crossing = (j) => ({ x: left, y: y + j * cell - 1, width: side, height: side, ...look });
      this.picked.forEach((j) => this.put(`cell${i} ${j}`, crossing(j)));
    });
  }

  put = (key, attributes) => this.paint.put("over", key, "rect", attributes);

  // The errors of all choices of three, and where the reader's lies.
  drawHistogram(box) {
    const { errors, random, kmeans, best } = triples(), { words, dark } = this.stage, counts = histogram(errors, BINS);
    const most = Math.max(...counts), ticks = [0, 0.5, 1].map((v) => 100 * Math.round((v * most) / 100));
    const plot = parts.chart(box, { ends: [0, 1], ticks: [0, 0.5, 1].map((v) => [v, number(v, 1)]), name: words.error },
      { ends: [0, most * 1.45], ticks: ticks.map((v) => [v, String(v)]), name: words.choices });
    parts.drawAxes(this.paint, "all", plot);
    const bars = counts.map((count, k) => (
      `M${plot.x(k / BINS)} ${plot.bottom}V${plot.y(count)}H${plot.x((k + 1) / BINS)}V${plot.bottom}Z`)).join("");
    this.paint.put("lines", "bars", "path", { d: bars, ...parts.inkOf("var(--line)", { opacity: 0.5 }) });
    const mine = Array.isArray(this.told) && data.errorOfTriple(...this.picked);
    const marks = [["best", best, "var(--good)"], ["kmeans", kmeans, parts.methodColour("nystroem", dark)],
      ["random", random, "var(--ink)"], ["mine", mine, "var(--guess)"]].filter(([, at]) => at !== false);
    marks.sort(([, one], [, other]) => one - other); // so that no line crosses a name
    marks.forEach(([name, at, colour], k) => {
      const x = plot.x(at), y = plot.top + 8 + 19 * k, left = at > 0.7;
      const look = parts.strokeOf(colour, name === "mine" ? 4 : 2.5), anchor = left ? "end" : "start";
      this.paint.put("lines", name, "path", { d: `M${x} ${y}V${plot.bottom}`, ...look });
      parts.drawText(this.paint, name, x + (left ? -8 : 8), y, `${words[name]} ${number(at)}`, { anchor, colour });
    });
  }

  drawFree(box) {
    const { words, dark } = this.stage, { error, ndcg } = curves(), teal = "var(--accent)";
    const m = this.picked.length, at = Math.max(SIZES.findLastIndex((one) => one <= m), 0);
    const plot = parts.chart({ ...box, y: box.y + 40, height: box.height - 40 },
      { ends: [1, data.N], log: true, ticks: [1, 3, 6, 12, 20, 40].map((v) => [v, String(v)]), name: words.landmarks },
      { ends: [0, 1], ticks: [0, 0.5, 1].map((v) => [v, number(v, 1)]), name: "" });
    parts.drawAxes(this.paint, "curves", plot);
    parts.drawSlider(this.paint, "m", { x: plot.left, y: box.y + 4, width: plot.width }, {
      name: words.slider, values: SIZES, at, along: plot.x, colour: parts.methodColour("nystroem", dark),
      text: () => `m = ${m}`, set: (to) => {
        this.own = false;
        this.set(data.drawLandmarks("kmeans", 0, SIZES[to]));
      },
    });
    const red = "var(--wrong)", name = (key, y, colour) => (
      parts.drawText(this.paint, `of ${key}`, plot.right, plot.y(y), words[key], { anchor: "end", colour }));
    parts.drawBand(this.paint, "band", plot, error.map(({ m: k, low, high }) => [k, low, high]), red);
    parts.drawCurve(this.paint, "error", plot, error.map((one) => [one.m, one.mean]), parts.strokeOf(red));
    parts.drawCurve(this.paint, "ndcg", plot, ndcg.map((value, k) => [ALL[k], value]), parts.strokeOf(teal));
    name("error", 0.12, red);
    name("ndcg", 0.8, teal);
    if (!this.map) return;
    parts.drawPoint(this.paint, "now error", plot, [m, this.found.error], "var(--wrong)");
    parts.drawPoint(this.paint, "now ndcg", plot, [m, this.ndcg], teal);
  }
}
