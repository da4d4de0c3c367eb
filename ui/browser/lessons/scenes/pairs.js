// Lesson "pairs": an arrow w ranks the documents of two queries. Which pairs does it misorder after a turn?

import { drawDocument } from "../kit/look.js";
import { mix } from "../kit/motion.js";
import { ofTerm } from "../kit/paint.js";
import { within } from "../kit/parts.js";
import { Scene } from "../kit/scene.js";
import { aimOf, drawLegend, drawVerdict, ring, verdict } from "../kit/verdict.js";
import { filled, number } from "../kit/words.js";
import { hundredths } from "../examples/documents.js";
import {
  ACROSS, FROM, GRADES, PLACES, PTR, TURN, besideMargin, direction, gapOf, linesOf, margin, playground, queryOf, score,
  turning, wrongAt,
} from "../examples/turning.js";

const SECONDS = 4, RIM = 1.18, TIP = 1, EDGE = 1.1, STEP = 0.05;
const FORMULA_PAIR = [0, 1];
// A score written out: each weight times its feature.
const product = (w, [x, y]) => `${number(w[0])} × ${inBrackets(x)} + ${inBrackets(w[1])} × ${inBrackets(y)}`;
const inBrackets = (value) => (value < 0 ? `(${number(value)})` : number(value));

export const pairsScene = (stage) => new Pairs(stage);

