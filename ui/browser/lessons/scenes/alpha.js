// Lesson "alpha": the dual variables of one query's pairs as a matrix. What is its rank?

import { LOSSES } from "../../core/losses.js";
import { once, powerOf } from "../examples/documents.js";
import * as data from "../examples/dual.js";
import { ofTerm } from "../kit/paint.js";
import * as parts from "../kit/parts.js";
import { crosses, drawProduct, drawSizes } from "../kit/tables.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { filled, number, texts } from "../kit/words.js";

export const START = -5; // log₂ C of the question
const EXPONENTS = Array.from({ length: 13 }, (_, k) => k - 8), SHARES = [0, 0.001, 0.01, 0.05, 0.1];
const TRAINED = ["squaredHinge", "hinge", "logistic"];
const SECONDS = 5, LEAST = 1e-8, MOST = 5, EXAMPLE = { row: 2, column: 4 };
export const [ROWS, COLUMNS] = [[1, 2], [3, 1, 2]]; // numbers of the small table of rank 1

export const bound = once(() => data.largestRank(data.trained(START)));
const first = once(() => data.trained(START));
const tables = once(() => data.tables(first(), START));
const missed = once(() => data.missed(first(), 3));

// A share in percent, with one digit below 10: 100, 38, 6, 0.9.
export const inPercent = (share) => String(Number((100 * share).toPrecision(share < 0.1 ? 1 : 3 - (share < 1))));

export const alphaScene = (stage) => new Alpha(stage);

