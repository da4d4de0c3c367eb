// A curve that the reader draws: a stroke of the pointer, or a handle for each value of x (↑ and ↓ move it, ← and →
// lead to the next one).
//
//   const sketch = new Sketch([-2, …, 3], [0, 5], 0.25);      // values of x, range of y, step of the arrow keys
//   sketch.draw(paint, "over", "grips", plot, { label: (x) => "…", changed });   // while it can be drawn
//   sketch.line(paint, "over", plot);                                            // afterwards
//   sketch.values()   one y for each x, or null before at least three are drawn

import { mix } from "./motion.js";
import { nearest } from "./parts.js";
import { number } from "./words.js";

const ENOUGH = 3;
const NEAR = 0.2; // of the distance between values: here the nearest follows the pointer, up and down

// Fill gaps in a list between its known numbers; beyond the first and the last it stays level.
export function bridged(values) {
  const known = values.flatMap((one, k) => (one === null ? [] : [k]));
  return values.map((one, k) => {
    if (one !== null) return one;
    const before = known.filter((at) => at < k).at(-1), after = known.find((at) => at > k);
    if (before === undefined || after === undefined) return values[before ?? after];
    return values[before] + ((values[after] - values[before]) * (k - before)) / (after - before);
  });
}

export class Sketch {
  constructor(xs, [low, high], step) {
    Object.assign(this, { xs, low, high, step, drawn: xs.map(() => null), last: null });
  }

  values() {
    return this.drawn.filter((one) => one !== null).length >= ENOUGH ? bridged(this.drawn) : null;
  }

  // The value of the drawn curve at any x, on straight lines between its values.
  at(x) {
    const k = Math.max(this.xs.findLastIndex((one, at) => one <= x && at < this.xs.length - 1), 0);
    return mix(this.drawn[k], this.drawn[k + 1], (x - this.xs[k]) / (this.xs[k + 1] - this.xs[k]));
  }

  take(values) {
    this.drawn = [...values];
  }

  fits(values) {
    return values.length === this.xs.length && values.every((one) => one >= this.low && one <= this.high);
  }

  // Set the values that a stroke passes, each where it passes, and the value nearest to the pointer until it is passed.
  stroke(x, y) {
    const value = Math.min(Math.max(y, this.low), this.high), from = this.last ?? { x, value, passed: new Set() };
    this.xs.forEach((one, k) => {
      if (from.x === x || (one - from.x) * (one - x) > 0) return;
      this.drawn[k] = from.value + ((value - from.value) * (one - from.x)) / (x - from.x);
      from.passed.add(k);
    });
    const at = nearest(this.xs, x), close = Math.abs(x - this.xs[at]) <= NEAR * Math.abs(this.xs[1] - this.xs[0]);
    if (close || !from.passed.has(at)) this.drawn[at] = value;
    this.last = { x, value, passed: from.passed };
  }

  // The height of each handle: those not drawn yet wait level with the others, where a key finds them.
  heights() {
    return bridged(this.drawn).map((one) => one ?? this.low);
  }

  nudge(k, by) {
    this.drawn[k] = Math.min(Math.max(this.heights()[k] + this.step * by, this.low), this.high);
  }

  line(paint, layer, plot) {
    const values = this.values() ?? this.drawn;
    const points = this.xs.flatMap((x, k) => (values[k] === null ? [] : [[x, values[k]]]));
    if (points.length > 1) paint.put(layer, "sketch", "path", { d: plot.path(points), class: "sketch" });
  }

  draw(paint, layer, grips, plot, { label, changed }) {
    const changes = (act) => (...how) => { act(...how); changed(); };
    const area = { x: plot.left - 12, y: plot.top - 10, width: plot.width + 24, height: plot.height + 20 };
    paint.grip(grips, "sketch area", "rect", { ...area, class: "area", role: null, tabindex: null }, {
      drag: changes((px, py) => this.stroke(...plot.from(px, py))),
      drop: () => { this.last = null; },
    });
    this.line(paint, layer, plot);
    const heights = this.heights();
    this.xs.forEach((x, k) => {
      const y = heights[k], set = this.drawn[k] === null ? "" : " set";
      paint.grip(grips, `sketch ${k}`, "circle", {
        cx: plot.x(x), cy: plot.y(y), r: 6, class: `dot${set}`, "aria-label": label(x),
      }, {
        among: [plot.x(this.xs[k]), 0],
        value: { now: y, low: this.low, high: this.high, text: number(y) },
        drag: changes((px, py) => this.stroke(...plot.from(px, py))),
        drop: () => { this.last = null; },
        nudge: changes((right, up) => (right ? paint.focus(`sketch ${k + Math.sign(right)}`) : this.nudge(k, up))),
      });
    });
  }
}
