// Lesson "newton": where the next step of Newton's method lands, beside gradient descent.

import { drawDocument } from "../kit/look.js";
import { drawHeights, drawSquare, heights } from "../kit/map.js";
import { mix } from "../kit/motion.js";
import { ofTerm } from "../kit/paint.js";
import { apart, asShare, plane, within } from "../kit/parts.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL, Scene } from "../kit/scene.js";
import { filled, number } from "../kit/words.js";
import {
  BEST, C, EXTENT, LEVELS, MOST, SIDE, SITES, START, bowl, crossed, curvatures, distance, gradientPath, kinks,
  landscape, nearRings, newtonPath, ring, slopes,
} from "../examples/descent.js";
import { hundredths } from "../examples/documents.js";
import { GRADES, playground, queryOf } from "../examples/turning.js";

const SECONDS = 6, STEP = 0.1, NEAR = 2.6, LETTER = 0.43, NAMED = -0.3;
const KINDS = [[], ["level", "ring", "downhill"], ["level", "ring", "newton", "kink"], ["level", "ring", "downhill"],
  ["level", "ring", "kink", "newton", "gradient"]]; // lines that the legend names
export const SHRUNK = 400; // −g is drawn at this part of its length, so that it fits into the figure
const inFigure = (value) => within(value, -EXTENT, EXTENT);
const rounded = (value) => hundredths(inFigure(value));

