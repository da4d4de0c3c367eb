// The playground: documents to drag in the plane, and the model that Python trains on them.
//
// Python sends documents and model (ui/learn/playground.py). A drop sends numbered changes to Python,
// repeated until it confirms them. Until then they apply here, with the old model.

import { made, shape } from "../shell/elements.js";
import { cleared, drawChosen, drawPairs, drawSurface, drawWaves } from "./draw.js";
import {
  after, clamped, crests, documentsOf, ends, mixed, nextId, pairsOf, surfaces, tallied, valueAt,
} from "./geometry.js";
import { hands } from "./hands.js";
import { Marks, sizeOf } from "./marks.js";
import { Player } from "./player.js";
import { Side } from "./side.js";
import { labelOf, titleOf, titleOfWave } from "./telling.js";
import { Toolbar } from "./toolbar.js";

const planes = new WeakMap();

export default function plane({ data, parentElement, setStateValue }) {
  if (!planes.has(parentElement)) planes.set(parentElement, new Plane(parentElement));
  planes.get(parentElement).update(data, setStateValue);
}

class Plane {
  constructor(parent) {
    this.pending = [];
    this.rev = 0;
    this.documents = [];
    this.chosen = null; // the key of a mark: "d12" or "z3"
    this.brush = { grade: 1, query: 0 };
    this.shown = "misordered";
    this.adding = false;
    this.build(parent);
    hands(this);
    new ResizeObserver(() => this.draw(true)).observe(this.svg);
  }

  build(parent) {
    this.surface = made("canvas", { class: "layer" });
    this.segments = made("canvas", { class: "layer" });
    this.strong = made("canvas", { class: "layer" });
    this.svg = shape("svg", { role: "group", tabindex: "-1", "aria-label": "What can be moved" });
    this.marks = new Marks(this.svg);
    this.status = made("p", { class: "status", role: "status" });
    this.side = new Side();
    this.player = new Player(() => this.draw(true));
    this.toolbar = new Toolbar({
      grade: (grade) => this.paint({ grade }),
      query: (query) => this.paint({ query }),
      add: () => { this.adding = !this.adding; this.choose(null); },
      drop: () => this.drop(),
      undo: () => this.undo(),
      reset: () => this.tell({ kind: "reset" }),
      pairs: (name) => { this.shown = name; this.draw(); },
    });
    this.square = made("div", { class: "square", role: "figure" }, this.surface, this.segments, this.strong,
      this.svg);
    this.root = made("div", { class: "playground" }, made("div", { class: "beside" }, this.toolbar.element,
      made("div", { class: "main" }, this.square), this.player.element, this.side.element), this.status);
    parent.append(this.root);
  }

  update(data, send) {
    this.send = send;
    const fresh = JSON.stringify(data.model) !== this.sent;
    if (data.set !== this.data?.set) this.choose(null);
    this.data = data;
    this.rev = Math.max(this.rev, data.rev);
    this.pending = this.pending.filter((change) => change.rev > data.rev);
    this.documents = this.pending.reduce(after, documentsOf(data.documents));
    this.places = new Map(documentsOf(data.documents).map((one, at) => [one.id, { ...one, at }]));
    this.landmarks = (data.model?.landmarks?.places ?? []).map(([x, y], number) => ({ number, x, y }));
    for (const { kind, number, x, y } of this.pending) {
      if (kind === "landmark" && this.landmarks[number]) Object.assign(this.landmarks[number], { x, y });
    }
    this.drag?.keep();
    if (fresh) {
      this.sent = JSON.stringify(data.model);
      this.surfaces = data.model ? surfaces(data.model) : [];
      this.range = data.model ? ends(this.surfaces.at(-1)) : [-1, 1];
      this.player.load(this.surfaces.length);
    }
    this.square.setAttribute("aria-label", data.words.plane);
    this.draw(true);
  }

  // --- messages to Python -------------------------------------------------------------------------------------

  tell(change) {
    this.rev += 1;
    this.pending.push({ rev: this.rev, ...change });
    this.documents = after(this.documents, change);
    this.send("changes", this.pending);
    this.draw();
  }

