// Lesson "ndcg": one ranked list, its NDCG@10 summed rank by rank, and what two swaps cost.

import { drawGrade, gradeColour, inkOn } from "../kit/look.js";
import { ofTerm } from "../kit/paint.js";
import { asShare, within } from "../kit/parts.js";
import { Scene } from "../kit/scene.js";
import { filled, number } from "../kit/words.js";
import {
  K, KINDS, LIST, SWAPS, TRUTH, bounds, gapOf, measured, moved, quality, swapped, wrongPairs,
} from "../examples/lists.js";

const SECONDS = 6, STEP = 0.01, EDGE = 14, WIDE = 480, LEAST = 13, TICKS = [0, 0.25, 0.5, 0.75, 1];
const HIGHEST = 3; // the largest gain
const ABOVE = 24; // pixels of a number above its bar
const ROWS = [LIST, ...SWAPS.map((swap) => swapped(LIST, swap))];
const BEST = [...LIST].sort((a, b) => b - a);

export const ndcgScene = (stage) => new List(stage);

class List extends Scene {
  constructor(stage) {
    super(stage, ["back", "marks", "over", "grips"]);
    this.placed = TRUTH.map(() => null);
    this.order = LIST.map((_, at) => at);
    this.tied = LIST.map(() => false);
  }

  // --- what the frame asks --------------------------------------------------------------------------------

  show(step, guess, fresh) {
    this.begin(step, guess, { filled: step < 2 ? 0 : ROWS.length });
    if (Array.isArray(guess)) this.placed = [...guess];
    if (step < 4) {
      this.order = LIST.map((_, at) => at);
      this.tied.fill(false);
    }
    if (fresh && step === 2) {
      this.filled = 0;
      this.motion.play(SECONDS, (share) => {
        this.filled = share * ROWS.length;
        this.draw();
      });
    }
    this.draw();
  }

  guess() {
    return this.placed.every((one) => one !== null) ? [...this.placed] : null;
  }

  fits(guess) {
    return guess.length === TRUTH.length && guess.every((one) => one >= 0 && one <= 1);
  }

  facts() {
    const costs = TRUTH.slice(1).map((one) => TRUTH[0] - one), shown = TRUTH.map((one) => one.toFixed(3));
    const more = ROWS.map((row) => wrongPairs(row) - wrongPairs(LIST));
    const list = this.grades, { dcg, idealDcg, value } = measured(list);
    return {
      ndcg: number(TRUTH[0]), top: number(shown[0] - shown[1], 3), bottom: number(shown[0] - shown[2], 3),
      times: number(costs[0] / costs[1], 0), pairsTop: String(more[1]), pairsBottom: String(more[2]),
      gap: this.guess() ? number(gapOf(this.placed)) : "",
      left: String(this.placed.filter((one) => one === null).length),
      dcg: number(dcg), ideal: number(idealDcg), now: number(value), letor: number(quality(list, "letor"), 3),
      textbook: number(quality(list, "textbook"), 3),
    };
  }

  link() {
    return "what_if";
  }

  get grades() {
    return this.order.map((document) => LIST[document]);
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { width, height } = this.stage, pitch = within((width - 2 * EDGE) / K, 12, 76);
    this.left = (width - K * pitch) / 2;
    this.pitch = pitch;
    this.tile = Math.min(pitch - 6, 46);
    this.base = Math.max(0.42 * height, 120);
    this.unit = (this.base - 26) / HIGHEST;
    this.paint.draw(() => {
      this.drawList();
      if (this.step === 1 || this.step === 2) this.drawSwaps();
      if (this.step === 3) this.drawFormula();
      this.drawGauges();
    });
  }

  middle(at) {
    return this.left + (at + 0.5) * this.pitch;
  }

  drawList() {
    const { terms } = measured(this.grades), grown = this.step < 2 ? 0 : asShare(this.filled);
    terms.forEach(({ gain, product }, at) => {
      const document = this.order[at], grade = LIST[document], colour = gradeColour(grade, this.stage.dark);
      const [x, wide] = [this.middle(at), 0.62 * this.pitch], top = this.base - this.unit * gain;
      const appears = asShare(grown * K - at);
      if (gain > 0) {
        const box = { x: x - wide / 2, y: top, width: wide, height: this.unit * gain };
        const lit = this.lit === "gain" ? " lit" : "";
        this.paint.put("back", `gain${document}`, "rect", { ...box, class: `outline${lit}`, ...ofTerm("gain") });
        const high = this.unit * product * appears;
        this.paint.put("back", `part${document}`, "rect", {
          ...box, y: this.base - high, height: high, fill: colour, class: "part", ...ofTerm("discount"),
        });
        const told = this.step < 2 ? number(gain, 0) : appears === 1 ? number(product) : "";
        if (this.lit !== "discount") {
          const y = this.step < 2 || high > box.height - ABOVE ? top : this.base - high; // above the number's own bar
          this.paint.put("over", `told${document}`, "text", { x, y: y - 11, class: "small" }, told);
        }
      }
      this.drawTile(document, at, grade, colour);
    });
    this.paint.put("back", "base", "line", {
      x1: this.left, x2: this.left + K * this.pitch, y1: this.base, y2: this.base, class: "scale",
    });
  }