class Pairs extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "marks", "over", "grips"]);
    this.lines = linesOf(GRADES, PTR, ACROSS);
    this.places = PLACES;
    this.marked = this.lines.map(() => false);
    this.angle = FROM;
  }

  // --- what the frame asks --------------------------------------------------------------------------------

  show(step, guess, fresh) {
    this.begin(step, guess, { moving: false, drops: step === 0 || step === 2 ? 1 : 0 });
    if (Array.isArray(guess)) this.marked = guess.map(Boolean);
    if (step < 4) Object.assign(this, { places: PLACES, angle: step < 2 ? FROM : FROM + TURN });
    if (fresh && step === 0) this.play(1.2, (share) => { this.drops = share; });
    if (fresh && step === 2) this.turn();
    this.draw();
  }

  turn() {
    this.moving = true;
    this.play(SECONDS, (share) => { this.angle = mix(FROM, FROM + TURN, share); }, () => { this.moving = false; });
  }

  play(seconds, change, done = () => {}) {
    this.motion.play(seconds, (share) => {
      change(share);
      this.refresh();
    }, () => {
      done();
      this.draw();
    });
  }

  guess() {
    return this.marked.some(Boolean) ? this.marked.map(Number) : null;
  }

  fits(guess) {
    return guess.length === this.lines.length && guess.every((one) => one === 0 || one === 1);
  }

  facts() {
    const w = direction(this.angle), wrong = wrongAt(this.lines, this.places, this.angle), [i, j] = FORMULA_PAIR;
    const after = wrongAt(this.lines, PLACES, FROM + TURN), gap = gapOf(this.marked, after, this.lines);
    const [si, sj] = [i, j].map((k) => hundredths(score(this.places[k], w))); // shown numbers add up
    return {
      ...Object.fromEntries(Object.entries(gap).map(([name, value]) => [name, String(value)])),
      after: String(after.filter(Boolean).length), lines: String(this.lines.length), turn: String(TURN),
      chosen: String(this.marked.filter(Boolean).length),
      wrong: String(wrong.filter(Boolean).length), pairs: String(this.lines.filter((one) => one.counts).length),
      si: number(si), sj: number(sj), t: number(si - sj),
      wi: product(w, this.places[i]), wj: product(w, this.places[j]),
    };
  }

  link() {
    return playground(this.places);
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { width, height } = this.stage, sides = [Math.min(height, width - 170), Math.min(width, height - 120)];
    const beside = sides[0] > sides[1], side = Math.max(...sides, 120);
    const scale = side / 2 / (RIM + 0.08), left = beside ? Math.max((width - 170 - side) / 2, 0) : (width - side) / 2;
    const cx = left + side / 2, above = beside ? Math.max((height - side) / 2, 0) : 0, cy = above + side / 2;
    this.at = ([x, y]) => [cx + scale * x, cy - scale * y];
    this.from = (px, py) => [(px - cx) / scale, (cy - py) / scale];
    Object.assign(this, { scale, size: Math.max(1.4, Math.min(side / 260, 2)) });
    const box = beside
      ? { x: left + side + 30, y: above + 34, length: side - 68, across: 120, upright: true }
      : { x: 54, y: side + 16, length: width - 90, across: 88, upright: false };
    this.paint.draw(() => {
      this.drawBack();
      this.drawLines();
      this.drawDocuments();
      if (this.step === 3) this.drawMargin();
      this.drawArrow();
      this.drawScores(box);
    });
  }

  segment(layer, key, from, to, attributes) {
    const [[x1, y1], [x2, y2]] = [this.at(from), this.at(to)];
    this.paint.put(layer, key, "line", { x1, y1, x2, y2, ...attributes });
  }

  drawBack() {
    const w = direction(this.angle), [cx, cy] = this.at([0, 0]);
    this.paint.put("back", "rim", "circle", { cx, cy, r: RIM * this.scale, class: "rim" });
    this.segment("back", "axis", ...[-RIM, RIM].map((far) => w.map((one) => far * one)), { class: "axis" });
    if (this.step === 1) {
      this.segment("back", "ghost", [0, 0], direction(FROM + TURN), { class: "ghost" });
      const [x, y] = this.at(direction(FROM + TURN).map((one) => 1.1 * one));
      this.paint.put("back", "to", "text", { x, y, class: "note" }, `+${TURN}°`);
    }
    this.places.forEach((place, k) => {
      const dim = this.step === 3 && !FORMULA_PAIR.includes(k), shown = this.step === 3 ? 1 : this.drops;
      if (!shown || dim) return;
      const foot = w.map((one) => one * score(place, w));
      const end = [0, 1].map((axis) => mix(place[axis], foot[axis], shown));
      this.segment("back", `drop${k}`, place, end, { class: "drop" });
      if (shown === 1) {
        const [x, y] = this.at(foot);
        this.paint.put("back", `foot${k}`, "circle", { cx: x, cy: y, r: 3, class: "foot" });
      }
    });
    this.drawTicks();
    const [x, y] = this.at([-RIM - 0.08, -RIM - 0.08]); // the circle leaves the corners free
    this.stage.words.features.forEach((name, k) => (
      this.paint.put("back", name, "text", { x: Math.max(x - 24, 0), y: y - 30 + 20 * k, class: "note start" }, name)));
  }

  // On the rim: the angles at which pairs turn.
  drawTicks() {
    if (this.step !== 2 && this.step !== 4) return;
    const [x, y] = this.at([RIM + 0.08, -RIM - 0.08]), right = Math.min(x + 24, this.stage.width);
    this.paint.put("back", "tick", "text", { x: right, y: y - 10, class: "note end-note" }, this.stage.words.tick);
    this.lines.forEach((line, k) => {
      if (!line.counts) return;
      turning(line, this.places).forEach((degrees, which) => {
        if (this.step === 2 && !(degrees > FROM && degrees <= this.angle)) return;
        const out = direction(degrees), after = wrongAt([line], this.places, degrees + 0.01)[0];
        const ends = [0.97, 1.04].map((far) => out.map((one) => far * RIM * one));
        const kind = this.step === 4 ? "tick" : `tick ${after ? "wrong" : "right"}`;
        this.segment("back", `tick${k}.${which}`, ...ends, { class: kind });
      });
    });
  }

  drawLines() {
    const wrong = wrongAt(this.lines, this.places, this.angle), judged = this.step === 2 && Array.isArray(this.told);
    const after = wrongAt(this.lines, PLACES, FROM + TURN);
    this.lines.forEach((line, k) => {
      const { i, j, counts } = line, [a, b] = [this.places[i], this.places[j]];
      if (!counts && this.step !== 1 && this.step !== 2) return;
      const near = this.moving && counts
        ? Math.max(0, 1 - Math.min(...turning(line, this.places).map((one) => Math.abs(one - this.angle))) / 2.5) : 0;
      const dim = this.step === 3 && (i !== FORMULA_PAIR[0] || j !== FORMULA_PAIR[1]);
      const kinds = ["pair", wrong[k] ? "wrong" : "right", !counts && "across", dim && "dim"].filter(Boolean);
      const look = { class: kinds.join(" "), style: `--near:${near.toFixed(2)}` };
      this.segment("lines", `pair${k}`, a, b, look);
      const [x, y] = this.at([mix(a[0], b[0], 0.5), mix(a[1], b[1], 0.5)]);
      const kind = judged ? verdict(this.marked[k], after[k]) : this.step === 1 && this.marked[k] && "over";
      drawVerdict(this.paint, `mark${k}`, kind, x, y);
      if (this.step === 1) this.lineGrip(k, x, y);
    });
    const [left, top] = this.at([-RIM - 0.08, RIM + 0.08]);
    if (judged) drawLegend(this.paint, [left + 8, top + 10], this.stage.words.judged);
  }

  lineGrip(k, x, y) {
    const { i, j } = this.lines[k], { words } = this.stage;
    const [[x1, y1], [x2, y2]] = [i, j].map((one) => this.at(this.places[one]));
    const [dx, dy] = [(x2 - x1) * 0.14, (y2 - y1) * 0.14];
    const label = filled(words.line, { a: this.named(i), b: this.named(j) });
    this.paint.grip("grips", `line${k}`, "path", {
      d: `M${x1 + dx} ${y1 + dy}L${x2 - dx} ${y2 - dy}${ring(x, y, 9)}`, class: "reach",
      "aria-label": label, "aria-pressed": String(this.marked[k]),
    }, { press: () => this.mark(k), among: [x, y] });
    // follows its grip in the page, so that the style sheet shows it before a click
    this.paint.put("grips", `aim${k}`, "path", { d: aimOf([x1, y1], [x2, y2], 9 * this.size), class: "aim" });
  }

  mark(k) {
    this.marked[k] = !this.marked[k];
    this.refresh();
  }

  named(k) {
    const { words } = this.stage;
    return filled(words.document, { shape: words.shapes[queryOf(k)], k: (k % PTR[1]) + 1, grade: GRADES[k] });
  }

  documentMark(layer, key, k, [x, y], size, kind = "") {
    const { dark } = this.stage;
    drawDocument(this.paint, layer, key, { x, y, grade: GRADES[k], query: queryOf(k), size, dark, kind });
  }

  drawDocuments() {
    this.places.forEach((place, k) => {
      const [x, y] = this.at(place), dim = this.step === 3 && !FORMULA_PAIR.includes(k);
      const lit = this.step === 3 && !dim && this.lit === ["xi", "xj"][FORMULA_PAIR.indexOf(k)];
      this.documentMark("marks", `doc${k}`, k, [x, y], this.size * (lit ? 1.35 : 1), dim ? "dim" : lit ? "lit" : "");
      if (this.step === 3 && !dim) {
        const spot = { cx: x, cy: y, r: 16, class: "spot", ...ofTerm(["xi", "xj"][FORMULA_PAIR.indexOf(k)]) };
        this.paint.put("grips", `spot${k}`, "circle", spot);
      }
      if (this.step !== 4) return;
      const told = { "aria-label": this.named(k), "aria-roledescription": this.stage.words.movable };
      this.paint.grip("grips", `doc${k}`, "circle", { cx: x, cy: y, r: 16, class: "reach", ...told }, {
        drag: (px, py) => this.move(k, this.from(px, py)),
        nudge: (right, up) => this.move(k, [place[0] + STEP * right, place[1] + STEP * up]),
      });
    });
  }

  move(k, [x, y]) {
    const moved = [x, y].map((value) => within(hundredths(value), -EDGE, EDGE));
    this.places = this.places.map((place, at) => (at === k ? moved : place));
    this.changed();
  }

  changed() {
    this.refresh();
    this.announce();
  }

  drawArrow() {
    const w = direction(this.angle), [x, y] = this.at(w.map((one) => TIP * one));
    const lit = this.glow("w"), free = this.step >= 3;
    this.segment("over", "w", [0, 0], w.map((one) => (TIP - 0.08) * one), { class: `arrow${lit}`, ...ofTerm("w") });
    const transform = `translate(${x} ${y}) rotate(${-this.angle})`;
    this.paint.put("over", "tip", "path", { d: "M4 0L-15 8L-15 -8Z", transform, class: `tip${lit}` });
    const [tx, ty] = this.at([w[0] * 0.9 - w[1] * 0.16, w[1] * 0.9 + w[0] * 0.16]);
    this.paint.put("over", "name", "text", { x: tx, y: ty, class: `name${lit}` }, "w");
    if (!free) return;
    const look = { cx: x, cy: y, r: 13, class: "handle", "aria-label": this.stage.words.arrow, ...ofTerm("w") };
    this.paint.grip("grips", "w", "circle", look, {
      value: { now: Math.round(this.angle), low: 0, high: 360, text: `${Math.round(this.angle)}°` },
      drag: (px, py) => this.turnTo((Math.atan2(...this.from(px, py).reverse()) * 180) / Math.PI),
      nudge: (right, up) => this.turnTo(this.angle - right + up),
    });
  }

  turnTo(degrees) {
    this.angle = ((Math.round(degrees) % 360) + 360) % 360;
    this.changed();
  }

  // The two projections of a pair along the arrow, and what lies between them.
  drawMargin() {
    const w = direction(this.angle), off = [-w[1] * 0.07, w[0] * 0.07], lit = this.glow("t");
    const [from, to] = FORMULA_PAIR.map((k) => w.map((one) => one * score(this.places[k], w)));
    const beside = (point) => point.map((one, axis) => one - off[axis]);
    const sign = margin({ i: FORMULA_PAIR[0], j: FORMULA_PAIR[1] }, this.places, w) > 0 ? "" : " wrong";
    this.segment("over", "t", beside(from), beside(to), { class: `margin${lit}${sign}`, ...ofTerm("t") });
    const [x, y] = this.at(besideMargin(...FORMULA_PAIR.map((k) => this.places[k]), w, off.map((one) => 2.2 * one)));
    this.paint.put("over", "t name", "text", { x, y, class: `name${lit}${sign}` }, "t");
    FORMULA_PAIR.forEach((k, which) => {
      const [px, py] = this.at(this.places[k]), left = px + [18, -29][which]; // xⱼ away from the arrow's name
      const named = this.lit === ["xi", "xj"][which] ? "name lit" : "name";
      this.paint.put("over", `x${which}`, "text", { x: left, y: py - 18, class: named }, "x");
      const index = { x: left + 11, y: py - 11, class: `${named} index` };
      this.paint.put("over", `index${which}`, "text", index, "ij"[which]);
    });
  }

  // The scores of each query along a line: first is at the top, or right.
  drawScores({ x, y, length, across, upright }) {
    const { words } = this.stage, w = direction(this.angle);
    [0, 1].forEach((query) => {
      const line = upright ? x + across * (0.25 + 0.5 * query) : y + across * (0.25 + 0.5 * query);
      const [dx, dy] = upright ? [0, length] : [length, 0], [x1, y1] = upright ? [line, y] : [x, line];
      const ends = { x1, y1, x2: x1 + dx, y2: y1 + dy };
      this.paint.put("back", `scale${query}`, "line", { ...ends, class: "scale" });
      for (let k = PTR[query]; k < PTR[query + 1]; k++) {
        const share = (score(this.places[k], w) / RIM + 1) / 2;
        const place = upright ? [line, y + length * (1 - share)] : [x + length * share, line];
        this.documentMark("marks", `score${k}`, k, place, this.size * 0.9);
      }
    });
    const middle = across / 2, ends = upright
      ? [[x + middle, y - 14], [x + middle, y + length + 18]] : [[x + length + 20, y + middle], [x - 26, y + middle]];
    const turned = upright ? `rotate(-90 ${x + middle} ${y + length / 2})` : null;
    const place = upright ? { x: x + middle, y: y + length / 2 } : { x: x + length / 2, y: y + middle };
    this.paint.put("back", "score", "text", { ...place, transform: turned, class: "note" }, words.score);
    this.paint.put("back", "first", "text", { x: ends[0][0], y: ends[0][1], class: "note" }, words.highest);
    this.paint.put("back", "last", "text", { x: ends[1][0], y: ends[1][1], class: "note" }, words.lowest);
  }
}
