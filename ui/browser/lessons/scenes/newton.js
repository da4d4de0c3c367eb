// Lesson "newton": where the next step of Newton's method lands, beside gradient descent.

import { contour } from "../../playground/geometry.js";
import { mix } from "../kit/motion.js";
import { ofTerm } from "../kit/paint.js";
import { asShare, within } from "../kit/parts.js";
import { Scene } from "../kit/scene.js";
import { filled, number } from "../kit/words.js";
import {
  C, EXTENT, MOST, SIDE, SITES, START, bowl, crossed, distance, gradientPath, kinks, landscape, nearRings, newtonPath,
  ring,
} from "../examples/descent.js";
import { hundredths } from "../examples/documents.js";
import { playground } from "../examples/turning.js";

const SECONDS = 6, STEP = 0.1, NEAR = 1.7, LETTER = 7.5;
export const SHRUNK = 400; // −g is drawn at this part of its length, so that it fits into the figure
const inFigure = (value) => within(value, -EXTENT, EXTENT);
const rounded = (value) => hundredths(inFigure(value));

export const newtonScene = (stage) => new Newton(stage);

class Newton extends Scene {
  constructor(stage) {
    super(stage, ["back", "lines", "marks", "over", "grips"]);
    this.land = landscape();
    this.placed = null;
    this.w = [...START];
  }

  // --- what the frame asks --------------------------------------------------------------------------------

  show(step, guess, fresh) {
    this.begin(step, guess, { share: step < 2 ? 0 : 1 });
    if (Array.isArray(guess)) this.placed = [...guess];
    if (step < 4) this.w = [...START];
    this.follow();
    if (fresh && step === 2) {
      this.share = 0;
      this.motion.play(SECONDS, (share) => {
        this.share = share;
        this.draw();
      });
    }
    this.draw();
  }

  follow() {
    this.newton = newtonPath(this.w);
    this.gradient = gradientPath(this.w);
  }

  guess() {
    return this.placed && [...this.placed];
  }

  fits(guess) {
    return guess.length === 2 && guess.every((one) => Math.abs(one) <= EXTENT);
  }

  facts() {
    const { lowest, gradient, value } = bowl(this.w), gap = this.placed ? distance(this.placed, bowl(START).lowest) : 0;
    const slow = this.gradient.length - 1, n = this.newton.length - 1, { words } = this.stage;
    return {
      gap: number(gap), step: number(distance(START, bowl(START).lowest)),
      crossed: String(crossed(this.w, lowest)), newton: filled(n === 1 ? words.step : words.steps, { n }),
      gradient: slow > MOST ? filled(words.more, { most: MOST }) : String(slow), value: number(value, 1),
      slope: number(Math.hypot(...gradient), 1), shrunk: String(SHRUNK), first: number(bowl(lowest).value, 1),
    };
  }

  link() {
    return `${playground(SITES)}&pc=${Math.log2(C)}`;
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { width, height } = this.stage, side = Math.max(Math.min(width - 40, height - 48), 120);
    const left = Math.max((width - side) / 2, 34), unit = side / 2 / EXTENT;
    Object.assign(this, { side, left, unit });
    this.at = ([x, y]) => [left + unit * (x + EXTENT), unit * (EXTENT - y)];
    this.from = (px, py) => [(px - left) / unit - EXTENT, EXTENT - py / unit];
    this.paint.draw(() => {
      this.drawLand();
      if (this.step === 1) this.drawArcs();
      if (this.step >= 2) this.drawBowl();
      if (this.step >= 2) this.drawPaths();
      this.names();
      this.drawPoint();
      if (this.step === 1 || (this.step === 2 && Array.isArray(this.told))) this.drawGuess();
    });
  }

  drawLand() {
    const { side, left } = this, { words } = this.stage;
    const box = { x: left, y: 0, width: side, height: side };
    this.paint.clip("lines", box);
    this.paint.put("back", "box", "rect", { ...box, class: "gauge" });
    this.contours().forEach((d, k) => {
      this.paint.put("back", `level${k}`, "path", { d, class: "level", style: `opacity:${0.85 - 0.05 * k}` });
    });
    [-2, -1, 0, 1, 2].forEach((tick) => {
      const [x, y] = this.at([tick, tick]), told = number(tick, 0);
      this.paint.put("back", `x${tick}`, "text", { x, y: side + 14, class: "note" }, told);
      this.paint.put("back", `y${tick}`, "text", { x: left - 16, y, class: "note" }, told);
    });
    this.line("back", "origin across", [-EXTENT, 0], [EXTENT, 0], "origin");
    this.line("back", "origin up", [0, -EXTENT], [0, EXTENT], "origin");
    this.paint.put("back", "across", "text", { x: left + side / 2, y: side + 34, class: "label" }, words.across);
    this.paint.put("back", "up", "text", { x: left - 18, y: (side - this.unit) / 2, class: "label" }, words.up);
    if (this.step < 2) return;
    kinks().forEach(([a, b], k) => this.line("back", `kink${k}`, a, b, "kink"));
  }