  drawTile(document, at, grade, colour) {
    const { words } = this.stage, y = this.base + 8 + this.tile / 2;
    const x = this.held === document ? this.heldAt : this.middle(at);
    const box = { x: x - this.tile / 2, y: y - this.tile / 2, width: this.tile, height: this.tile, rx: 5 };
    this.paint.put("marks", `tile${document}`, "rect", { ...box, fill: colour, class: "document", ...ofTerm("gain") });
    drawGrade(this.paint, "marks", `tile${document}`, { x, y, grade, dark: this.stage.dark });
    const below = { x: this.middle(at), y: y + this.tile / 2 + 14 };
    this.paint.put("back", `rank${at}`, "text", { ...below, class: "note", ...ofTerm("discount") }, String(at + 1));
    if (this.step !== 4) return;
    if (this.tied[at]) {
      const [x1, x2] = [x, this.middle(at + 1)], low = y + this.tile / 2;
      this.paint.put("over", `tie${at}`, "line", { x1, x2, y1: low, y2: low, class: "tie" });
    }
    const label = filled(words.tile, { grade, rank: at + 1 });
    this.paint.grip("grips", `tile${document}`, "rect", {
      ...box, class: "reach", "aria-label": label, "aria-roledescription": words.movable,
    }, {
      drag: (px) => this.slide(document, px),
      drop: () => { this.held = null; this.changed(); },
      nudge: (right, up) => this.put(document, at + Math.sign(right - up)),
      enter: () => this.tie(at),
    });
  }

  slide(document, x) {
    this.held = document;
    this.heldAt = within(x, this.left, this.left + K * this.pitch);
    this.put(document, Math.floor((this.heldAt - this.left) / this.pitch));
  }

  put(document, to) {
    const from = this.order.indexOf(document), place = within(to, 0, K - 1);
    if (place !== from) {
      this.order = moved(this.order, from, place);
      this.tied.fill(false);
    }
    this.changed();
  }

  tie(at) {
    if (at < K - 1) this.tied[at] = !this.tied[at];
    this.changed();
  }

  changed() {
    this.refresh();
    this.announce();
  }

  // Arcs below the documents that change places.
  drawSwaps() {
    const y = this.base + 8 + this.tile + 30;
    SWAPS.forEach(([a, b], k) => {
      const [x1, x2] = [this.middle(a), this.middle(b)], middle = (x1 + x2) / 2;
      const d = `M${x1} ${y - 6}Q${middle} ${y + 20} ${x2} ${y - 6}`;
      this.paint.put("over", `swap${k}`, "path", { d, class: "swap" });
    });
  }

  drawFormula() {
    const { terms, ideal } = measured(LIST);
    if (this.lit === "discount") {
      const points = terms.map(({ discount }, at) => [this.middle(at), this.base - HIGHEST * this.unit * discount]);
      this.paint.put("over", "curve", "polyline", { points: points.map(String).join(" "), class: "curve" });
      terms.forEach(({ discount }, at) => this.paint.put("over", `discount${at}`, "text",
        { x: points[at][0] + 10, y: points[at][1] - 14, class: "small lit" }, number(discount)));
    }
    if (this.lit !== "ideal") return;
    ideal.forEach(({ product }, at) => {
      const high = this.unit * product, wide = 0.62 * this.pitch;
      this.paint.put("over", `ideal${at}`, "rect", {
        x: this.middle(at) - wide / 2, y: this.base - high, width: wide, height: high, class: "outline lit",
      });
    });
  }

  // --- gauges from 0 to 1 ---------------------------------------------------------------------------------