class Alpha extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "over", "labels", "grips"]);
    Object.assign(this, { chosen: null, example: EXAMPLE });
  }

  show(step, guess, fresh) {
    this.begin(step, guess, { loss: "squaredHinge", share: 0, table: 0 });
    if (Array.isArray(guess)) [this.chosen] = guess;
    this.train(START);
    const last = tables().length;
    this.add(last);
    if (fresh && step === REVEAL) {
      this.motion.play(SECONDS, (share) => this.add(Math.max(1, Math.ceil(share * last))));
    }
  }

  // Add up the first k tables.
  add(k) {
    this.k = k;
    this.sum = first().values.map((_, at) => tables().slice(0, k).reduce((sum, table) => sum + table[at], 0));
    this.wrong = this.sum.filter((value, at) => Math.abs(value - first().values[at]) > LEAST).length;
    this.refresh();
  }

  // Choose another pair; a crossed cell is none.
  choose(row, column) {
    const { rows, columns } = this.model;
    const [i, j] = [parts.within(row, 0, rows - 1), parts.within(column, 0, columns - 1)];
    if (!data.isPair(i * columns + j, columns)) return;
    this.example = { row: i, column: j };
    this.refresh();
    this.announce(this.stage.words.pair);
  }

  train(exponent) {
    const model = data.trained(exponent, this.loss), values = data.inexact(model.values, this.share);
    const spectrum = data.spectrum(values, model.rows, model.columns);
    Object.assign(this, { exponent, model, values, spectrum, table: Math.min(this.table, spectrum.rank - 1) });
  }

  tell(change) {
    Object.assign(this, change);
    this.train(this.exponent);
    this.refresh();
    this.announce();
  }

  guess() {
    return this.chosen === null ? null : [this.chosen];
  }

  fits(guess) {
    return guess.length === 1 && Number.isInteger(guess[0]) && guess[0] >= 1 && guess[0] <= bound();
  }

  facts() {
    const { rows, columns, values, winners, losers, scores } = this.model, { rank } = this.spectrum;
    const { row, column } = this.example, away = (this.chosen ?? 0) - rank;
    const count = (test) => values.filter(test).length, pulls = count((value) => value > 0);
    const { words } = this.stage, pairs = count((_, k) => data.isPair(k, columns));
    const byRows = this.loss === "squaredHinge" && !this.share && pulls === pairs, same = byRows ? words.same : "";
    const [fi, fj] = [scores[winners[row]], scores[losers[column]]].map((score) => number(score, 3));
    const [one, other] = [fi, fj].map((told) => Number(told.replace("−", "-"))), margin = one - other; // as shown
    return texts({
      rows, columns, bound: bound(), rank, chosen: this.chosen ?? "–", C: powerOf(this.exponent), pulls,
      pairs, k: this.k, kept: rank * (rows + columns), single: rows + columns, wrong: this.wrong, fi, fj,
      table: words.tables[this.k - 1], gap: `${away > 0 ? "+" : ""}${number(away, 0)}`, ...this.answer(),
      energy: this.held(this.spectrum), a: number(values[row * columns + column], 3), t: number(margin, 3),
      lack: `1 ${margin < 0 ? "+" : "−"} ${number(Math.abs(margin), 3)}`, twoC: powerOf(this.exponent + 1),
      few: Math.min(data.FEW, rank), changes: words.changes[this.loss], same: filled(same, { rank }),
      ...this.sizeOf(this.table), miss: inPercent(missed()),
    });
  }

  // How much of the squared cells the largest tables hold, in words.
  held({ rank, energy }) {
    return rank <= data.FEW ? "100 %" : energy > 0.9999 ? this.stage.words.nearly : `${number(100 * energy, 2)} %`;
  }

  sizeOf(k) {
    const { shares, largest } = this.spectrum;
    return { at: k + 1, size: Number((shares[k] * largest).toPrecision(2)) };
  }

  // What an error changes at this C and loss: the reader's, or the one that the question names.
  answer() {
    if (this.step !== FREE) return {};
    const { words } = this.stage, { values, rows, columns } = this.model, share = this.share || SHARES[1];
    const [exact, erring] = [values, data.inexact(values, share)].map((all) => data.spectrum(all, rows, columns));
    return {
      name: words.names[this.loss], asked: `${inPercent(share)} %`, four: data.FEW,
      before: this.held(exact), after: this.held(erring), adds: inPercent(erring.shares[exact.rank]),
    };
  }

  link() {
    return `low_rank?${new URLSearchParams({ map: "linear", loss: LOSSES[this.loss].label, c: this.exponent })}`;
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { step, stage: { words } } = this, context = parts.canvasOf(this.stage);
    const { map, sum, added, controls, bars, table } = this.boxes();
    this.paint.draw(() => {
      this.drawMatrix(context, "alpha", map, this.values, words.alpha, true);
      if (sum) this.drawMatrix(context, "sum", sum, this.sum, filled(words.sum, this.facts()), false);
      if (added) this.drawMatrix(context, "last", added, tables()[this.k - 1], filled(words.last, this.facts()), false);
      if (step === GUESS) drawProduct(this.paint, controls, [ROWS, COLUMNS], words.product);
      if (step === GUESS) this.drawGuess(bars);
      if (step === REVEAL) this.drawAdded(controls);
      if (step === FORMULA) this.drawExample(map);
      if (step === FREE) this.drawControls(controls);
      if (step === FREE) this.drawTables(context, bars, table);
    });
  }

  // Boxes of the matrix, of the sum of tables and its last one, of the controls, and of the singular values.
  boxes() {
    const { step } = this, [width, height] = [Math.max(this.stage.width, 240), Math.max(this.stage.height, 240)];
    const box = (x, y, w, h) => ({ x, y, width: w, height: h }), alone = step === QUESTION || step === FORMULA;
    const shape = this.model.columns / this.model.rows, matrix = (x, y, w) => box(x, y, w, w / shape);
    if (alone) return { map: matrix(34, 46, Math.min(width - 60, (height - 76) * shape)) };
    const wide = width > 1.15 * height, half = (width - 44) / 2;
    if (step === GUESS) {
      const map = matrix(34, 46, Math.max(Math.min(width - 60, (height - (wide ? 200 : 264)) * shape), 60));
      const top = map.height + 66, controls = box(wide ? 34 : 0, top, wide ? half : width, 112);
      return { map, controls, bars: wide ? box(width / 2 + 30, top, half, 100) : box(18, top + 122, width - 18, 70) };
    }
    if (step === REVEAL) {
      const each = wide ? Math.min((width - 74) / 2, ((height - 90) / 2) * shape) : half;
      const map = matrix(wide ? 34 : 28, wide ? 46 : 42, each), top = map.y + map.height + 34;
      const x = map.x + each + (wide ? 40 : 8), aside = box(x, 20, width - x, 64);
      if (wide) return { map, sum: matrix(map.x, top, each), added: matrix(x, top, each), controls: aside };
      const w = Math.min(each, (height - top - 94) * shape), added = matrix((width - w) / 2, top + 84, w); // wide name
      return { map, sum: matrix(x, map.y, each), controls: box(0, top - 10, width, 64), added };
    }
    const room = 120; // of the controls
    if (wide) {
      const x = width * 0.46 + 24, top = room + 20; // two matrices below each other
      const map = matrix(34, 46, Math.min(width * 0.46 - 34, ((height - 92) / 2) * shape));
      const bars = box(x, top, width - x, Math.min(height - top, 430));
      const table = matrix(34, map.height + 90, map.width);
      return { map, table, bars, controls: box(x, 20, width - x, room) };
    }
    const map = matrix(28, 42, width * 0.5), top = map.height + 56, x = map.width + 48;
    const table = matrix(x, 42, width - x - 1);
    return { map, table, controls: box(0, top, width, room), bars: box(8, top + room, width - 8, height - top - room) };
  }

  // Draw a matrix, with the strongest colour for the largest α, and the grades of its rows and columns.
  drawMatrix(context, key, box, values, name, labelled) {
    const { rows, columns } = this.model, colour = parts.methodColour("data", this.stage.dark);
    const top = Math.max(...(this.step === FREE ? values : first().values)), room = labelled ? 20 : 0;
    const below = parts.themeColour(this.stage, "--wrong");
    parts.drawHeat(context, values.map((value) => value / top), rows, columns, box, colour, below);
    parts.drawFrame(this.paint, key, { ...box, y: box.y - room, height: box.height + room }, name);
    this.drawNoPairs(key, box);
    if (!labelled) return;
    const { above, beside } = this.blocks(), { x, y, width, height } = box;
    const told = (grade, side, px, py) => parts.drawText(this.paint, `${key} ${side}${grade}`, px, py, String(grade));
    told(2, "row", x - 14, y + (above / 2) * (height / rows));
    told(1, "row", x - 14, y + ((above + rows) / 2) * (height / rows));
    told(1, "column", x + (beside / 2) * (width / columns), y - 10);
    told(0, "column", x + ((beside + columns) / 2) * (width / columns), y - 10);
  }

  // Rows of grade 2, and columns of grade 1.
  blocks() {
    const { winners, losers } = this.model;
    const count = (list, grade) => list.filter((i) => data.GRADES[i] === grade).length;
    return { above: count(winners, 2), beside: count(losers, 1) };
  }

  // Cross out each cell of equal grades.
  drawNoPairs(key, { x, y, width, height }) {
    const { rows, columns } = this.model, [across, down] = [width / columns, height / rows];
    const { above, beside } = this.blocks(), box = { x, y: y + above * down, across, down };
    const d = crosses(box, rows - above, beside);
    this.paint.put("lines", `${key} none`, "path", { d, ...parts.strokeOf("var(--line)", 1) });
  }

  // One pair: its row, its column and its α.
  drawExample(box) {
    const { rows, columns } = this.model, { x, y, width, height } = box, { row, column } = this.example;
    const [across, down] = [width / columns, height / rows], [left, top] = [x + column * across, y + row * down];
    const at = (px, py) => this.choose(Math.floor((py - y) / down), Math.floor((px - x) / across));
    this.paint.grip("back", "cell", "rect", { ...box, class: "area", "aria-label": this.stage.words.cell }, {
      value: { now: row * columns + column, low: 0, high: rows * columns - 1,
        text: filled(this.stage.words.pair, this.facts()) },
      drag: at, nudge: (right, up) => this.choose(row - up, column + right),
    });
    const put = (term, place, more = { "pointer-events": "none" }) => this.paint.put("over", term, "rect", {
      ...place, ...parts.strokeOf("var(--guess)", this.lit === term ? 5 : 2, more), ...ofTerm(term) });
    put("fi", { x, y: top, width, height: down });
    put("fj", { x: left, y, width: across, height });
    put("alpha", { x: left, y: top, width: across, height: down }, { fill: "transparent" });
    if (this.lit === "C") put("C", { x, y, width, height });
    const name = (term, text, place) => this.paint.put("over", `${term} name`, "text",
      { ...place, class: `name index${this.glow(term)}`, ...ofTerm(term) }, text);
    name("fi", "i", { x: x + width + 12, y: top + down / 2 });
    name("fj", "j", { x: left + across / 2, y: y + height + 14 });
  }

  drawAdded({ x, y, width }) {
    const { words } = this.stage, values = tables().map((_, k) => k + 1);
    parts.drawSlider(this.paint, "added", { x: x + 14, y: y + 8, width: width - 28 }, {
      name: words.added, values, at: this.k - 1, colour: parts.methodColour("data", this.stage.dark), text: String,
      set: (to) => {
        this.motion.stop();
        this.add(values[to]);
        this.announce(words.sum);
      },
    });
  }

  drawGuess({ x, y, width }) {
    const { words } = this.stage, values = Array.from({ length: bound() }, (_, k) => k + 1);
    parts.drawSlider(this.paint, "guess", { x: x + 16, y: y + 40, width: width - 32 }, {
      name: words.slider, values, at: (this.chosen ?? 1) - 1, colour: "var(--guess)", unset: this.chosen === null,
      text: (rank) => (this.chosen === null ? "?" : String(rank)), set: (to) => {
        this.chosen = values[to];
        this.refresh();
      },
    });
  }

  drawControls({ x, y, width }) {
    const { words } = this.stage, wide = 0.58 * (width - 56), narrow = width - 56 - wide;
    const slider = (key, left, room, name, at, settings) => (
      parts.drawSlider(this.paint, key, { x: left, y: y + 8, width: room }, { name, at, ...settings }));
    slider("C", x + 14, narrow, words.C, EXPONENTS.indexOf(this.exponent), { values: EXPONENTS, text: powerOf,
      set: (to) => this.tell({ exponent: EXPONENTS[to] }) });
    const error = wide > 178 ? words.error : words.errorShort;
    slider("error", x + 42 + narrow, wide, error, SHARES.indexOf(this.share), { values: SHARES, colour: "var(--wrong)",
      text: (share) => `${Number((100 * share).toFixed(1))} %`, set: (to) => this.tell({ share: SHARES[to] }) });
    const each = (width - 28 - 16) / 3;
    TRAINED.forEach((loss, k) => {
      const place = { x: x + 14 + k * (each + 8), y: y + 64, width: each };
      parts.drawButton(this.paint, loss, place, words.losses[loss], () => this.tell({ loss }), this.loss === loss);
    });
  }

  // The sizes of tables; the reader chooses one, which is shown beside or below α.
  drawTables(context, bars, box) {
    const { words, dark } = this.stage, { shares } = this.spectrum, colour = parts.methodColour("data", dark);
    const powers = [1, 1e-2, 1e-4, data.TOLERANCE].map((share) => [share, inPercent(share)]);
    const plot = parts.chart(bars,
      { ends: [0, shares.length + 1], ticks: [1, 4, 8, 12].map((k) => [k, String(k)]), name: words.number },
      { ends: [LEAST, MOST], log: true, ticks: powers, name: words.singular });
    drawSizes(this.paint, plot, shares, {
      least: LEAST, counts: data.TOLERANCE, few: data.FEW, at: this.table, colour, text: inPercent,
      label: (k) => filled(words.part, this.sizeOf(k)), choose: (k) => {
        this.table = k;
        this.refresh();
        this.announce(words.part);
      },
    });
    const { rows, columns } = this.model, table = data.nearest(this.values, rows, columns)[this.table];
    const most = Math.max(...table.map(Math.abs)), look = [colour, parts.themeColour(this.stage, "--wrong")];
    parts.drawHeat(context, table.map((value) => value / most), rows, columns, box, ...look);
    parts.drawFrame(this.paint, "table", box, filled(words.part, this.facts()));
  }
}
