// The playground: documents to drag in the plane, and the model that is trained on them at every frame.
//
// Python sends documents and settings (ui/learn/playground.py). A drop or a rested slider sends numbered changes to
// Python, which keeps them in the address; they are repeated until it confirms them.

import { made, shape } from "../shell/elements.js";
import { Frequencies } from "./frequencies.js";
import { after, bestDirection, clamped, documentsOf, lostSliders, nextId } from "./geometry.js";
import { hands } from "./hands.js";
import { Kernels } from "./kernels.js";
import { Marks } from "./marks.js";
import { NAMES, frequenciesOf, inOrder, kernelsOf, landmarksOf, ordered, scoresOf, trained } from "./model.js";
import { Painted } from "./painting.js";
import { Player } from "./player.js";
import { Side } from "./side.js";
import { Sliders } from "./sliders.js";
import { answerOf } from "./telling.js";
import { Toolbar } from "./toolbar.js";

const REST = 200; // milliseconds without a change until the steps of training and the answer are computed
const PARTS = [...NAMES, "pairs"]; // of a comparison: approximations of the kernel, and lines of all pairs
const EVERY = 2; // trainings until the next part, while something is held
const planes = new WeakMap();

export default function plane({ data, parentElement, setStateValue }) {
  if (!planes.has(parentElement)) planes.set(parentElement, new Plane(parentElement));
  planes.get(parentElement).update(data, setStateValue);
}

class Plane extends Painted {
  constructor(parent) {
    super();
    this.pending = [];
    this.rev = 0;
    this.documents = [];
    this.chosen = null; // the key of a mark: "d12" or "z3"
    this.brush = { grade: 1, query: 0 };
    this.shown = "misordered";
    this.adding = false;
    this.turn = 0; // trainings while something is held
    this.due = PARTS;
    this.fresh = []; // approximations to draw again
    this.landmarks = [];
    this.waves = [];
    this.warm = new Map(); // weights of the last training, and its factor, by map
    this.build(parent);
    hands(this);
    new ResizeObserver(() => {
      this.size = this.svg.clientWidth; // to ask at every frame would lay out the page each time
      this.draw();
    }).observe(this.svg);
  }

  build(parent) {
    this.surface = made("canvas", { class: "layer" });
    this.segments = made("canvas", { class: "layer" });
    this.svg = shape("svg", { role: "group", tabindex: "-1", "aria-label": "What can be moved" });
    this.marks = new Marks(this.svg);
    this.status = made("p", { class: "status", role: "status" });
    this.answer = made("h2", { class: "answer" });
    this.kernels = new Kernels();
    this.side = new Side(this.kernels.element);
    this.player = new Player(() => this.draw());
    this.sliders = new Sliders(() => this.change(), (name, raw) => this.tell({ kind: "set", name, raw }));
    this.toolbar = new Toolbar({
      grade: (grade) => this.paint({ grade }),
      query: (query) => this.paint({ query }),
      add: () => { this.adding = !this.adding; this.choose(null); },
      drop: () => this.drop(),
      undo: () => this.undo(),
      reset: () => this.tell({ kind: "reset" }),
      pairs: (name) => { this.shown = name; this.draw(); },
    });
    this.square = made("div", { class: "square" }, this.surface, this.segments, this.svg);
    this.figure = made("div", { class: "main", role: "figure" }, this.square);
    this.root = made("div", { class: "playground" }, this.answer, made("div", { class: "beside" },
      this.toolbar.element, this.sliders.element, this.figure, this.player.element,
      this.side.element), this.status);
    parent.append(this.root);
  }

  update(data, send) {
    this.send = send;
    if (data.set !== this.data?.set) this.choose(null);
    this.data = data;
    this.rev = Math.max(this.rev, data.rev);
    const lost = lostSliders(this.pending, data);
    this.pending = this.pending.filter((change) => change.rev > data.rev);
    lost.forEach((change) => this.tell(change));
    this.documents = inOrder(this.pending.reduce(after, documentsOf(data.documents)));
    const set = new Map(this.pending.filter((one) => one.kind === "set").map(({ name, raw }) => [name, raw]));
    this.sliders.show(data.sliders.map((one) => ({ ...one, raw: set.get(one.name) ?? one.raw })), data.locked);
    const placed = (kind, rows) => new Map([...rows.map(([number, x, y]) => [number, { x, y }]),
      ...this.pending.filter((one) => one.kind === kind).map(({ number, x, y }) => [number, { x, y }])]);
    this.moved = placed("landmark", data.moved);
    this.turned = placed("frequency", data.turned);
    if (!this.frequencies) this.showFrequencies();
    const { current } = this.frequencies; // it keeps its place, which Python does not know yet
    if (current) this.turned.set(current.number, { x: current.x, y: current.y });
    for (const one of [this.square, this.frequencies.element]) one.inert = data.locked;
    this.drag?.keep();
    this.figure.setAttribute("aria-label", data.words.plane);
    this.restyled = true;
    if (this.keyOf(this.world()) !== this.learned) this.change();
    this.draw();
  }

