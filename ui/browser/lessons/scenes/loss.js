// Lesson "loss": what a pair costs, by its margin; and which pairs pull the weights.

import { LOSSES } from "../../core/ranking.js";
import { drawDocument } from "../kit/look.js";
import { ofTerm } from "../kit/paint.js";
import { asShare, chart, drawAxes, freePlace, within } from "../kit/parts.js";
import { Scene } from "../kit/scene.js";
import { Sketch } from "../kit/sketch.js";
import { filled, number } from "../kit/words.js";
import { HIGH, LOW, MARGINS, SHOWN, TOP, distances, pulled, together } from "../examples/pulls.js";
import { GRADES, PLACES, TURN, direction, playground, queryOf } from "../examples/turning.js";

const ASKED = [-1, 0.5, 2]; // margins of the pairs that step 1 names
const SECONDS = 5, STEP = 0.1, LONGEST = 3, REACH = 1.2;
const LETTER = 9.4, LINE = 22; // pixels across and down of a name of a loss
const DENSE = Array.from({ length: 501 }, (_, k) => LOW + ((HIGH - LOW) * k) / 500);
const TENTHS = Array.from({ length: 11 }, (_, k) => k / 10);

export const lossScene = (stage) => new Loss(stage);

class Loss extends Scene {
  constructor(stage) {
    super(stage, ["back", "area", "lines", "marks", "over", "grips"]);
    this.sketch = new Sketch(MARGINS, [0, TOP], 0.25);
    this.t = -0.5;
    this.loss = "squaredHinge";
    this.w = direction(2 * TURN);
  }

  // --- what the frame asks --------------------------------------------------------------------------------

  show(step, guess, fresh) {
    this.begin(step, guess, { drawn: SHOWN.length });
    if (Array.isArray(guess)) this.sketch.take(guess);
    if (step === 3) this.loss = "squaredHinge";
    if (fresh && step === 2) {
      this.motion.play(SECONDS, (share) => {
        this.drawn = share * SHOWN.length;
        this.draw();
      });
    }
    this.draw();
  }

  guess() {
    return this.sketch.values();
  }

  fits(guess) {
    return this.sketch.fits(guess);
  }

  facts() {
    const drawn = this.sketch.values(), [nearest] = drawn ? distances(drawn) : [null], { words } = this.stage;
    const charged = (name, at) => Object.fromEntries(ASKED.map((t, k) => [`${name}${k}`, drawn ? number(at(t)) : ""]));
    const list = pulled(this.loss, this.w), count = (test) => String(list.filter(test).length);
    return {
      t: number(this.t), value: number(LOSSES[this.loss].value(this.t)), short: number(1 - this.t),
      nearest: nearest ? words.losses[nearest.loss] : "", gap: nearest ? number(nearest.gap) : "",
      ...charged("own", (t) => drawn[MARGINS.indexOf(t)]), ...charged("best", (t) => LOSSES[nearest.loss].value(t)),
      loss: words.losses[this.loss],
      trained: words.losses[this.trained()] + (this.trained() === this.loss ? "" : words.slopeless),
      pairs: String(list.length), wrong: count(({ t }) => t <= 0),
      pulling: count(({ pull }) => pull > 0), silent: count(({ pull }) => pull === 0),
      total: number(list.reduce((sum, one) => sum + one.cost, 0), 1), length: number(Math.hypot(...this.w)),
    };
  }

  // The Playground trains all of these losses but 0/1, which has no slope.
  trained() {
    return this.loss === "zeroOne" ? "squaredHinge" : this.loss;
  }

  link() {
    return `${playground(PLACES)}&ploss=${encodeURIComponent(LOSSES[this.trained()].label)}`;
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { width, height } = this.stage, { words } = this.stage;
    const top = this.step === 0 || this.step === 3 ? 96 : 40;
    const box = { x: 0, y: top - 26, width: Math.max(width, 160), height: Math.max(height - top + 10, 170) };
    this.plot = chart(box, axis(LOW, HIGH, words.margin), axis(0, TOP, words.penalty));
    this.paint.draw(() => {
      this.drawZones();
      drawAxes(this.paint, "loss", this.plot);
      const { left, width: across, height: up } = this.plot;
      this.paint.clip("lines", { x: left - 4, y: this.plot.top - 4, width: across + 8, height: up + 8 });
      if (this.step === 0 || this.step === 3) this.drawPair();
      if (this.step === 1) this.drawSketch();
      if (this.step >= 2) this.drawLosses();
      if (this.step === 2 && Array.isArray(this.told)) this.drawOwn();
      if (this.step === 3) this.drawTerms();
      if (this.step === 4) this.drawPulls();
    });
  }

  // Below 0 a pair is wrong; from 1 on it is right by the margin that is wanted.
  drawZones() {
    const { plot } = this, { words } = this.stage, bottom = plot.top + plot.height;
    const zone = { x: plot.x(LOW), y: plot.top, width: plot.x(0) - plot.x(LOW), height: plot.height };
    this.paint.put("back", "zone", "rect", { ...zone, class: "zone" });
    [["wrong", -1.25], ["right", 2.25]].forEach(([side, t]) => (
      this.paint.put("back", side, "text", { x: plot.x(t), y: bottom + 34, class: "note" }, words[side])));
  }