  put(document) {
    this.tell({ kind: "put", ...document });
  }

  add(x, y) {
    if (this.documents.length >= this.data.most) {
      this.status.textContent = this.data.words.full;
      return;
    }
    const id = nextId(this.documents, this.data.next);
    this.data.next = id + 1;
    this.put({ id, x: clamped(x, this.data.edge), y: clamped(y, this.data.edge), ...this.brush });
    this.choose(`d${id}`);
  }

  drop() {
    const gone = this.chosenDocument();
    if (!gone) return;
    this.choose(null);
    this.svg.focus({ preventScroll: true });
    this.tell({ kind: "drop", id: gone.id });
  }

  undo() {
    this.rested?.();
    this.tell({ kind: "undo" });
  }

  // Choose the mark of a key, or none: the toolbar keeps the grade and query that it shows.
  choose(key) {
    const { grade, query } = this.chosenDocument() ?? this.brush;
    this.brush = { grade, query };
    this.chosen = key;
    this.draw();
  }

  // Set grade or query of the chosen document, and of documents to add.
  paint(what) {
    Object.assign(this.brush, what);
    const chosen = this.chosenDocument();
    if (chosen) this.put({ ...chosen, ...what });
    else this.draw();
  }

  chosenDocument() {
    return this.documents.find((one) => `d${one.id}` === this.chosen);
  }

  // --- drawing --------------------------------------------------------------------------------------------