const turnOf = ([x, y]) => (Math.atan2(-y, x) * 180) / Math.PI; // of a mark that points to the right

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
    this.begin(step, guess, { share: step < REVEAL ? 0 : 1 });
    if (Array.isArray(guess)) this.placed = [...guess];
    if (step < FREE) this.w = [...START];
    this.follow();
    if (fresh && step === REVEAL) {
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
    const [parts, by] = [slopes, curvatures].map((of) => of(this.w).map((one) => Math.round(10 * one) / 10)); // shown
    const [[slopeAcross, slopeAlong], [across, along]] = [parts, by].map((two) => two.map((one) => number(one, 1)));
    const [stepAcross, stepAlong] = parts.map((one, k) => number(one / by[k], 1));
    return {
      C: String(C), across, along, slopeAcross, slopeAlong, stepAcross, stepAlong,
      gap: number(gap), step: number(distance(START, bowl(START).lowest)),
      crossed: String(crossed(this.w, lowest).length), newton: filled(n === 1 ? words.step : words.steps, { n }),
      gradient: slow > MOST ? filled(words.more, { most: MOST }) : String(slow), value: number(value, 1),
      slope: number(Math.hypot(...gradient), 1), shrunk: String(SHRUNK), first: number(bowl(lowest).value, 1),
      least: number(BEST.objective, 1),
    };
  }

  link() {
    return `${playground(SITES)}&pc=${Math.log2(C)}`;
  }

  // --- the figure -----------------------------------------------------------------------------------------

  draw() {
    const { documents, weights } = this.boxes();
    Object.assign(this, plane(weights, EXTENT), { box: weights });
    this.paint.draw(() => {
      if (documents) this.drawArrow(documents);
      this.drawMap();
      if (this.step === GUESS) this.drawArcs();
      if (this.step >= REVEAL) this.drawBowl();
      if (this.step >= REVEAL) this.drawPaths();
      this.names();
      this.drawPoint();
      if (this.step === GUESS || (this.step === REVEAL && Array.isArray(this.told))) this.drawGuess();
    });
  }

  // Boxes of the plane of weights and, in the question, of the documents beside it or above it.
  boxes() {
    const { width, height } = this.stage, wide = width > height, box = (x, y, side) => ({ x, y, width: side });
    const centred = (y, side) => box(Math.max((width - side) / 2, 34), y, side);
    if (this.step !== QUESTION) return { weights: centred(0, Math.max(Math.min(width - 40, height - 48), 120)) };
    const room = wide ? Math.min((width - 84) / 2, height - 76) : Math.min(width - 40, (height - 112) / 2);
    const side = Math.max(room, 120);
    if (wide) return { documents: box(30, 26, side), weights: box(width - side, 26, side) };
    return { documents: centred(22, side), weights: centred(side + 74, side) };
  }

  // The same w among the documents: an arrow, whose tip can be dragged.
  drawArrow(box) {
    const { at, from, unit } = plane(box, EXTENT), { words, dark } = this.stage, size = unit < 50 ? 0.6 : 0.8;
    drawSquare(this.paint, "documents", box, at, words.documents);
    apart(SITES.map(at), 13 * size).forEach(([x, y], k) => {
      drawDocument(this.paint, "back", `doc${k}`, { x, y, grade: GRADES[k], query: queryOf(k), size, dark });
    });
    const [[x1, y1], [x, y]] = [[0, 0], this.w].map(at), transform = `translate(${x} ${y}) rotate(${turnOf(this.w)})`;
    this.paint.put("over", "arrow", "line", { x1, y1, x2: x, y2: y, class: "arrow" });
    this.paint.put("over", "arrow tip", "path", { d: "M6 0L-12 8L-12 -8Z", transform, class: "tip" });
    this.paint.put("over", "arrow name", "text", { x: (x1 + x) / 2 + 20, y: (y1 + y) / 2, class: "name halo" }, "w");
    this.gripW("arrow", { cx: x, cy: y, r: 13, class: "handle", "aria-label": words.arrow }, from);
  }

  gripW(key, look, from) {
    const told = filled(this.stage.words[this.step === QUESTION ? "height" : "now"], this.facts());
    this.paint.grip("grips", key, "circle", look, {
      value: { now: this.w[0], low: -EXTENT, high: EXTENT, text: told },
      drag: (px, py) => this.move(from(px, py)),
      nudge: (right, up) => this.move([this.w[0] + STEP * right, this.w[1] + STEP * up]),
    });
  }

  drawMap() {
    const { box: { x, y, width }, at } = this, { words } = this.stage, named = this.step === QUESTION;
    this.paint.clip("lines", { ...this.box, height: width });
    drawSquare(this.paint, "map", this.box, at, named ? words.weights : null);
    drawHeights(this.paint, this.contours());
    this.paint.put("back", "across", "text", { x: x + width / 2, y: y + width + 34, class: "label" }, words.across);
    const up = { x: x - 18, y: y + (width - this.unit) / 2, class: "label" };
    this.paint.put("back", "up", "text", up, words.up);
    if (this.step !== REVEAL && this.step !== FREE) return;
    kinks(crossed(this.w, bowl(this.w).lowest)).forEach(([a, b], k) => this.line("lines", `kink${k}`, a, b, "kink"));
  }

  // Lines of equal height, made anew for another place or size only.
  contours() {
    const { box } = this, key = JSON.stringify(box);
    if (this.drawn?.key !== key) {
      const [, beside] = this.at([0, NAMED]);
      this.drawn = { key, lines: heights(this.land, SIDE, LEVELS, box, beside) };
    }
    return this.drawn.lines;
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
    if (this.step === FORMULA) {
      this.line("over", "jump", this.w, this.newton[1] ?? this.w, `newton${this.glow("next")}`, ofTerm("next"));
      return;
    }
    const all = this.step === FREE || rest > 0;
    this.newton.slice(0, -1).forEach((from, k) => {
      const to = this.newton[k + 1], share = k === 0 ? jump : asShare(rest * (this.newton.length - 2) - (k - 1));
      if (share === 0 || (k > 0 && !all)) return;
      const end = [0, 1].map((axis) => mix(from[axis], to[axis], share));
      this.line("over", `newton${k}`, from, end, "newton");
      if (share === 1) this.dot("over", `point${k}`, to, 5, "newton-point", String(k + 1));
    });
    if (this.step !== FREE) return;
    this.gradient.slice(0, -1).forEach((from, k) => {
      this.line("lines", `gradient${k}`, from, this.gradient[k + 1], "gradient");
      this.dot("lines", `slow${k}`, this.gradient[k + 1], 2.5, "gradient-point");
    });
  }

  // What the kinds of lines mean: at the bottom left, or at the top left where Newton's path is below.
  names() {
    const corner = (sign) => this.newton.filter(([a, b]) => a < 0.4 && sign * b > 0.6).length;
    const below = corner(-1) > corner(1), kinds = KINDS[this.step], { box } = this;
    if (kinds.length === 0) return;
    const height = 22 * kinds.length, [x, y] = [box.x + 10, box.y + (below ? 10 : box.width - height - 10)];
    const facts = this.facts(), texts = kinds.map((kind) => filled(this.stage.words[kind], facts));
    const letter = LETTER * (parseFloat(getComputedStyle(this.stage.svg).fontSize) || 17.6); // larger for a projector
    const wide = 44 + letter * Math.max(...texts.map((one) => one.length));
    this.paint.put("over", "key", "rect", { x: x - 4, y: y - 2, width: wide, height: height + 4, class: "key" });
    kinds.forEach((kind, k) => {
      const at = y + 11 + 22 * k, told = texts[k];
      this.paint.put("over", `key ${kind}`, "line", { x1: x, x2: x + 26, y1: at, y2: at, class: kind });
      this.paint.put("over", `key text ${kind}`, "text", { x: x + 34, y: at, class: "label start" }, told);
    });
  }

  dot(layer, key, place, r, kind, name = "") {
    if (place.some((one) => Math.abs(one) > EXTENT)) return;
    const [cx, cy] = this.at(place);
    this.paint.put(layer, key, "circle", { cx, cy, r, class: kind });
    if (name) this.paint.put(layer, `${key} name`, "text", { x: cx + 14, y: cy + 12, class: "size halo" }, name);
  }

  // The present weights, and the way downhill: −g at a fixed part of its length.
  drawPoint() {
    const [x, y] = this.at(this.w), { gradient } = bowl(this.w), { words } = this.stage;
    if (this.step === GUESS || this.step === FORMULA) this.drawDownhill();
    const [nameX, nameY] = this.beside([x, y], gradient);
    this.paint.put("over", "w name", "text", { x: nameX, y: nameY, class: `name halo${this.glow("w")}` }, "w");
    if (this.step === FORMULA && this.newton.length > 1) {
      const [nx, ny] = this.at(this.newton[1]);
      this.dot("over", "landing", this.newton[1], 7, `newton-point${this.glow("next")}`);
      this.paint.put("over", "next", "text", { x: nx + 22, y: ny - 12, class: `name halo${this.glow("next")}` }, "w⁺");
    }
    const kind = `weights${this.glow("w")}`;
    if (this.step === GUESS || this.step === REVEAL) this.dot("over", "w", this.w, 8, kind);
    else this.gripW("w", { cx: x, cy: y, r: 9, class: kind, "aria-label": words.point, ...ofTerm("w") }, this.from);
  }

  drawDownhill() {
    const { gradient, lowest } = bowl(this.w), norm = Math.hypot(...gradient) || 1, [u, v] = gradient;
    const tip = this.w.map((one, axis) => one - gradient[axis] / SHRUNK), [tx, ty] = this.at(tip);
    this.line("over", "downhill", this.w, tip, `downhill${this.glow("g")}`, ofTerm("g"));
    const transform = `translate(${tx} ${ty}) rotate(${turnOf([-u, -v])})`, head = "M8 0L-8 7L-8 -7Z";
    if (this.unit * norm > 16 * SHRUNK) {
      this.paint.put("over", "head", "path", { d: head, transform, class: `slope-tip${this.glow("g")}` });
    }
    const jump = lowest.map((one, axis) => one - this.w[axis]);
    const by = (u * jump[1] > v * jump[0] ? 16 : -16) / norm; // beside the line, where no path leads
    const place = { x: tx + by * v, y: ty + by * u };
    this.paint.put("over", "g", "text", { ...place, class: `name halo${this.glow("g")}` }, this.stage.words.slope);
  }

  // A place for a name: uphill, where no path leads, or along the slope at the edge of the figure.
  beside([x, y], [u, v]) {
    const by = 22 / (Math.hypot(u, v) || 1), { x: left, y: top, width: side } = this.box, bottom = top + side;
    const places = [[u, v], [v, -u], [-v, u]].map(([a, b]) => [x + by * a, y - by * b]);
    const inside = ([a, b]) => a > left + 10 && a < left + side - 10 && b > top + 14 && b < bottom - 8;
    const above = y > (top + bottom) / 2 ? y + 22 : y - 22;
    const edge = [within(x, left + 12, left + side - 12), within(above, top + 14, bottom - 8)];
    return places.find(inside) ?? edge;
  }

  move(place) {
    this.w = place.map(rounded);
    this.follow();
    this.refresh();
    this.announce(this.stage.words[this.step === QUESTION ? "height" : "now"]);
  }

  // A click or a drag anywhere places the diamond; without one it waits at the centre for the arrow keys.
  drawGuess() {
    const place = this.placed ?? [0, 0], [x, y] = this.at(place), look = { d: `M${x} ${y - 13}l13 13l-13 13l-13 -13Z` };
    if (this.step === REVEAL) {
      this.paint.put("over", "guess", "path", { ...look, class: "handle set" });
      if (this.share > 0.66) this.line("marks", "gap", place, bowl(START).lowest, "gap-line");
      return;
    }
    const drag = (px, py) => this.place(this.from(px, py));
    this.paint.grip("grips", "area", "rect",
      { ...this.box, height: this.box.width, class: "area", role: null, tabindex: null }, { drag });
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