  showFrequencies() {
    this.frequencies = new Frequencies(this.data.far,
      ({ number, x, y }) => { this.turned.set(number, { x, y }); this.change(); },
      ({ number, x, y }) => this.tell({ kind: "frequency", number, x, y }));
    this.kernels.element.prepend(this.frequencies.element);
  }

  // --- training -----------------------------------------------------------------------------------------------

  world() {
    const { map, seed } = this.data, raw = (name) => this.sliders.raw(name);
    const loss = this.data.loss.replace(/_(.)/g, (_, letter) => letter.toUpperCase());
    const settings = { map, loss, seed, m: raw("m"), gamma: 2 ** raw("gamma"), C: 2 ** raw("C") };
    return { documents: this.documents, settings, moved: this.moved, turned: this.turned };
  }

  keyOf({ documents, settings, moved, turned }) {
    return JSON.stringify([documents, settings, [...moved], [...turned]]);
  }

  // Train at the next frame; soon after the last change, compute the steps of training and the answer.
  change() {
    this.stale = true;
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.rest(), REST);
    this.draw();
  }

  train() {
    this.stale = false;
    this.documents = inOrder(this.documents);
    const world = this.world(), { map } = world.settings;
    this.learned = this.held() ? null : this.keyOf(world);
    this.path = null;
    this.player.end();
    this.model = this.documents.length ? this.learn(world, map) : null;
    this.landmarks = map === "nystroem" ? landmarksOf(world) : [];
    this.waves = map === "fourier" ? frequenciesOf(world) : [];
    this.compare(world);
  }

  held() {
    return Boolean(this.drag?.moved || this.frequencies.held || this.sliders.waiting.size);
  }

  // Train a map from its last weights.
  learn(world, map) {
    const asked = { ...world, settings: { ...world.settings, map } };
    const { weights, kept } = this.warm.get(map) ?? { weights: new Float64Array(0), kept: {} };
    const found = trained(asked, weights, kept);
    this.warm.set(map, { weights: found.weights, kept });
    return found;
  }

  // Compare kernels; while something is held, one part at every second training: all take longer than a frame.
  compare(world) {
    const { map } = world.settings, learn = (name) => (name === map ? this.model : this.learn(world, name));
    const known = this.similar?.side === this.documents.length ? this.similar.approximations : null;
    this.turn += 1;
    const part = PARTS[this.turn / EVERY % PARTS.length]; // none between two parts
    this.due = this.held() && known ? PARTS.filter((one) => one === part) : PARTS;
    this.fresh = NAMES.filter((name) => this.due.includes(name));
    if (!this.model || !this.data.kernel) this.similar = null;
    else if (this.fresh.length) {
      const found = kernelsOf(world, learn, this.fresh), { approximations } = found;
      this.similar = { ...found, approximations: NAMES.map((one) => (
        approximations.find(({ name }) => name === one) ?? known.find(({ name }) => name === one))) };
    }
  }

  rest() {
    if (this.drag?.moved || this.frequencies.held) {
      this.resting = setTimeout(() => this.rest(), REST);
      return;
    }
    if (this.stale || this.keyOf(this.world()) !== this.learned) this.train();
    const world = this.world(), facts = { documents: this.documents.length, pairs: 0 };
    if (this.model) {
      Object.assign(this.model, trained(world));
      this.path = this.model.path;
      Object.assign(facts, this.facts(world));
    }
    this.player.load(this.path?.length ?? 1);
    this.answer.textContent = answerOf(this.data.words.answer, facts);
    this.compare(world);
    this.draw();
  }

  facts(world) {
    const { pairs, map, weights } = this.model, right = ordered(pairs, scoresOf(this.model, weights));
    const other = this.data.approximates && trained({ ...world, settings: { ...world.settings, map: "exact" } });
    return { m: map.m, pairs: pairs.length, right, direction: bestDirection(this.documents, pairs),
      exact: other ? ordered(pairs, scoresOf(other, other.weights)) : null };
  }

  // --- messages to Python -------------------------------------------------------------------------------------

  tell(change) {
    if (this.data.locked) return; // a key may still come
    this.rev += 1;
    this.pending.push({ ...change, rev: this.rev });
    this.documents = after(this.documents, change);
    this.send("changes", this.pending);
    this.change();
  }

  put(document) {
    this.tell({ kind: "put", ...document });
  }

  // Move a mark, without a message.
  place(key, { x, y }) {
    const number = Number(key.slice(1)), one = key.startsWith("d") ? this.documents.find(({ id }) => id === number)
      : this.landmarks[number];
    if (key.startsWith("z")) this.moved.set(number, { x, y });
    if (one) Object.assign(one, { x, y });
    this.change();
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
}
