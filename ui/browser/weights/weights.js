// Weights by hand: bars to move, the list of a query, and numbers of the training part.
//
// Python sends the documents once (ui/learn/weights.py); everything that moves is computed here. Resting weights
// go to Python, which keeps them in the link. "Back to the optimum" requests Newton's steps from the present weights.

import { made } from "../shell/elements.js";
import { listen } from "./messages.js";
import { Weighing, between, moved, told } from "./weighing.js";

const SECONDS = 1.6; // of the walk back
const LONG = 60; // longer lists jump instead of sliding: browsers draw a layer for each document
const REST = 4; // pause before the numbers are computed again, as a multiple of their time
const SETTLED = 500; // milliseconds without a move before the weights are sent
const tables = new WeakMap();

// A range input adds steps to its lowest value, so 0 may become 2e-16.
const nearZero = (input) => Math.abs(input.value) < 1e-9 * Math.abs(input.max);

export default function weights({ data, parentElement, setTriggerValue }) {
  if (!tables.has(parentElement)) tables.set(parentElement, new Table(parentElement));
  const table = tables.get(parentElement);
  table.update(data, setTriggerValue);
  return () => table.close();
}

class Table {
  constructor(parent) {
    this.tiles = made("dl", { class: "tiles" });
    this.bars = made("div", { class: "bars", role: "group", "aria-label": "Weights" });
    this.list = made("ol", { class: "list" });
    this.heads = made("p", { class: "heads" });
    this.back = made("button", { type: "button", onclick: () => this.ask() }, "Back to the optimum");
    const zero = made("button", { type: "button", onclick: () => this.go(this.w.map(() => 0)) }, "All to zero");
    this.more = made("p", { class: "more", "aria-hidden": "true" });
    this.bars.addEventListener("scroll", () => this.sayWhatIsBelow());
    this.seen = new ResizeObserver(() => this.sayWhatIsBelow());
    this.buttons = made("div", { class: "buttons" }, this.back, zero);
    this.scrolled = made("div", { class: "right", tabindex: "0", role: "group", "aria-label": "Documents in order" },
      this.heads, this.list); // scrolled by keys
    this.root = made("div", { class: "weights", role: "figure" }, this.tiles, made("div", { class: "beside" },
      made("div", { class: "left" }, this.buttons, this.bars, this.more), this.scrolled));
    parent.append(this.root);
    this.due = 0;
  }

  close() {
    this.deaf?.();
    this.deaf = null;
    this.seen.disconnect();
    clearTimeout(this.resting);
    cancelAnimationFrame(this.walking);
  }

  update(data, tell) {
    this.tell = tell;
    this.bars.inert = this.buttons.inert = data.locked;
    this.take(data);
    this.deaf ??= listen((news) => this.hear(news));
    this.seen.observe(this.bars);
  }

  take(data) {
    this.root.classList.toggle("alone", data.alone);
    if (this.data?.id === data.id && this.data.query === data.query) return;
    const same = this.data?.id === data.id;
    this.data = data;
    this.root.setAttribute("aria-label", data.words.figure);
    this.heads.replaceChildren(...data.words.heads.map((head) => made("span", {}, head)));
    if (!same) {
      this.weighing = new Weighing(data);
      this.w = [...data.learned];
      this.begun = this.walked = null;
      this.learned = this.numbers(data.learned);
      this.makeBars();
    } else this.learned = { ...this.learned, ndcg: this.at(data.learned, () => this.weighing.ndcg(data.query)) };
    this.makeList();
    this.draw();
  }

  // --- the bars -------------------------------------------------------------------------------------------

  makeBars() {
    const { learned, names, most } = this.data, order = learned.map((_, j) => j);
    order.sort((a, b) => Math.abs(learned[b]) - Math.abs(learned[a]));
    this.painted = [];
    this.inputs = [];
    this.values = [];
    this.bars.replaceChildren(...order.map((j) => {
      const name = made("span", { class: "name", title: names[j] }, names[j]);
      const input = made("input", { type: "range", min: -most, max: most, step: most / 200, "aria-label": names[j],
        oninput: () => this.set(j, nearZero(input) ? 0 : Number(input.value)) });
      const ghost = made("i", { class: "ghost", title: `Learned: ${told(learned[j])}`, "aria-hidden": "true" });
      ghost.style.setProperty("--at", (learned[j] / most + 1) / 2);
      this.inputs[j] = input;
      this.values[j] = made("output", {});
      return made("label", {}, name, made("span", { class: "track" }, ghost, input), this.values[j]);
    }));
  }

  // Some browsers draw a scrollbar only while scrolling.
  sayWhatIsBelow() {
    const { scrollHeight, clientHeight, scrollTop, firstElementChild } = this.bars;
    const below = Math.round((scrollHeight - clientHeight - scrollTop) / (firstElementChild?.offsetHeight || 1));
    this.more.textContent = below > 0 ? `↓ ${below} more below` : "";
  }

  set(j, value) {
    this.stay();
    this.w[j] = value;
    this.draw();
    this.settle();
  }

