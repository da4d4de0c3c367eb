// Axes of a figure: from values to pixels and back, lines, ticks and names.

import { number } from "./words.js";

export class Plot {
  // box { left, top, width, height } in pixels; x and y are [low, high]
  constructor({ left, top, width, height }, x, y) {
    Object.assign(this, { left, top, width, height, range: { x, y } });
  }

  x(value) {
    const [low, high] = this.range.x;
    return this.left + ((value - low) / (high - low)) * this.width;
  }

  y(value) {
    const [low, high] = this.range.y;
    return this.top + this.height * (1 - (value - low) / (high - low));
  }

  from(px, py) {
    const at = (share, [low, high]) => low + share * (high - low);
    return [at((px - this.left) / this.width, this.range.x), at(1 - (py - this.top) / this.height, this.range.y)];
  }

  // The line through [x, y], cut at the upper and lower edge where it leaves the figure.
  path(points) {
    const [low, high] = this.range.y;
    const inside = points.filter(([, y], k) => [k - 1, k, k + 1].some((one) => {
      const near = points[one]?.[1];
      return near >= low && near <= high && y !== undefined;
    }));
    return inside.map(([x, y], k) => {
      const held = Math.min(Math.max(y, low), high);
      return `${k ? "L" : "M"}${this.x(x).toFixed(1)} ${this.y(held).toFixed(1)}`;
    }).join("");
  }

  // The line of a function, at `steps` + 1 values of x.
  curve(f, steps = 200) {
    const [low, high] = this.range.x;
    return this.path(Array.from({ length: steps + 1 }, (_, k) => {
      const x = low + ((high - low) * k) / steps;
      return [x, f(x)];
    }));
  }

  axes(paint, layer, { xTicks, yTicks, xName, yName, digits = 0 }) {
    const bottom = this.top + this.height, right = this.left + this.width;
    paint.put(layer, "x axis", "line", { x1: this.left, x2: right, y1: bottom, y2: bottom, class: "scale" });
    paint.put(layer, "y axis", "line", { x1: this.left, x2: this.left, y1: this.top, y2: bottom, class: "scale" });
    for (const tick of xTicks) {
      paint.put(layer, `x ${tick}`, "text", { x: this.x(tick), y: bottom + 16, class: "note" }, number(tick, digits));
    }
    for (const tick of yTicks) {
      const place = { x: this.left - 8, y: this.y(tick), class: "note end-note" };
      paint.put(layer, `y ${tick}`, "text", place, number(tick, digits));
    }
    paint.put(layer, "x name", "text", { x: this.left + this.width / 2, y: bottom + 38, class: "label" }, xName);
    paint.put(layer, "y name", "text", { x: this.left - 26, y: this.top - 16, class: "label start" }, yName);
  }
}