  // Paths of the contours, made anew for another size only.
  contours() {
    const { side, left } = this, scale = side / (SIDE - 1), place = (x, y) => (
      `${(left + scale * x).toFixed(1)} ${(scale * y).toFixed(1)}`);
    if (this.drawn?.side !== side || this.drawn.left !== left) {
      const paths = this.land.levels.map((level) => contour(this.land.values, SIDE, level).map(([a, b, c, d]) => (
        `M${place(a, b)}L${place(c, d)}`)).join(""));
      this.drawn = { side, left, paths };
    }
    return this.drawn.paths;
  }

  line(layer, key, a, b, kind, more = {}) {
    const [[x1, y1], [x2, y2]] = [a, b].map((one) => this.at(one.map(inFigure)));
    this.paint.put(layer, key, "line", { x1, y1, x2, y2, class: kind, ...more });
  }

  // Rings of the quadratic around its lowest point.
  drawBowl() {
    const shown = asShare(3 * this.share);
    [1, 0.66, 0.33].forEach((size, k) => {
      if (shown * 3 < k + 0.01) return;
      const look = { d: this.path(ring(this.w, size)), class: `ring${this.glow("H")}` };
      this.paint.put("lines", `ring${k}`, "path", { ...look, ...ofTerm("H") });
    });
  }

  // What is near w of every tenth ring, to guess the middle from.
  drawArcs() {
    nearRings(this.w, NEAR).forEach((arc, k) => {
      this.paint.put("lines", `arc${k}`, "path", { d: this.path(arc), class: "ring" });
    });
  }

  path(points) {
    return `M${points.map((one) => this.at(one).map((value) => value.toFixed(1)).join(" ")).join("L")}`;
  }

  drawPaths() {
    const jump = asShare(3 * this.share - 1), rest = asShare(3 * this.share - 2);
    if (this.step === 3) {
      this.line("over", "jump", this.w, this.newton[1] ?? this.w, `newton${this.glow("next")}`, ofTerm("next"));
      return;
    }
    const all = this.step === 4 || rest > 0;
    this.newton.slice(0, -1).forEach((from, k) => {
      const to = this.newton[k + 1], share = k === 0 ? jump : asShare(rest * (this.newton.length - 2) - (k - 1));
      if (share === 0 || (k > 0 && !all)) return;
      const end = [0, 1].map((axis) => mix(from[axis], to[axis], share));
      this.line("over", `newton${k}`, from, end, "newton");
      if (share === 1) this.dot("over", `point${k}`, to, 5, "newton-point");
    });
    const count = Math.round(rest * (this.gradient.length - 1));
    this.gradient.slice(0, count).forEach((from, k) => {
      this.line("lines", `gradient${k}`, from, this.gradient[k + 1], "gradient");
      this.dot("lines", `slow${k}`, this.gradient[k + 1], 2.5, "gradient-point");
    });
  }

  // At the bottom left, or at the top left where Newton's path is below. The paths have names once they are whole.
  names() {
    const corner = (sign) => this.newton.filter(([a, b]) => a < 0.4 && sign * b > 0.6).length;
    const below = corner(-1) > corner(1), kinds = this.step < 2 ? [] : ["ring", "kink"];
    if (this.step >= 2 && this.step !== 3 && this.share === 1) kinds.push("newton", "gradient");
    if (this.step !== 2) kinds.push("downhill");
    const height = 22 * kinds.length, [x, y] = [this.left + 10, below ? 10 : this.side - height - 10];
    const facts = this.facts(), texts = kinds.map((kind) => filled(this.stage.words[kind], facts));
    const wide = 44 + LETTER * Math.max(...texts.map((one) => one.length));
    this.paint.put("over", "key", "rect", { x: x - 4, y: y - 2, width: wide, height: height + 4, class: "key" });
    kinds.forEach((kind, k) => {
      const at = y + 11 + 22 * k, told = texts[k];
      this.paint.put("over", `key ${kind}`, "line", { x1: x, x2: x + 26, y1: at, y2: at, class: kind });
      this.paint.put("over", `key text ${kind}`, "text", { x: x + 34, y: at, class: "label start" }, told);
    });
  }

