// Losses of margins, for the lesson "loss". It uses no DOM.

import { LOSSES } from "../../core/ranking.js";
import { GRADES, PLACES, PTR, linesOf, margin } from "./turning.js";

export const SHOWN = ["zeroOne", "hinge", "squaredHinge", "logistic"];
export const [LOW, HIGH, TOP] = [-2, 3, 5]; // margins, and the largest penalty in the figure
export const MARGINS = Array.from({ length: 11 }, (_, k) => LOW + k / 2);
export const PAIRS = linesOf(GRADES, PTR, []);

// The penalty as far as the figure shows it.
export const shown = (loss, t) => Math.min(LOSSES[loss].value(t), TOP);

// The mean distance of a drawn curve from each loss, over the drawn margins; the nearest first.
export function distances(drawn) {
  const of = (loss) => MARGINS.reduce((sum, t, k) => sum + Math.abs(shown(loss, t) - drawn[k]), 0) / MARGINS.length;
  return SHOWN.map((loss) => ({ loss, gap: of(loss) })).sort((a, b) => a.gap - b.gap);
}

// Each pair's margin and pull at weights w: −ℓ'(t) is the force with which it pulls w towards x_i − x_j.
export const pulled = (loss, w) => PAIRS.map((pair) => {
  const t = margin(pair, PLACES, w);
  return { ...pair, t, pull: -LOSSES[loss].derivative(t), cost: LOSSES[loss].value(t) };
});

// The sum of all pulls: minus the gradient of Σ ℓ(t).
export const together = (list) => list.reduce(([x, y], { i, j, pull }) => (
  [x + pull * (PLACES[i][0] - PLACES[j][0]), y + pull * (PLACES[i][1] - PLACES[j][1])]), [0, 0]);
