// Drawing of the plane: surface, pairs, marks and words of the shown step of training.

import { cleared, drawChosen, drawPairs, drawSurface, drawWaves } from "./draw.js";
import { BEYOND, classOf, crests, ends, tallied } from "./geometry.js";
import { sizeOf } from "./marks.js";
import { EXTENT, NAMES, ordered, scoresOf, surfaceOf } from "./model.js";
import { labelOf, nameOfFrequency, stepOf, titleOf, titleOfWave } from "./telling.js";

const STRONGEST = 3; // waves that are drawn

export class Painted {
  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      if (this.data && this.size) this.paintAll();
    });
  }

  toPixels(v, down = false) {
    return ((down ? -v : v) + EXTENT) * (this.size / (2 * EXTENT));
  }

  paintAll() {
    if (this.stale) this.train();
    if (this.restyled || !this.style) this.style = this.inks();
    this.weights = this.model && this.shownWeights();
    this.scores = this.model ? scoresOf(this.model, this.weights) : new Float64Array(this.documents.length);
    this.paintSurface();
    this.paintSegments();
    this.paintMarks();
    this.paintSide();
    this.paintWords();
    this.restyled = false;
    this.fresh = [];
  }

  // Return the weights at the shown step, which may lie between two.
  shownWeights() {
    const { at, last } = this.player, whole = Math.floor(at), share = at - whole;
    if (!this.path || at >= last) return this.model.weights;
    const [from, to] = [this.path[whole].weights, this.path[Math.ceil(at)].weights];
    return from.map((v, k) => v * (1 - share) + to[k] * share);
  }

  paintSurface() {
    const { colours } = this.data;
    if (!this.model) {
      cleared(this.surface, this.size);
      return;
    }
    const { side, values } = surfaceOf(this.model, this.weights);
    if (this.weights === this.model.weights) this.range = ends(values); // stays during playback
    drawSurface(this.surface, values, side, this.size, colours.method, this.range);
  }

  paintSegments() {
    const { colours } = this.data;
    this.tallies = this.model ? tallied(this.model.pairs, this.scores) : [];
    if (!this.model) cleared(this.segments, this.size);
    if (!this.model) return;
    const drawn = {
      pairs: this.model.pairs,
      places: this.documents.map((one) => ({ x: this.toPixels(one.x), y: this.toPixels(one.y, true) })),
      scores: this.scores,
      chosen: this.documents.findIndex((one) => `d${one.id}` === this.chosen),
      shown: this.shown,
      colours: this.style.pairs,
    };
    this.strong = this.strongest();
    if (drawn.chosen >= 0) drawChosen(this.surface.getContext("2d"), drawn);
    if (!this.due.includes("pairs")) return; // thousands of lines take longer than the training
    const context = cleared(this.segments, this.size);
    if (this.strong.length) drawWaves(context, this.strong, this.size, EXTENT, colours.method);
    drawPairs(context, drawn);
  }

  // Return the waves with the largest weights.
  strongest() {
    const { omega, phase, m } = this.model.map, c = this.waves.length ? this.model.map.coefficients(this.weights) : [];
    return Array.from(c, (weight, number) => ({ number, weight }))
      .sort((a, b) => Math.abs(b.weight) - Math.abs(a.weight)).slice(0, STRONGEST)
      .map((one) => ({ ...one, omega: [omega[one.number], omega[m + one.number]], phase: phase[one.number] }));
  }

  inks() {
    const style = getComputedStyle(this.root), of = (name) => style.getPropertyValue(name);
    return { pairs: ["--misordered", "--within", "--beyond"].map(of), ink: style.color, paper: style.backgroundColor };
  }

  // Return the coefficient of each landmark; redundant ones have 0.
  alphas() {
    const found = new Float64Array(this.landmarks.length);
    if (this.model && this.landmarks.length) {
      const c = this.model.map.coefficients(this.weights);
      this.model.map.kept.forEach((number, k) => { found[number] = c[k]; });
    }
    return found;
  }

  graspable() {
    const { colours } = this.data, { ink, paper } = this.style, k = this.size < 420 ? 0.9 : 1.1;
    const at = ({ x, y }) => ({ x: this.toPixels(x), y: this.toPixels(y, true) }), alphas = this.alphas();
    const landmarks = (this.landmarks ?? []).map((one) => ({
      key: `z${one.number}`, kind: "landmark", one, alpha: alphas[one.number], ...at(one), size: k * 1.05,
      fill: alphas[one.number] > 0 ? colours.method : paper, stroke: colours.method,
      chosen: `z${one.number}` === this.chosen,
    }));
    const documents = this.documents.map((one, order) => ({
      key: `d${one.id}`, kind: "document", one, query: one.query, score: this.scores[order], tally: this.tallies[order],
      ...at(one), size: k * sizeOf(one.grade), fill: colours.grades[one.grade], stroke: ink,
      chosen: `d${one.id}` === this.chosen,
    }));
    return [...landmarks, ...documents];
  }

  paintMarks() {
    const { colours, kernel } = this.data, found = this.graspable(), chosen = found.find((mark) => mark.chosen);
    // names of all others wait for the end of a drag
    const named = found.map((mark) => (this.drag?.moved && !mark.chosen ? mark
      : { ...mark, label: labelOf(mark), title: titleOf(mark) }));
    this.marks.put(named);
    if (this.svg.matches(":focus")) this.marks.focus(this.chosen);
    const reach = Math.sqrt(Math.LN2 / this.world().settings.gamma) * (this.size / (2 * EXTENT));
    this.marks.surround({
      marks: found,
      centre: this.size / 2,
      length: this.size / 3,
      arrow: this.model?.map.kind === "linear" ? this.weights : null,
      colour: colours.method,
      reach: chosen && kernel ? { ...chosen, r: reach } : null,
      waves: (this.model && this.strong && !this.drag?.moved ? this.strong : []).map((wave) => this.overWave(wave)),
    });
    this.side.tell(chosen ? titleOf(chosen) : "");
  }

  overWave({ number, weight, omega, phase }) {
    const point = (x, y) => `${this.toPixels(x)} ${this.toPixels(y, true)}`;
    const lines = crests(omega, phase, EXTENT, Math.sign(weight));
    const path = lines.map(([a, b, c, d]) => `M${point(a, b)}L${point(c, d)}`).join("");
    return { path, title: titleOfWave(number, weight) };
  }

  // Draw the frequencies and the matrices when the model is another one.
  paintSide() {
    const { colours, words } = this.data;
    this.frequencies.element.hidden = !(this.model && this.waves.length);
    if (!this.frequencies.element.hidden) {
      this.frequencies.show(this.waves, this.model.map.coefficients(this.weights), colours.method, words.frequencies,
        this.drag?.moved ? null : nameOfFrequency); // names wait for the end of a drag
    }
    this.kernels.element.hidden = !this.similar;
    const changed = this.restyled ? NAMES : this.fresh;
    if (this.similar && changed.length) {
      this.kernels.show(this.similar, changed, words.matrices, colours, this.documents);
    }
    if (this.restyled) this.side.show({ ...words.side, lines: this.key() });
  }

  paintWords() {
    const { colours } = this.data, chosen = this.chosenDocument();
    this.toolbar.show({
      ...(chosen ?? this.brush), colours: colours.grades, adding: this.adding, chosen: Boolean(chosen),
      undo: this.data.undo, byHand: this.data.byHand, locked: this.data.locked,
    });
    this.square.classList.toggle("adding", this.adding);
    if (!this.model) return;
    const { winner, loser, length } = this.model.pairs, scores = this.scores;
    const beyond = winner.filter((i, k) => classOf(scores[i] - scores[loser[k]]) === BEYOND).length;
    const pairs = { all: length, right: ordered(this.model.pairs, scores), beyond };
    const step = Math.floor(this.player.at), at = this.path?.[step];
    this.player.words.textContent = stepOf(step, at && this.path.length - 1, at?.objective, pairs);
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
      ...(this.data.kernel ? [["box", colours.below, "In matrices: below 0"]] : []),
    ];
  }
}
