// A square with ticks, and lines of equal height in it, with their heights written on them.

import { contour } from "../../playground/geometry.js";
import { number } from "./words.js";

const FAR = 0.12, LETTER = 8, GAP = 8, HIGH = 18; // of the square's width; pixels

// Return { level, d, name } for each level of a grid with `side` values in a row: the path of its line, and the place
// of its height. Heights stand near the row y = `beside`, the first levels first; there is none (null) without room.
export function heights(values, side, levels, { x, y, width }, beside) {
  const scale = width / (side - 1), told = [];
  return levels.map((level) => {
    const parts = contour(values, side, level).map((one) => one.map((at, k) => (k % 2 ? y : x) + scale * at));
    const d = parts.map(([a, b, u, v]) => `M${a.toFixed(1)} ${b.toFixed(1)}L${u.toFixed(1)} ${v.toFixed(1)}`).join("");
    const half = (LETTER * String(level).length) / 2, off = ([, b]) => Math.abs(b - beside);
    const free = ([a, b]) => a > x + half && a < x + width - half && off([a, b]) < FAR * width && told.every((one) => (
      Math.abs(one.at[0] - a) > one.half + half + GAP || Math.abs(one.at[1] - b) > HIGH));
    const [name = null] = parts.map(([a, b]) => [a, b]).filter(free).sort((one, other) => (
      off(one) + 0.1 * one[0] - off(other) - 0.1 * other[0]));
    if (name) told.push({ at: name, half });
    return { level, d, name };
  });
}

// Draw a square with ticks, and with a title above it; at([x, y]) are pixels.
export function drawSquare(paint, key, { x: left, y: top, width }, at, title = null) {
  paint.put("back", `${key} box`, "rect", { x: left, y: top, width, height: width, class: "gauge" });
  [-2, -1, 0, 1, 2].forEach((tick) => {
    const [x, y] = at([tick, tick]), told = number(tick, 0);
    paint.put("back", `${key} x${tick}`, "text", { x, y: top + width + 14, class: "note" }, told);
    paint.put("back", `${key} y${tick}`, "text", { x: left - 16, y, class: "note" }, told);
  });
  const [x, y] = at([0, 0]), d = `M${left} ${y}H${left + width}M${x} ${top}V${top + width}`;
  paint.put("back", `${key} origin`, "path", { d, class: "origin" });
  if (title) paint.put("back", `${key} title`, "text", { x: left, y: top - 13, class: "label start" }, title);
}

// Draw what `heights` returns.
export function drawHeights(paint, lines) {
  lines.forEach(({ level, d, name }, k) => {
    paint.put("back", `level${k}`, "path", { d, class: "level", style: `opacity:${0.9 - 0.04 * k}` });
    if (!name) return;
    paint.put("marks", `height${k}`, "text", { x: name[0], y: name[1], class: "height halo" }, String(level));
  });
}