  // One pair on a line of scores, with its margin between them.
  drawPair() {
    const { plot, t } = this, { words } = this.stage, y = 26, unit = plot.width / (HIGH - LOW);
    const end = plot.left + plot.width, middle = (plot.left + end) / 2;
    const places = [middle + (t * unit) / 2, middle - (t * unit) / 2];
    this.paint.put("back", "scores", "line", { x1: plot.left, x2: end, y1: y, y2: y, class: "scale" });
    this.paint.put("over", "between", "line", {
      x1: places[1], x2: places[0], y1: y + 24, y2: y + 24,
      class: `margin${t > 0 ? "" : " wrong"}${this.glow("t")}`,
    });
    this.paint.put("over", "is", "text", { x: middle, y: y + 42, class: "label" }, `t = ${number(t)}`);
    [2, 0].forEach((grade, k) => this.document(`pair${k}`, places[k], y, grade, 0, 2));
    this.paint.put("back", "first", "text", { x: end, y: y - 18, class: "note end-note" }, words.first);
    const x = plot.x(t), bottom = plot.top + plot.height;
    this.paint.put("over", "at", "line", { x1: x, x2: x, y1: plot.top, y2: bottom, class: "guide" });
    const look = { cx: x, cy: bottom, r: 11, class: "handle set", "aria-label": words.move, ...ofTerm("t") };
    this.paint.grip("grips", "t", "circle", look, {
      value: { now: t, low: LOW, high: HIGH, text: number(t) },
      drag: (px) => this.move(plot.from(px, 0)[0]),
      nudge: (right, up) => this.move(t + STEP * (right + up)),
    });
  }

  document(key, x, y, grade, query, size) {
    drawDocument(this.paint, "marks", key, { x, y, grade, query, size, dark: this.stage.dark });
  }

  move(t) {
    this.t = within(Math.round(t / 0.05) * 0.05, LOW, HIGH);
    this.refresh();
  }

  drawSketch() {
    const { words } = this.stage;
    this.sketch.draw(this.paint, "lines", "grips", this.plot, {
      label: (t) => filled(words.at, { t: number(t, 1) }),
      changed: () => { this.draw(); this.stage.changed(); },
    });
  }

  // The reader's line, with its name above its right end, or below it at the top.
  drawOwn() {
    const { paint, plot, stage: { words } } = this, ends = this.told.slice(-4);
    const [low, high] = [Math.min(...ends), Math.max(...ends)];
    const y = high > TOP - 0.5 ? plot.y(low) + 20 : plot.y(high) - 14;
    this.sketch.line(paint, "lines", plot);
    paint.put("over", "mine", "text", { x: plot.x(HIGH), y, class: "label end-note guess-text" }, words.mine);
  }

  // The losses, one after the other, with their names; in the last step a name chooses one.
  drawLosses() {
    const { plot, step } = this;
    (step === 3 ? ["squaredHinge"] : SHOWN).forEach((loss, k) => {
      const share = step === 2 ? asShare(this.drawn - k) : 1;
      if (share === 0) return;
      const kind = step === 3 || (step === 4 && loss === this.loss) ? " chosen" : step === 4 ? " dim" : "";
      const d = loss === "zeroOne" ? stepPath(plot) : curveOf(plot, LOSSES[loss].value);
      const style = share < 1 ? `opacity:${share}` : null;
      const look = { d, class: `loss ${loss}${kind}${this.glow("loss")}`, style };
      this.paint.put("lines", loss, "path", { ...look, ...ofTerm("loss") });
      if (step !== 3) this.drawName(loss, kind.replace(" dim", ""));
    });
  }

  // Where the names of the losses are: beside their own curves and on none, where pairs are wrong if they can. They
  // keep off the reader's line too where that leaves a place.
  places() {
    const { plot, step, told, stage: { words } } = this, own = step === 2 && Array.isArray(told) ? told : null;
    const key = String([plot.width, plot.height, step, own]);
    if (this.named?.key === key) return this.named.places;
    const curve = (f) => DENSE.map((t) => [plot.x(t), plot.y(f(t))]);
    const lines = SHOWN.map((loss) => curve(LOSSES[loss].value)), mine = own ? curve((t) => this.sketch.at(t)) : [];
    const taken = [...lines.flat(), ...TENTHS.map((share) => [plot.x(0), plot.y(share)])]; // 0/1 rises there
    const places = Object.fromEntries(SHOWN.map((loss, k) => {
      const size = [LETTER * words.losses[loss].length, LINE], parts = [lines[k].slice(0, 200), lines[k].slice(200)];
      const free = [[...taken, ...mine], taken].map((others) => freePlace(parts, size, plot, others));
      return [loss, free[0] ?? free[1] ?? lines[k][0]];
    }));
    this.named = { key, places };
    return places;
  }

