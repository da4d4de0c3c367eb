// Parts of figures: charts with bands and logarithmic axes, sliders, buttons, heat maps, surfaces.
//
// A box is { x, y, width, height } in pixels. A chart is a box with scales: `plot.x(value)` and `plot.y(value)` are
// pixels, `plot.from(px, py)` are values. kit/sketch.js takes it as well.

import { cleared, surfaceIn } from "../../playground/draw.js";
import { ends } from "../../playground/geometry.js";

// Colours of methods, on light and on dark, as on every page; tests/pages/test_lessons.py holds them equal.
const METHODS = {
  nystroem: ["#0072B2", "#3d9bd9"], fourier: ["#D55E00", "#e8742a"], exact: ["#000000", "#ffffff"],
  data: ["#009E73", "#2bb58c"],
};
export const methodColour = (name, dark) => METHODS[name][dark ? 1 : 0];

export const styled = (rules) => Object.entries(rules).map(([name, value]) => `${name}:${value}`).join(";");
const QUIET = "var(--quiet)", EDGE = "var(--edge)";
export const strokeOf = (stroke, width = 2.5, more = {}) => ({
  style: styled({ fill: "none", stroke, "stroke-width": `${width}px`, "stroke-linejoin": "round", ...more }),
});
export const inkOf = (fill, more = {}) => ({ style: styled({ fill, ...more }) });

// Return the canvas's context, cleared, in CSS pixels.
export const canvasOf = ({ canvas, width, height }) => cleared(canvas, Math.max(width, 1), Math.max(height, 1));

// Return a colour of the theme, for a canvas.
export const themeColour = ({ svg }, name) => getComputedStyle(svg).getPropertyValue(name).trim() || "#808080";

export const within = (value, low, high) => Math.min(Math.max(value, low), high);
export const asShare = (value) => within(value, 0, 1);

// Return the position of the nearest of a list's numbers.
export const nearest = (list, to) => (
  list.reduce((best, one, k) => (Math.abs(one - to) < Math.abs(list[best] - to) ? k : best), 0));

// --- charts -------------------------------------------------------------------------------------------------

function scale([low, high], from, to, log) {
  const f = log ? Math.log : (v) => v, back = log ? Math.exp : (v) => v, span = f(high) - f(low);
  return {
    at: (value) => from + ((f(value) - f(low)) / span) * (to - from),
    value: (pixel) => back(f(low) + (within((pixel - from) / (to - from), 0, 1)) * span),
  };
}

// Return a chart in a box: `x` and `y` are { ends, log, ticks: [[value, text]], name }.
export function chart(box, x, y) {
  const inner = { left: box.x + 46, right: box.x + box.width - 12, top: box.y + 26, bottom: box.y + box.height - 44 };
  const across = scale(x.ends, inner.left, inner.right, x.log), up = scale(y.ends, inner.bottom, inner.top, y.log);
  const plot = { ...inner, width: inner.right - inner.left, height: inner.bottom - inner.top, x: across.at, y: up.at };
  const from = (px, py) => [across.value(px), up.value(py)];
  return { ...plot, from, path: (points) => pathOf(plot, points), axes: { x, y } };
}

export function drawAxes(paint, key, plot) {
  const { left, right, top, bottom, axes: { x, y } } = plot, line = strokeOf(EDGE, 1.5);
  paint.put("back", `${key} axes`, "path", { d: `M${left} ${top}V${bottom}H${right}`, ...line });
  x.ticks.forEach(([value, text], k) => {
    paint.put("back", `${key} x${k}`, "text", { x: plot.x(value), y: bottom + 14, class: "note" }, text);
  });
  y.ticks.forEach(([value, text], k) => {
    const at = plot.y(value);
    paint.put("back", `${key} y${k}`, "text", { x: left - 6, y: at, class: "note end-note" }, text);
    paint.put("back", `${key} g${k}`, "path", { d: `M${left} ${at}H${right}`, ...strokeOf(EDGE, 0.6) });
  });
  paint.put("back", `${key} xname`, "text", { x: (left + right) / 2, y: bottom + 34, class: "note" }, x.name);
  paint.put("back", `${key} yname`, "text",
    { x: left - 40, y: top - 18, class: "note", style: "text-anchor:start" }, y.name);
}

// Return the path through points [x, y] of a chart; a point without a value interrupts it.
export function pathOf(plot, points) {
  let pen = "M";
  return points.map(([x, y]) => {
    if (y === null || !Number.isFinite(y)) {
      pen = "M";
      return "";
    }
    const part = `${pen}${plot.x(x).toFixed(1)} ${plot.y(y).toFixed(1)}`;
    pen = "L";
    return part;
  }).join("");
}