  draw(all = false) {
    this.everything ||= all;
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.data && this.svg.clientWidth) this.paintAll();
      this.everything = false;
    });
  }

  get size() {
    return this.svg.clientWidth;
  }

  toPixels(v, down = false) {
    const extent = this.data.extent;
    return ((down ? -v : v) + extent) * (this.size / (2 * extent));
  }

  // Draw everything; during a drag only the moving parts.
  paintAll() {
    const { model, colours } = this.data, at = this.player.at, whole = Math.floor(at), next = Math.ceil(at);
    this.now = { whole, next, share: at - whole };
    this.style = this.inks();
    if (model && this.everything) {
      this.values = mixed(this.surfaces[whole], this.surfaces[next], at - whole);
      drawSurface(this.surface, this.values, model.side, this.size, colours.method, this.range);
    }
    if (!model) cleared(this.surface, this.size);
    this.scores = this.documents.map((one) => this.score(one));
    this.paintSegments();
    this.paintMarks();
    this.paintWords();
  }

  // Return a row of numbers at the shown step, which may lie between two.
  stepped(rows) {
    const { whole, next, share } = this.now;
    return rows[whole].map((v, k) => v * (1 - share) + rows[next][k] * share);
  }

  score(one) {
    const { model } = this.data;
    if (!model) return 0;
    const place = this.places.get(one.id), { whole, next, share } = this.now;
    const moved = !place || place.x !== one.x || place.y !== one.y;
    if (moved) return valueAt(this.values, model.side, model.extent, one.x, one.y);
    return model.scores[whole][place.at] * (1 - share) + model.scores[next][place.at] * share;
  }

  paintSegments() {
    const { model, colours } = this.data;
    this.pairs = pairsOf(this.documents);
    this.tallies = model ? tallied(this.pairs, this.scores) : [];
    const drawn = {
      pairs: model ? this.pairs : [],
      places: this.documents.map((one) => ({ x: this.toPixels(one.x), y: this.toPixels(one.y, true) })),
      scores: this.scores,
      chosen: this.documents.findIndex((one) => `d${one.id}` === this.chosen),
      shown: this.shown,
      colours: this.style.pairs,
    };
    drawChosen(cleared(this.strong, this.size), drawn);
    if (this.drag?.moved && !this.everything) return; // all other pairs stay as they are
    const context = cleared(this.segments, this.size);
    if (model?.waves) {
      drawWaves(context, model.waves, this.stepped(model.waves.weights), this.size, model.extent, colours.method);
    }
    drawPairs(context, drawn);
  }

  inks() {
    const style = getComputedStyle(this.root), of = (name) => style.getPropertyValue(name);
    return { pairs: ["--misordered", "--within", "--beyond"].map(of), ink: style.color, paper: style.backgroundColor };
  }

  graspable() {
    const { colours } = this.data, { ink, paper } = this.style, k = this.size < 420 ? 0.9 : 1.1;
    const at = ({ x, y }) => ({ x: this.toPixels(x), y: this.toPixels(y, true) });
    const alphas = this.data.model?.landmarks ? this.stepped(this.data.model.landmarks.coefficients) : [];
    const landmarks = this.landmarks.map((one) => ({
      key: `z${one.number}`, kind: "landmark", one, alpha: alphas[one.number] ?? 0, ...at(one), size: k * 1.05,
      fill: alphas[one.number] > 0 ? colours.method : paper, stroke: colours.method,
    }));
    const documents = this.documents.map((one, order) => ({
      key: `d${one.id}`, kind: "document", one, query: one.query, score: this.scores[order], tally: this.tallies[order],
      ...at(one), size: k * sizeOf(one.grade), fill: colours.grades[one.grade], stroke: ink,
    }));
    return [...landmarks, ...documents].map((mark) => ({ ...mark, chosen: mark.key === this.chosen }));
  }

  paintMarks() {
    const { model, colours } = this.data, found = this.graspable();
    this.marks.put(found.map((mark) => ({ ...mark, label: labelOf(mark), title: titleOf(mark) })));
    if (this.svg.matches(":focus")) this.marks.focus(this.chosen);
    const chosen = found.find((mark) => mark.chosen), scale = this.size / (2 * this.data.extent);
    this.marks.surround({
      marks: found,
      centre: this.size / 2,
      length: this.size / 3,
      arrow: model?.arrow ? this.stepped(model.arrow) : null,
      colour: colours.method,
      reach: chosen && model?.reach ? { ...chosen, r: model.reach * scale } : null,
      waves: model?.waves ? this.overWaves(model) : [],
    });
    this.side.tell(chosen ? titleOf(chosen) : "");
  }

  overWaves({ waves, extent }) {
    const point = (x, y) => `${this.toPixels(x)} ${this.toPixels(y, true)}`, weights = this.stepped(waves.weights);
    return waves.omega.map((omega, at) => ({
      path: crests(omega, waves.phase[at], extent, Math.sign(weights[at]))
        .map(([a, b, c, d]) => `M${point(a, b)}L${point(c, d)}`).join(""),
      title: titleOfWave(waves.numbers[at], weights[at]),
    }));
  }

  paintWords() {
    const { model, colours, words } = this.data, chosen = this.chosenDocument();
    this.toolbar.show({
      ...(chosen ?? this.brush), colours: colours.grades, adding: this.adding, chosen: Boolean(chosen),
      undo: this.data.undo, byHand: this.data.byHand,
    });
    this.square.classList.toggle("adding", this.adding);
    if (this.everything) {
      this.side.show({ ...words.side, kernels: model?.kernels, ink: colours.ink, below: colours.below,
        lines: this.key() });
    }
    if (!model) return;
    const right = this.pairs.filter(([i, j]) => this.scores[i] > this.scores[j]).length, at = this.now.whole;
    this.player.words.textContent = `Newton step ${model.steps[at]} of ${model.steps.at(-1)} · objective `
      + `${model.objective[at].toPrecision(4)} · ${right} of ${this.pairs.length} pairs in order`;
  }

  key() {
    const { words, colours } = this.data;
    const own = words.side.own.map(([kind, text]) => [kind, colours.method, text]);
    const pairs = ["Misordered pair", "In order, margin below 1", "Margin of 1 or more"];
    return [
      ...pairs.map((text, k) => ["line", this.style.pairs[k], text]),
      ["tint", colours.method, "Stronger colour: higher score"],
      ["circle", this.style.ink, "Larger mark: higher grade"],
      ...own,
      ...(words.side.labels.length > 1 ? [["box", colours.below, "In K̃: below 0"]] : []),
    ];
  }
}
