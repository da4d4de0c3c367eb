// Lesson "fourier": random cosines are added to one row of the kernel. How many halve the error?

import * as data from "../examples/approximation.js";
import { mean, once } from "../examples/documents.js";
import { ofTerm } from "../kit/paint.js";
import * as parts from "../kit/parts.js";
import { FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { filled, number, texts } from "../kit/words.js";

export const START = 10, NEEDED = 4 * START; // the error falls as 1/√m: half of it needs four times as many
export const GUESSES = [10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160, 200];
const SIZES = [1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 60, 80, 100, 120, 160, 200, 300, 400];
const LANDMARKS = [1, 2, 3, 4, 5, 6, 8, 10, 12, 20];
const ADDED = [1, 2, 3, 5, 10, 20, 40]; // of the question
const PLAYGROUND = [1, 2, 3, 4, 6, 8, 12, 20, 30, 50, 100]; // that it offers
const FEW = 6, EXTENT = 1.2, POINTS = 121, MANY = 40, SECONDS = 5, LEAST = 0.02, MOST = 3;
const DOTTED = { "stroke-dasharray": "2 4" }, DASHED = { "stroke-dasharray": "7 5" };

export const curves = once(() => {
  const [fourier, nystroem] = [[SIZES, data.waveMap], [LANDMARKS, data.kmeansMap]]
    .map(([sizes, draw]) => data.errors(sizes, draw));
  const at = (m) => fourier.find((one) => one.m === m).mean;
  return { fourier, nystroem, at, landmarks: nystroem.find((one) => one.mean <= at(NEEDED)).m };
});

const LINE = Float64Array.from({ length: POINTS }, (_, k) => -EXTENT + (2 * EXTENT * k) / (POINTS - 1));

// Return the row of K along a line through a document x: κ(x, x + (t, 0)).
export const bump = () => LINE.map((t) => Math.exp(-data.GAMMA * t * t));

// Return the waves cos(ω·x + b)·cos(ω·z + b) along that line, one for each cosine; 2 × their mean is the row of K̃.
export function wavesOf({ omega, phase, m }, x) {
  return Array.from({ length: m }, (_, k) => {
    const own = omega[k] * x[0] + omega[m + k] * x[1] + phase[k];
    return LINE.map((t) => Math.cos(own) * Math.cos(own + omega[k] * t));
  });
}

export const meanOf = (waves) => LINE.map((_, at) => 2 * mean(waves.map((wave) => wave[at])));

export const fourierScene = (stage) => new Fourier(stage);

class Fourier extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "over", "labels", "grips"]);
    Object.assign(this, { seed: 0, chosen: START });
  }

  show(step, guess, fresh) {
    this.begin(step, guess);
    if (Array.isArray(guess)) [this.chosen] = guess;
    if (step < FREE) this.seed = 0;
    this.m = step === QUESTION ? 1 : step === GUESS ? START : step === FREE ? FEW : NEEDED;
    if (fresh && step === REVEAL) {
      this.motion.play(SECONDS, (share) => this.to(Math.round(START * 4 ** share)));
    }
    this.to(this.m);
  }

  to(m, seed = this.seed) {
    Object.assign(this, { m, seed, waves: wavesOf(data.waveMap(seed, m), data.X) });
    if (this.step === FREE) {
      this.found = data.approximation(data.waveMap(seed, m));
      this.other = data.approximation(data.kmeansMap(0, this.landmarks()));
    }
    this.refresh();
  }

  landmarks() {
    return Math.min(this.m, data.N); // no more than documents
  }

  guess() {
    return this.chosen > START ? [this.chosen] : null;
  }

  fits(guess) {
    return guess.length === 1 && GUESSES.slice(1).includes(guess[0]);
  }

  facts() {
    const found = { start: START, needed: NEEDED, m: this.m, chosen: this.chosen, draws: data.DRAWS,
      drawn: Math.min(this.m, MANY), marks: this.landmarks(), documents: data.N };
    if (this.step >= GUESS) {
      const { at, landmarks } = curves(), away = this.chosen - NEEDED, [first, four] = [START, NEEDED].map(at);
      Object.assign(found, {
        first: number(first), half: number(first / 2), four: number(four),
        sum: number(START * number(first), 1), doubled: number(2 * START * number(first), 1), // of the number shown
        mine: number(at(this.chosen)), gap: `${away > 0 ? "+" : ""}${number(away, 0)}`, landmarks,
      });
    }
    if (this.step === FREE) {
      const six = number(curves().nystroem.find((one) => one.m === FEW).mean);
      const [error, other] = [this.found, this.other].map((one) => number(one.error, 3));
      Object.assign(found, { error, other, six, least: LEAST });
    }
    return texts(found);
  }

  link() {
    return data.playground({ pmap: "random Fourier", pm: PLAYGROUND.findLast((one) => one <= this.m) });
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { step } = this, free = step === FREE, context = parts.canvasOf(this.stage);
    const { row, side, maps } = this.boxes();
    const above = free ? 104 : step === GUESS ? 54 : 0, added = step === QUESTION ? 54 : 0;
    this.paint.draw(() => {
      if (row) this.drawRow({ ...row, y: row.y + added, height: row.height - added });
      if (added) this.drawAdded(row);
      if (free) this.drawMaps(context, maps);
      if (step === QUESTION) return;
      const plot = this.errorsChart({ ...side, y: side.y + above, height: side.height - above });
      if (free) this.drawControls(side, plot);
      if (step === GUESS) this.drawGuess(side, plot);
      this.drawErrors(plot);
    });
  }

  // Boxes of the row, of the errors beside or below it, and of the heat maps; a narrow figure has no room for all.
  boxes() {
    const [width, height] = [Math.max(this.stage.width, 240), Math.max(this.stage.height, 240)];
    const free = this.step === FREE, whole = this.step === QUESTION;
    const box = (x, y, w, h) => ({ x, y, width: w, height: h });
    if (width > 1.15 * height) {
      const half = width / 2 - 12, each = Math.min((half - 70) / 3, height * 0.44 - 34);
      return { row: box(0, 0, whole ? width : half, height * (free ? 0.56 : 1)), side: box(half + 24, 0, half, height),
        maps: { x: 46, y: height * 0.56 + 28, each } };
    }
    const each = Math.min((width - 24) / 3, height * 0.34 - 40);
    if (free) return { row: null, side: box(0, each + 40, width, height - each - 40), maps: { x: 0, y: 24, each } };
    return { row: box(0, 0, width, height * (whole ? 1 : 0.48)), side: box(0, height / 2, width, height / 2) };
  }

  drawRow(box) {
    const { words, dark } = this.stage, orange = parts.methodColour("fourier", dark), { lit, waves } = this;
    const ticks = [-1, 0, 1].map((value) => [value, number(value, 0)]);
    const counted = filled(this.m > MANY ? words.some : words.row, this.facts());
    const name = this.step === QUESTION ? words.height : counted; // there the slider has their number
    const low = this.step === QUESTION ? -2.1 : -1.1; // twice one wave needs room
    const plot = parts.chart(box, { ends: [-EXTENT, EXTENT], ticks, name: words.place },
      { ends: [low, 2.1], ticks, name });
    parts.drawAxes(this.paint, "row", plot);
    const along = (values) => Array.from(values, (value, k) => [LINE[k], value]);
    const faint = (lit && lit !== "m" ? 0.12 : 0.4) * (dark ? 2 : 1); // thin lines are weaker on dark
    const many = Math.max(1, Math.sqrt(waves.length / START));
    const thin = parts.strokeOf(orange, 1, { opacity: faint / many });
    const wavy = { ...thin, ...ofTerm("omega") };
    waves.slice(-MANY).forEach((wave, k) => parts.drawCurve(this.paint, `wave${k}`, plot, along(wave), wavy));
    const ink = parts.methodColour("exact", dark);
    parts.drawCurve(this.paint, "true", plot, along(bump()), parts.strokeOf(ink, 2.5, DASHED));
    const sum = parts.strokeOf(lit === "K" ? "var(--guess)" : orange, lit === "m" ? 6 : 3.5);
    parts.drawCurve(this.paint, "sum", plot, along(meanOf(waves)), { ...sum, ...ofTerm("K") });
    if (lit === "omega" || lit === "b") this.drawOne(plot, along);
    const named = (key, x, look) => {
      this.paint.put("over", `legend ${key}`, "path", { d: `M${x} ${plot.top + 6}h26`, ...look });
      parts.drawText(this.paint, `legend ${key}`, x + 32, plot.top + 6, words[key], { anchor: "start" });
    };
    named("exact", plot.left + 8, parts.strokeOf(ink, 2.5, DASHED));
    named("mean", plot.left + 108, parts.strokeOf(orange, 3.5));
  }

  // One cosine: its wavelength 2π/ω, or how far b moves it.
  drawOne(plot, along) {
    const { words } = this.stage, map = data.waveMap(this.seed, this.m), k = oneWave(map);
    const omega = map.omega[k], own = omega * data.X[0] + map.omega[map.m + k] * data.X[1] + map.phase[k];
    const cosine = (shift) => along(LINE.map((t) => Math.cos(shift + omega * t)));
    parts.drawCurve(this.paint, "one", plot, cosine(own), parts.strokeOf("var(--guess)", 4));
    const wave = number((2 * Math.PI) / Math.abs(omega)), b = number(map.phase[k]);
    if (this.lit === "b") parts.drawCurve(this.paint, "unmoved", plot, cosine(own - map.phase[k]),
      parts.strokeOf("var(--guess)", 2, DOTTED));
    parts.drawText(this.paint, "one name", plot.left + 8, plot.top + 30, // above the waves
      filled(words[this.lit], { wave, b }), { anchor: "start", colour: "var(--guess)" });
  }

  drawMaps(context, { x, y, each }) {
    const { dark, words } = this.stage, red = parts.themeColour(this.stage, "--wrong");
    const shown = [[data.KERNEL, "exact", "K"], [this.found.values, "fourier", words.waves],
      [this.other.values, "nystroem", words.nystroem]];
    shown.forEach(([values, method, name], k) => {
      const box = { x: x + k * (each + 12), y, width: each, height: each };
      parts.drawHeat(context, values, data.N, data.N, box, parts.methodColour(method, dark), red);
      parts.drawFrame(this.paint, method, box, name, parts.methodColour(method, dark));
    });
  }

  // The reader adds one wave after the other.
  drawAdded({ x, y, width }) {
    const colour = parts.methodColour("fourier", this.stage.dark), { words } = this.stage;
    parts.drawSlider(this.paint, "added", { x: x + 46, y: y + 12, width: width - 58 }, {
      name: words.slider, values: ADDED, at: ADDED.indexOf(this.m), colour, text: String, set: (to) => {
        this.to(ADDED[to]);
        this.announce(words.row);
      },
    });
  }

  drawControls({ y }, { left, width, x: along }) {
    const { words, dark } = this.stage, colour = parts.methodColour("fourier", dark);
    parts.drawSlider(this.paint, "m", { x: left, y: y + 12, width }, {
      name: words.both, values: SIZES, at: SIZES.indexOf(this.m), along, colour, text: (m) => `m = ${m}`,
      set: (to) => this.tell(SIZES[to], this.seed),
    });
    const again = () => this.tell(this.m, this.seed + 1);
    parts.drawButton(this.paint, "again", { x: left, y: y + 60, width: 150 }, words.again, again);
  }

  tell(m, seed) {
    this.to(m, seed);
    this.announce();
  }

  drawGuess({ y }, { left, width, x: along }) {
    parts.drawSlider(this.paint, "guess", { x: left, y: y + 14, width }, {
      name: this.stage.words.guess, values: GUESSES, at: GUESSES.indexOf(this.chosen), along, colour: "var(--guess)",
      text: (m) => `m = ${m}`, set: (to) => {
        this.chosen = GUESSES[to];
        this.refresh();
      },
    });
  }

  errorsChart(box) {
    const { words } = this.stage, free = this.step === FREE, log = true;
    const ticks = (values) => values.map((value) => [value, String(value)]);
    return parts.chart(box, {
      ends: free ? [1, 400] : [8, 220], log, ticks: ticks(free ? [1, 10, 100, 400] : [10, 20, 40, 100, 200]),
      name: free ? words.counts : words.count,
    }, {
      ends: free ? [LEAST, MOST] : [0.06, 1.1], log, ticks: ticks(free ? [0.03, 0.1, 0.3, 1] : [0.1, 0.2, 0.4, 0.8]),
      name: words.error,
    });
  }

  // Error against m: before the reveal only its start, then up to the present m.
  drawErrors(plot) {
    const { dark, words } = this.stage, { fourier, nystroem } = curves(), free = this.step === FREE;
    const { x: { ends: [low, high] }, y: { ends: [least, most] } } = plot.axes;
    const orange = parts.methodColour("fourier", dark);
    const last = this.step === REVEAL ? this.m : high, clipped = (value) => parts.within(value, least, most);
    const shown = (list) => list.filter((one) => one.m >= low && one.m <= last && one.mean >= least);
    parts.drawAxes(this.paint, "errors", plot);
    if (this.step >= REVEAL) {
      const band = shown(fourier).map((one) => [one.m, clipped(one.low), clipped(one.high)]);
      const law = [low, high].map((m) => [m, data.expectedError(m)]);
      parts.drawBand(this.paint, "band", plot, band, orange);
      const means = shown(fourier).map((one) => [one.m, one.mean]);
      parts.drawCurve(this.paint, "errors", plot, means, { ...parts.strokeOf(orange, 3), ...ofTerm("m") });
      parts.drawCurve(this.paint, "law", plot, law, parts.strokeOf("var(--ink)", 1.5, DASHED));
      const [x, y] = [plot.x(high / 2) + 8, plot.y(data.expectedError(high / 2)) - 10];
      parts.drawText(this.paint, "law name", x, y, words.law, { anchor: "start" });
    }
    if (free) this.drawPresent(plot, shown(nystroem));
    else this.drawHalf(plot);
  }

  drawPresent(plot, nystroem) {
    const { dark, words } = this.stage, blue = parts.methodColour("nystroem", dark);
    parts.drawCurve(this.paint, "nystroem", plot, nystroem.map((one) => [one.m, one.mean]), parts.strokeOf(blue, 3));
    const look = { anchor: "start", colour: blue };
    parts.drawText(this.paint, "of nystroem", plot.x(9), plot.y(0.06), words.nystroem, look);
    const orange = parts.methodColour("fourier", dark);
    parts.drawText(this.paint, "of waves", plot.x(30), plot.y(0.55), words.waves, { anchor: "start", colour: orange });
    const { error: other } = this.other;
    if (other >= LEAST) parts.drawPoint(this.paint, "now landmarks", plot, [this.landmarks(), other], blue);
    const error = parts.within(this.found.error, LEAST, MOST);
    parts.drawPoint(this.paint, "now", plot, [this.m, error], orange);
  }

  drawHalf(plot) {
    const { words, dark } = this.stage, { at } = curves(), orange = parts.methodColour("fourier", dark);
    const { left, right, bottom } = plot, y = plot.y(at(START) / 2), look = parts.strokeOf("var(--good)", 2, DOTTED);
    this.paint.put("lines", "half", "path", { d: `M${left} ${y}H${right}`, ...look });
    const far = this.chosen > NEEDED; // a place off the guess and off the curve
    const [place, above, anchor] = far ? [left + 8, 14, "start"] : [right, -12, "end"];
    parts.drawText(this.paint, "half name", place, y + above, words.half, { anchor, colour: "var(--good)" });
    parts.drawPoint(this.paint, "start", plot, [START, at(START)], orange);
    if (this.chosen > START && this.told !== "shown") {
      const x = plot.x(this.chosen), d = `M${x} ${plot.top}V${bottom}`;
      this.paint.put("lines", "mine", "path", { d, ...parts.strokeOf("var(--guess)", 4) });
      parts.drawText(this.paint, "mine name", x, plot.top - 10, words.mine, { colour: "var(--guess)" });
    }
    if (this.step >= REVEAL) parts.drawPoint(this.paint, "there", plot, [NEEDED, at(NEEDED)], orange);
  }
}

// The one of the first m cosines that is drawn: it varies along the line, and is not too fast to read.
export function oneWave({ omega, m }) {
  const lengths = Array.from(omega.subarray(0, m), (v) => Math.abs(2 * Math.PI / v));
  return lengths.reduce((best, one, k) => (Math.abs(one - 2) < Math.abs(lengths[best] - 2) ? k : best), 0);
}