export function drawCurve(paint, key, plot, points, look) {
  paint.put("lines", key, "path", { d: pathOf(plot, points), ...look });
}

// Draw the area between the lower and the upper of points [x, lower, upper].
export function drawBand(paint, key, plot, points, colour) {
  const there = points.map(([x, low]) => [x, low]), back = points.map(([x, , high]) => [x, high]).reverse();
  const d = `${pathOf(plot, there)}${pathOf(plot, back).replace("M", "L")}Z`;
  paint.put("back", key, "path", { d, style: styled({ fill: colour, opacity: 0.2 }) });
}

export function drawPoint(paint, key, plot, [x, y], colour, r = 7) {
  paint.put("over", key, "circle", { cx: plot.x(x), cy: plot.y(y), r, ...inkOf(colour, { stroke: "var(--paper)" }) });
}

export function drawText(paint, key, x, y, text, { anchor = "middle", colour = null, name = "" } = {}) {
  const halo = { "paint-order": "stroke", stroke: "var(--paper)", "stroke-width": "5px" };
  const rules = { "text-anchor": anchor, "pointer-events": "none", ...halo, ...(colour && { fill: colour }) };
  paint.put("labels", key, "text", { x, y, class: name, style: styled(rules) }, text);
}

// Return points on the straight lines between points, at most two pixels apart.
export const dense = (points) => points.flatMap(([x, y], k) => {
  const [u, v] = points[k + 1] ?? [x, y], n = Math.ceil(Math.hypot(u - x, v - y) / 2) || 1;
  return Array.from({ length: n }, (_, at) => [x + ((u - x) * at) / n, y + ((v - y) * at) / n]);
});

// Return the middle of a text of this size beside a curve, in the first part of its points that has such a place, the
// nearest first: inside a chart, and on none of the other points, which are dense. Return undefined if there is none.
export function freePlace(parts, [width, height], { left, right, top, bottom }, others) {
  const [w, h] = [width / 2, height / 2], inside = ([x, y]) => x >= left + w && x <= right - w && y >= top + h
    && y <= bottom - h && !others.some(([u, v]) => Math.abs(u - x) <= w && Math.abs(v - y) <= h);
  for (const points of parts) {
    const some = points.filter((_, k) => k % 5 === 0);
    for (let far = 6; far < 46; far += 4) {
      const beside = some.flatMap(([x, y]) => [[x + w + far, y], [x, y + h + far], [x, y - h - far]]).find(inside);
      if (beside) return beside;
    }
  }
  return undefined;
}

// Name a mark where it is freest of the places that are taken: at a corner, or straight above or below it.
export function drawName(paint, name, [x, y], { taken, colour, aside = [19, 12] }) {
  const far = ([px, py]) => Math.min(...taken.map(([u, v]) => Math.hypot(u - px, v - py)));
  const signs = [[1, -1], [-1, -1], [1, 1], [-1, 1], [1.3, 0], [-1.3, 0], [0, -1.8], [0, 1.8]];
  const corners = signs.map(([right, down]) => [x + aside[0] * right, y + aside[1] * down]);
  const at = corners.reduce((best, one) => (far(one) > far(best) ? one : best));
  taken.push(at);
  drawText(paint, `name ${name}`, ...at, name, { colour, name: "grade" });
}

// Move points that are nearer than a distance apart, each as little as that takes, so that no mark hides another.
export function apart(points, least) {
  const moved = points.map((point) => [...point]);
  for (let round = 0; round < 100; round++) {
    moved.forEach((a, i) => moved.slice(0, i).forEach((b) => {
      const [right, down] = [a[0] - b[0], a[1] - b[1]], far = Math.hypot(right, down);
      if (far >= least) return;
      const [x, y] = [far ? right / far : 1, far ? down / far : 0], by = (least - far) / 2;
      a[0] += by * x; a[1] += by * y; b[0] -= by * x; b[1] -= by * y;
    }));
  }
  return moved;
}

// --- controls -----------------------------------------------------------------------------------------------