  dot(layer, key, place, r, kind) {
    if (place.some((one) => Math.abs(one) > EXTENT)) return;
    const [cx, cy] = this.at(place);
    this.paint.put(layer, key, "circle", { cx, cy, r, class: kind });
  }

  // The present weights, and the way downhill: −g at a fixed part of its length.
  drawPoint() {
    const [x, y] = this.at(this.w), { gradient, lowest } = bowl(this.w), { words } = this.stage;
    const norm = Math.hypot(...gradient) || 1, tip = this.w.map((one, axis) => one - gradient[axis] / SHRUNK);
    if (this.step !== 2) {
      this.line("over", "downhill", this.w, tip, `downhill${this.glow("g")}`, ofTerm("g"));
      const [tx, ty] = this.at(tip), [u, v] = gradient, turned = (Math.atan2(v, -u) * 180) / Math.PI;
      const transform = `translate(${tx} ${ty}) rotate(${turned})`, head = "M8 0L-8 7L-8 -7Z";
      if (this.unit * norm > 16 * SHRUNK) {
        this.paint.put("over", "head", "path", { d: head, transform, class: `slope-tip${this.glow("g")}` });
      }
      const jump = lowest.map((one, axis) => one - this.w[axis]);
      const by = (u * jump[1] > v * jump[0] ? 16 : -16) / norm; // beside the line, where no path leads
      const place = { x: tx + by * v, y: ty + by * u };
      this.paint.put("over", "g", "text", { ...place, class: `name halo${this.glow("g")}` }, words.slope);
    }
    const [nameX, nameY] = this.beside([x, y], gradient);
    this.paint.put("over", "w name", "text", { x: nameX, y: nameY, class: `name halo${this.glow("w")}` }, "w");
    if (this.step === 3 && this.newton.length > 1) {
      const [nx, ny] = this.at(this.newton[1]);
      this.dot("over", "landing", this.newton[1], 7, `newton-point${this.glow("next")}`);
      this.paint.put("over", "next", "text", { x: nx + 22, y: ny - 12, class: `name halo${this.glow("next")}` }, "w⁺");
    }
    const kind = `weights${this.glow("w")}`;
    if (this.step < 3) {
      this.dot("over", "w", this.w, 8, kind);
      return;
    }
    const look = { cx: x, cy: y, r: 9, class: kind, "aria-label": words.point };
    this.paint.grip("grips", "w", "circle", { ...look, ...ofTerm("w") }, {
      value: { now: this.w[0], low: -EXTENT, high: EXTENT, text: filled(words.now, this.facts()) },
      drag: (px, py) => this.move(this.from(px, py)),
      nudge: (right, up) => this.move([this.w[0] + STEP * right, this.w[1] + STEP * up]),
    });
  }

  // A place for a name: uphill, where no path leads, or along the slope at the edge of the figure.
  beside([x, y], [u, v]) {
    const by = 22 / (Math.hypot(u, v) || 1), { left, side } = this;
    const places = [[u, v], [v, -u], [-v, u]].map(([a, b]) => [x + by * a, y - by * b]);
    const inside = ([a, b]) => a > left + 10 && a < left + side - 10 && b > 14 && b < side - 8;
    const edge = [within(x, left + 12, left + side - 12), within(y > side / 2 ? y + 22 : y - 22, 14, side - 8)];
    return places.find(inside) ?? edge;
  }

  move(place) {
    this.w = place.map(rounded);
    this.follow();
    this.refresh();
    this.announce();
  }

  // A click or a drag anywhere places the diamond; without one it waits at the centre for the arrow keys.
  drawGuess() {
    const place = this.placed ?? [0, 0], [x, y] = this.at(place), look = { d: `M${x} ${y - 13}l13 13l-13 13l-13 -13Z` };
    if (this.step === 2) {
      this.paint.put("over", "guess", "path", { ...look, class: "handle set" });
      if (this.share > 0.66) this.line("marks", "gap", place, bowl(START).lowest, "gap-line");
      return;
    }
    const drag = (px, py) => this.place(this.from(px, py));
    this.paint.grip("grips", "area", "rect",
      { x: this.left, y: 0, width: this.side, height: this.side, class: "area", role: null, tabindex: null }, { drag });
    this.paint.grip("grips", "guess", "path",
      { ...look, class: `handle${this.placed ? " set" : ""}`, "aria-label": this.stage.words.guess }, {
        value: { now: place[0], low: -EXTENT, high: EXTENT, text: place.map((one) => number(one, 1)).join(", ") },
        drag,
        nudge: (right, up) => this.place([place[0] + STEP * right, place[1] + STEP * up]),
      });
  }

  place(at) {
    this.placed = at.map(rounded);
    this.refresh();
  }
}