  go(w) {
    this.stay();
    this.w = [...w];
    this.draw();
    this.settle();
  }

  // Stop the walk: the visitor moves a weight.
  stay() {
    cancelAnimationFrame(this.walking);
    this.back.disabled = false;
  }

  // Send the weights when they rest.
  settle() {
    clearTimeout(this.resting);
    this.resting = setTimeout(() => {
      this.tell("moved", { id: this.data.id, w: moved(this.w, this.data.learned) });
    }, SETTLED);
  }

  // --- the walk back --------------------------------------------------------------------------------------

  ask() {
    clearTimeout(this.resting); // the end of the walk is sent, and a later message could interrupt the answer
    this.back.disabled = true;
    this.tell("walk", { w: this.w, at: performance.now() });
  }

  // Take messages for this model: the link's weights, once, and steps that were not walked yet.
  hear({ id, start, rev, path }) {
    if (id !== this.data.id) return;
    if (!this.begun) {
      this.begun = true;
      this.walked = rev; // steps requested before this table existed
      for (const [j, value] of start) this.w[j] = value;
      this.draw();
    } else if (rev > this.walked) {
      this.walked = rev;
      this.walk(path);
    }
  }

  walk(path) {
    this.back.disabled = false;
    const began = performance.now(), still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const frame = (now) => {
      const share = still ? 1 : Math.max(now - began, 0) / (1000 * SECONDS);
      this.w = between(path, share);
      this.draw();
      if (share < 1) this.walking = requestAnimationFrame(frame);
      else this.settle();
    };
    cancelAnimationFrame(this.walking);
    this.walking = requestAnimationFrame(frame);
  }

  // --- the list and the numbers ---------------------------------------------------------------------------

  makeList() {
    const { starts, grades, colours, query, titles } = this.data;
    this.rows = titles.map((title, k) => {
      const grade = grades[starts[query] + k], mark = made("i", { class: "grade" }, String(grade));
      mark.style.setProperty("--grade", colours[grade]);
      mark.classList.toggle("light", this.data.light[grade]);
      const place = made("span", { class: "rank" }), score = made("span", { class: "score" });
      const row = made("li", {}, place, mark, made("span", { class: "title" }, title), score);
      return { row, place, score };
    });
    this.list.style.height = `calc(var(--row) * ${titles.length})`;
    this.list.classList.toggle("long", titles.length > LONG);
    this.list.replaceChildren(...this.rows.map(({ row }) => row));
  }

  at(w, compute) {
    this.weighing.score(w);
    return compute();
  }

  numbers(w) {
    return this.at(w, () => ({
      ...this.weighing.pairsAt(w), mean: this.weighing.meanNdcg(), ndcg: this.weighing.ndcg(this.data.query),
    }));
  }

  draw() {
    this.frame ??= requestAnimationFrame(() => {
      this.frame = null;
      this.paint();
    });
  }

  // Draw bars and list in every frame; compute the numbers of all documents as often as time allows.
  paint() {
    this.w.forEach((value, j) => this.paintBar(j, value));
    const { query, starts } = this.data, scores = this.weighing.score(this.w);
    this.weighing.ranking(query).forEach((row, rank) => {
      this.paintRow(this.rows[row - starts[query]], rank, scores[row]);
    });
    const began = performance.now();
    if (began < this.due) {
      this.draw();
      return;
    }
    this.paintNumbers(this.numbers(this.w));
    this.due = began + REST * (performance.now() - began);
  }

  // Write only changed positions.
  paintRow(one, rank, score) {
    if (one.at !== rank) {
      one.at = rank;
      one.row.style.transform = `translateY(calc(var(--row) * ${rank}))`;
      one.place.textContent = String(rank + 1);
    }
    const words = told(score);
    if (one.words !== words) one.score.textContent = one.words = words;
  }

  paintBar(j, value) {
    const input = this.inputs[j], share = Math.min(Math.max((value / this.data.most + 1) / 2, 0), 1);
    if (this.painted[j] === value) return;
    this.painted[j] = value;
    if (Number(input.value) !== value) input.value = value;
    input.style.setProperty("--from", Math.min(share, 0.5));
    input.style.setProperty("--to", Math.max(share, 0.5));
    this.values[j].textContent = told(value);
  }

  paintNumbers(now) {
    const { words } = this.data, { learned } = this, percent = (v) => v.toFixed(3);
    const lines = [
      ["Objective", five(now.objective), five(learned.objective)],
      ["Misordered pairs", now.misordered.toLocaleString("en"), learned.misordered.toLocaleString("en")],
      ["NDCG@10, all queries", percent(now.mean), percent(learned.mean)],
      [words.query, percent(now.ndcg ?? 0), percent(learned.ndcg ?? 0)],
    ];
    this.tiles.replaceChildren(...lines.map(([name, value, before]) => made("div", {}, made("dt", {}, name),
      made("dd", {}, value), made("dd", { class: "learned" }, `learned: ${before}`))));
  }
}

const five = (value) => value.toLocaleString("en", { maximumSignificantDigits: 5 });
