// One query, ranked: a slider weighs two features, the list re-orders, and NDCG is summed term by term.

import { ndcg, pairAccuracy } from "../core/metrics.js";
import { gradeColour, inkOn } from "../lessons/kit/look.js";
import { Motion } from "../lessons/kit/motion.js";
import { filled } from "../lessons/kit/words.js";
import { made } from "../shell/elements.js";

export const DOCUMENTS = [
  // name, grade, share of the query's words in the title and in the text
  ["A", 0, 0.9, 0.1], ["B", 1, 0.8, 0.45], ["C", 2, 0.55, 0.9],
  ["D", 0, 0.5, 0.2], ["E", 1, 0.3, 0.6], ["F", 2, 0.2, 0.95],
];
const GRADES = DOCUMENTS.map(([, grade]) => grade), STEPS = 100, SECONDS = 5, WIDTH = 22;
const lists = new WeakMap();

// Scores at a weight 0 … 1 of the text.
export const scoresAt = (weight) => DOCUMENTS.map(([, , title, text]) => (1 - weight) * title + weight * text);

export function at(weight) {
  const scores = scoresAt(weight);
  return { ...ndcg(scores, GRADES, "compared", DOCUMENTS.length), ...pairAccuracy(scores, GRADES) };
}

// The weight at a share of the movement: to the best order and back, so that the visitor can find it again.
export const shown = (share) => 1 - Math.abs(1 - 2 * share);

export default function list({ data, parentElement }) {
  if (!lists.has(parentElement)) lists.set(parentElement, new List(parentElement, data));
  lists.get(parentElement).update(data);
}

class List {
  constructor(parent, { words }) {
    this.words = words;
    this.rows = DOCUMENTS.map(([, grade]) => ({
      chip: made("b", { class: "chip" }, String(grade)), rank: made("span", { class: "rank" }),
      name: made("span", { class: "name" }), term: made("span", { class: "term" }),
      bar: made("i", { class: "bar" }),
    }));
    this.items = this.rows.map((row) => made("li", {}, row.rank, row.chip, row.name, row.term, row.bar));
    this.slider = made("input", { type: "range", min: 0, max: STEPS, value: 0, "aria-label": words.weight });
    this.sum = made("p", { class: "sum" });
    this.live = made("p", { class: "live", role: "status" });
    const ends = made("div", { class: "ends" },
      made("span", {}, words.title), this.slider, made("span", {}, words.text));
    parent.append(made("section", { class: "list", "aria-label": words.about },
      made("p", { class: "query" }, words.query), ends, made("ol", {}, ...this.items), this.sum, this.live));
    this.motion = new Motion();
    this.slider.oninput = () => { this.motion.stop(); this.draw(); };
    this.slider.onchange = () => { this.live.textContent = this.sum.textContent; };
    this.motion.play(SECONDS, (share) => { this.slider.value = STEPS * shown(share); this.draw(); });
  }

  update({ dark, locked = false }) {
    this.dark = dark;
    this.slider.disabled = locked;
    this.rows.forEach(({ chip }, k) => {
      const colour = gradeColour(GRADES[k], dark);
      chip.style.background = colour;
      chip.style.color = inkOn(colour);
    });
    this.draw();
  }

  draw() {
    const weight = Number(this.slider.value) / STEPS, scores = scoresAt(weight), found = at(weight);
    const { terms, ideal, dcg, idealDcg, value, right, pairs } = found;
    for (const { document, rank, gain, discount, product } of terms) {
      const row = this.rows[document], item = this.items[document];
      row.rank.textContent = String(rank);
      row.name.textContent = filled(this.words.document, {
        name: DOCUMENTS[document][0], score: scores[document].toFixed(2),
      });
      row.term.textContent = `${gain} × ${discount.toFixed(2)} = ${product.toFixed(2)}`;
      const share = WIDTH * product / ideal[0].product;
      row.bar.style.width = `${share}%`;
      row.bar.style.marginRight = `${WIDTH - share}%`;
      item.style.transform = `translateY(${(rank - 1) * 100}%)`;
    }
    this.sum.textContent = filled(this.words.sum, {
      dcg: dcg.toFixed(2), ideal: idealDcg.toFixed(2), ndcg: value.toFixed(2), right, pairs,
    });
  }
}