  drawGauges() {
    const swaps = this.step === 1 || this.step === 2, { words, height, width } = this.stage;
    const top = this.base + this.tile + (swaps ? 62 : 44), rows = this.step === 4 ? KINDS : swaps ? ROWS : [LIST, BEST];
    const whole = this.step === 4 ? words.kinds : swaps ? words.rows : words.formula;
    const names = width < WIDE ? whole.map((name) => name.split(":")[0]) : whole; // beside a value
    const x = EDGE, length = Math.max(width - 2 * EDGE, 100), high = Math.min((height - top - 20) / rows.length, 62);
    if (this.step === 0) return;
    rows.forEach((row, k) => {
      const y = top + k * high + Math.min(high - 12, 34);
      this.paint.put("back", `name${k}`, "text", { x, y: y - 22, class: "label start" }, names[k]);
      const gauge = { x, y: y - 8, width: length, height: 16, rx: 4, class: "gauge" };
      this.paint.put("back", `gauge${k}`, "rect", gauge);
      const ticks = TICKS.map((at) => `M${x + length * at} ${y + 8}v5`).join("");
      this.paint.put("back", `ticks${k}`, "path", { d: ticks, class: "tick" });
      if (k === rows.length - 1) this.drawScale({ x, y: y + 21, length });
      const grades = this.step === 4 ? this.grades : row, kind = this.step === 4 ? row : "letor";
      if (this.step > 1) this.drawSum(k, grades, kind, { x, y, length });
      if (swaps && (this.step === 1 || Array.isArray(this.told))) this.drawGuess(k, { x, y, length });
    });
  }

  drawScale({ x, y, length }) {
    TICKS.forEach((at) => {
      this.paint.put("back", `scale${at}`, "text", { x: x + length * at, y, class: "note" }, String(at));
    });
  }

  // The terms of NDCG one after the other, each with its rank, and the value.
  drawSum(k, grades, kind, { x, y, length }) {
    const { terms, idealDcg, value } = measured(grades, kind), grown = this.step === 2 ? asShare(this.filled - k) : 1;
    const of = k === 0 ? "sum" : "ideal";
    let from = 0;
    terms.forEach(({ product, grade }, at) => {
      const share = (product / idealDcg) * asShare(grown * K - at);
      if (product > 0) {
        this.paint.put("back", `sum${k}.${at}`, "rect", {
          x: x + length * from, y: y - 8, width: length * share, height: 16, fill: gradeColour(grade, this.stage.dark),
          class: `part${this.lit === of ? " lit" : ""}`, ...ofTerm(of),
        });
        if (length * share > LEAST) {
          const style = `fill:${inkOn(gradeColour(grade, this.stage.dark))}`;
          const place = { x: x + length * (from + share / 2), y, class: "rank", style };
          this.paint.put("back", `rank${k}.${at}`, "text", place, String(at + 1));
        }
      }
      from += share;
    });
    const [low, best] = this.step === 4 ? bounds(grades, this.tied, kind) : [value, value];
    if (low < best) {
      const band = { x: x + length * low, y: y - 4, width: length * (best - low), height: 8, class: "band" };
      this.paint.put("over", `band${k}`, "rect", band);
    }
    const told = low < best ? `${number(low, 3)} – ${number(best, 3)}` : number(value, 3);
    if (grown < 1) return;
    this.paint.put("over", `value${k}`, "text", { x: x + length, y: y - 22, class: "label end" }, told);
  }

  drawGuess(k, { x, y, length }) {
    const at = this.placed[k] ?? 0.5, { words } = this.stage, now = x + length * at, done = this.step === 2;
    if (done && this.filled > k + 0.99) {
      const end = x + length * TRUTH[k];
      this.paint.put("over", `gap${k}`, "line", { x1: now, x2: end, y1: y + 10, y2: y + 10, class: "gap-line" });
    }
    const look = { d: `M${now} ${y - 12}L${now + 11} ${y}L${now} ${y + 12}L${now - 11} ${y}Z` };
    if (done) {
      this.paint.put("over", `guess${k}`, "path", { ...look, class: "handle set" });
      return;
    }
    const told = this.placed[k] === null ? words.unset : number(at);
    this.paint.put("over", `value${k}`, "text", { x: x + length, y: y - 22, class: "label end guess-text" },
      this.placed[k] === null ? "?" : number(at));
    this.paint.grip("grips", `guess${k}`, "path", {
      ...look, class: `handle${this.placed[k] === null ? "" : " set"}`, "aria-label": words.rows[k],
    }, {
      value: { now: at, low: 0, high: 1, text: told },
      drag: (px) => this.place(k, (px - x) / length),
      nudge: (right, up) => this.place(k, at + STEP * (right + up)),
    });
  }

  place(k, value) {
    this.placed[k] = Math.round(asShare(value) / STEP) * STEP;
    this.refresh();
  }
}