  drawName(loss, kind) {
    const [x, y] = this.places()[loss], told = this.stage.words.losses[loss];
    const look = { x, y, class: `label loss-name ${loss}${kind}` };
    if (this.step === 2) {
      this.paint.put("over", `name ${loss}`, "text", look, told);
      return;
    }
    const pressed = { ...look, "aria-pressed": String(loss === this.loss) };
    this.paint.grip("grips", `name ${loss}`, "text", pressed, { press: () => this.choose(loss) }, told);
  }

  choose(loss) {
    this.loss = loss;
    this.changed();
  }

  changed() {
    this.refresh();
    this.announce();
  }

  // The parts of max(0, 1 − t)².
  drawTerms() {
    const { plot, t } = this, bottom = plot.y(0), height = plot.y(Math.min(LOSSES.squaredHinge.value(t), TOP));
    const line = (key, [x1, y1], [x2, y2], kind) => (
      this.paint.put("over", key, "line", { x1, y1, x2, y2, class: kind + this.glow(key), ...ofTerm(key) }));
    const x = plot.x(t), one = plot.x(1), y = bottom - 12;
    line("loss", [x, bottom], [x, height], "cost");
    line("one", [one, plot.top], [one, bottom], "guide");
    if (t < 1) line("short", [x, y], [one, y], "short");
    line("max", [one, bottom], [plot.x(HIGH), bottom], "flat");
  }

  // --- the pulls of ten pairs -----------------------------------------------------------------------------

  drawPulls() {
    const { plot } = this, list = pulled(this.loss, this.w);
    list.forEach(({ t, pull, cost }, k) => {
      const held = within(t, LOW, HIGH), x = plot.x(held), y = plot.y(Math.min(cost, TOP));
      const kind = t <= 0 ? "wrong" : pull > 0 ? "" : "silent";
      if (pull > 0) {
        const far = Math.min(16 * pull, 70);
        this.paint.put("over", `pull${k}`, "path", {
          d: `M${x} ${y}h${far}m-6 -5l6 5l-6 5`, class: `pull ${kind}`,
        });
      }
      const above = cost > TOP; // a triangle: the penalty is higher than the figure
      const [tag, look] = above ? ["path", { d: `M${x} ${y - 8}l7 12h-14z` }] : ["circle", { cx: x, cy: y, r: 6 }];
      this.paint.put("over", `${tag}${k}`, tag, { ...look, class: `pair-dot ${kind}` });
    });
    this.drawInset(together(list));
  }

  inset() {
    const { plot } = this, r = Math.min(0.21 * plot.width, 0.27 * plot.height, 105);
    return { cx: plot.right - r - 4, cy: plot.top + r - 20, r };
  }

  // The plane of lesson 1: w can be turned and made longer.
  drawInset(force) {
    const { words } = this.stage, { cx, cy, r } = this.inset(), unit = r / LONGEST;
    const to = ([u, v], by) => [cx + by * u, cy - by * v];
    this.paint.put("area", "inset", "circle", { cx, cy, r, class: "inset" });
    PLACES.forEach((place, k) => this.document(`doc${k}`, ...to(place, r / REACH), GRADES[k], queryOf(k), 1));
    const [x, y] = to(this.w, unit), length = Math.hypot(...force);
    const end = length ? Math.min(4 * length, 50) / length : 0;
    const tip = { x2: x + end * force[0], y2: y - end * force[1] };
    this.paint.put("over", "force", "line", { x1: x, y1: y, ...tip, class: "force" });
    this.paint.put("over", "w", "line", { x1: cx, y1: cy, x2: x, y2: y, class: "arrow" });
    this.paint.put("over", "w name", "text", { x: cx + r, y: cy + r + 16, class: "label end-note" },
      filled(words.w, this.facts()));
    this.paint.grip("grips", "w", "circle", { cx: x, cy: y, r: 10, class: "handle set", "aria-label": words.tip }, {
      value: { now: Math.hypot(...this.w), low: 0, high: LONGEST, text: filled(words.now, this.facts()) },
      drag: (px, py) => this.pullTo([(px - cx) / unit, (cy - py) / unit]),
      nudge: (right, up) => this.pullTo([this.w[0] + STEP * right, this.w[1] + STEP * up]),
    });
  }

  pullTo([x, y]) {
    const by = Math.min(1, LONGEST / Math.max(Math.hypot(x, y), 1e-9));
    this.w = [x * by, y * by];
    this.changed();
  }
}

const axis = (low, high, name) => ({
  ends: [low, high], name, ticks: Array.from({ length: high - low + 1 }, (_, k) => [low + k, number(low + k, 0)]),
});
const curveOf = (plot, f) => plot.path(DENSE.map((t) => [t, f(t)]));

// 0/1 falls at t = 0; a curve through samples would slope there.
const stepPath = (plot) => `M${plot.x(LOW)} ${plot.y(1)}H${plot.x(0)}V${plot.y(0)}H${plot.x(HIGH)}`;