// Draw a slider over a list of values: { name, values, at (its position), text(value), set(position) }; `unset` is
// true until the reader has moved it, so that its first position can be chosen too. `along` is the scale of a chart
// below, for values and knob one above the other.
export function drawSlider(paint, key, { x, y, width }, slider) {
  const { name, values, at, text, set, unset, colour = "var(--accent)", along } = slider;
  const last = values.length - 1, places = values.map((one, k) => along?.(one) ?? x + (width * k) / last);
  paint.put("labels", `${key} name`, "text", { x, y, style: "text-anchor:start" }, name);
  paint.put("labels", `${key} value`, "text", { x: x + width, y, style: "text-anchor:end" }, text(values[at]));
  paint.put("back", `${key} track`, "path", { d: `M${x} ${y + 24}H${x + width}`, ...strokeOf(EDGE, 5) });
  const move = (to) => {
    const place = within(to, 0, last);
    if (place !== at || unset) set(place);
  };
  paint.grip("grips", `${key} track`, "rect", {
    x: x - 14, y: y + 8, width: width + 28, height: 32, class: "reach", role: null, tabindex: null,
    style: "stroke:none",
  }, { drag: (px) => move(nearest(places, px)), focus: key });
  paint.grip("grips", key, "circle", {
    cx: places[at], cy: y + 24, r: 12, class: "knob", "aria-label": name,
    style: styled({ fill: colour, "pointer-events": "none" }),
  }, {
    value: { now: at, low: 0, high: last, text: text(values[at]) },
    nudge: (right, up) => move(at + right + up), ends: { Home: () => move(0), End: () => move(last) },
  });
}

// Draw a button; `pressed` is true or false for one that stays down.
export function drawButton(paint, key, { x, y, width }, text, press, pressed = null) {
  paint.grip("grips", key, "rect", {
    x, y, width, height: 34, rx: 6, class: "button", "aria-label": text,
    "aria-pressed": pressed === null ? null : String(pressed),
  }, { press });
  paint.put("grips", `${key} text`, "text", {
    x: x + width / 2, y: y + 18,
    style: styled({ "pointer-events": "none", fill: pressed ? "var(--on-accent)" : "var(--ink)" }),
  }, text);
}

// --- heat maps ----------------------------------------------------------------------------------------------

// Draw a matrix (rows × columns) in a box of a canvas: stronger for larger |value| (1 is full), another colour
// below 0.
export function drawHeat(context, values, rows, columns, { x, y, width, height }, colour, below = colour) {
  const across = (k) => Math.round(x + (k * width) / columns), down = (k) => Math.round(y + (k * height) / rows);
  for (let i = 0; i < rows; i++) {
    for (let j = 0; j < columns; j++) {
      const value = values[i * columns + j];
      context.globalAlpha = Math.min(Math.abs(value), 1);
      context.fillStyle = value < 0 ? below : colour;
      context.fillRect(across(j), down(i), across(j + 1) - across(j), down(i + 1) - down(i));
    }
  }
  context.globalAlpha = 1;
}

// Draw frame and name of a heat map.
export function drawFrame(paint, key, { x, y, width, height }, name, colour = QUIET) {
  paint.put("back", `${key} frame`, "rect", { x, y, width, height, ...strokeOf(EDGE, 1) });
  drawText(paint, `${key} name`, x + width / 2, y - 12, name, { colour });
}

// --- documents in a plane -----------------------------------------------------------------------------------

// Return the places of a square plane: `at([x, y])` in pixels, `from(px, py)` in the plane.
export function plane({ x, y, width }, extent) {
  const unit = width / 2 / extent, [cx, cy] = [x + width / 2, y + width / 2];
  const at = ([u, v]) => [cx + unit * u, cy - unit * v];
  return { unit, at, from: (px, py) => [(px - cx) / unit, (cy - py) / unit] };
}

// Return a square and the box beside it, or below it in a narrow figure.
export function layout({ width: w, height: h }, { below = 0.45, gap = 24 } = {}) {
  const [width, height] = [Math.max(w, 240), Math.max(h, 240)]; // a figure that is not shown yet has no size
  if (width > 1.15 * height) {
    const side = Math.min(height - 40, width * (width < 720 ? 0.42 : 0.5)); // charts and sliders need room
    return { square: { x: 0, y: 26, width: side, height: side },
      rest: { x: side + gap, y: 0, width: width - side - gap, height }, wide: true };
  }
  const side = Math.min(width, height * (1 - below)) - 4, top = side + 8;
  return { square: { x: (width - side) / 2, y: 2, width: side, height: side },
    rest: { x: 0, y: top, width, height: height - top }, wide: false };
}

// Return a grid of `side` ticks across a plane, and down it.
export const ticksOf = (side, extent) => {
  const across = Array.from({ length: side }, (_, k) => -extent + (2 * extent * k) / (side - 1));
  return [across, [...across].reverse()];
};

// Draw scores on such a grid into a square of a canvas: stronger for higher scores, with lines of equal score.
export function drawSurface(context, values, side, { x, y, width }, colour, lineWidth = 1) {
  context.save();
  context.translate(x, y);
  context.beginPath();
  context.rect(0, 0, width, width);
  context.clip();
  surfaceIn(context, values, side, width, colour, ends(values), lineWidth);
  context.restore();
}
