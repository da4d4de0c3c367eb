// Draw on canvases: the surface with its contours, waves, pairs, kernel matrices.

import { made } from "../shell/elements.js";
import { BEYOND, MISORDERED, WITHIN, classOf, contour, crests, levels } from "./geometry.js";

let small = null; // a canvas for a surface's points
const DARKEST = 0.5; // opacity of the method's colour at the highest score

// Clear a canvas and scale it to CSS pixels.
export function cleared(canvas, width, height = width) {
  const context = canvas.getContext("2d"), ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [across, down] = [Math.round(width * ratio), Math.round(height * ratio)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return context;
}

export const rgb = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));

export const drawSurface = (canvas, values, side, size, colour, range) => (
  surfaceIn(cleared(canvas, size), values, side, size, colour, range));

// Colour by score, stronger for higher scores, with lines of equal score; `range` is fixed during playback.
export function surfaceIn(context, values, side, size, colour, [low, high], lineWidth = 1) {
  const [red, green, blue] = rgb(colour), pixels = (small ??= made("canvas")).getContext("2d");
  const image = pixels.createImageData(side, side), { data } = image;
  for (let at = 0, to = 0; at < values.length; at++, to += 4) {
    const share = Math.min(Math.max((values[at] - low) / (high - low), 0), 1);
    data[to] = red;
    data[to + 1] = green;
    data[to + 2] = blue;
    data[to + 3] = 255 * DARKEST * share;
  }
  if (small.width !== side) small.width = small.height = side;
  pixels.putImageData(image, 0, 0);
  const step = size / (side - 1); // the outer points of the grid lie on the edge
  context.drawImage(small, -step / 2, -step / 2, side * step, side * step);
  context.strokeStyle = `rgba(${red}, ${green}, ${blue}, 0.55)`;
  for (const level of levels(low, high)) {
    context.lineWidth = Math.abs(level) < 1e-12 ? lineWidth + 1 : lineWidth;
    lines(context, contour(values, side, level), (place) => place * step);
  }
}

function lines(context, segments, scaled) {
  context.beginPath();
  for (const [x0, y0, x1, y1] of segments) {
    context.moveTo(scaled(x0), scaled(y0));
    context.lineTo(scaled(x1), scaled(y1));
  }
  context.stroke();
}

// Draw the crests of the strongest waves: each raises the score most there.
export function drawWaves(context, waves, size, extent, colour) {
  const largest = Math.max(...waves.map(({ weight }) => Math.abs(weight))) || 1;
  const toPixels = (v, down) => ((down ? -v : v) + extent) * (size / (2 * extent));
  waves.forEach(({ omega, phase, weight }, at) => {
    context.strokeStyle = colour;
    context.globalAlpha = 0.75 * Math.abs(weight) / largest;
    context.setLineDash([[], [7, 4], [2, 3]][at % 3]);
    context.lineWidth = 2;
    context.beginPath();
    for (const [x0, y0, x1, y1] of crests(omega, phase, extent, Math.sign(weight))) {
      context.moveTo(toPixels(x0), toPixels(y0, true));
      context.lineTo(toPixels(x1), toPixels(y1, true));
    }
    context.stroke();
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

// Draw `shown` pairs as segments by the class of their margin, without those of `chosen`.
export function drawPairs(context, { pairs: { winner, loser, length }, places, scores, chosen, shown, colours }) {
  const sorted = [[], [], []];
  for (let k = 0; k < length; k++) {
    const i = winner[k], j = loser[k], kind = classOf(scores[i] - scores[j]);
    if (i !== chosen && j !== chosen && (shown === "all" || (shown === "misordered" && kind === MISORDERED))) {
      sorted[kind].push([places[i].x, places[i].y, places[j].x, places[j].y]);
    }
  }
  const faint = (chosen >= 0 ? 0.35 : 1) * Math.min(0.8, 8 / Math.sqrt(length + 1));
  for (const kind of [BEYOND, WITHIN, MISORDERED]) {
    stroke(context, sorted[kind], colours[kind], Math.min(0.85, faint * WIDTHS[kind]));
  }
}

// Draw all pairs of the chosen document.
export function drawChosen(context, { pairs: { winner, loser, length }, places, scores, chosen, colours }) {
  for (let k = 0; k < length; k++) {
    const i = winner[k], j = loser[k];
    if (i !== chosen && j !== chosen) continue;
    const kind = classOf(scores[i] - scores[j]), segment = [places[i].x, places[i].y, places[j].x, places[j].y];
    stroke(context, [segment], colours[kind], 0.95, WIDTHS[kind] + 0.6);
  }
}

const WIDTHS = [1.4, 1.1, 0.8];

function stroke(context, segments, colour, alpha, width = 1.1) {
  context.globalAlpha = alpha;
  context.strokeStyle = colour;
  context.lineWidth = width;
  lines(context, segments, (place) => place);
  context.globalAlpha = 1;
}

// Draw a matrix (side × side): ink by value, another colour below 0, full at `most`.
export function drawMatrix(canvas, values, side, ink, below, most = 1) {
  if (canvas.width !== side) canvas.width = canvas.height = side;
  const image = new ImageData(Math.max(side, 1), Math.max(side, 1)), pixels = new Uint32Array(image.data.buffer);
  const [dark, other] = [ink, below].map(([red, green, blue]) => red | (green << 8) | (blue << 16));
  for (let at = 0; at < values.length; at++) {
    const share = values[at] / most, opacity = Math.min(255 * Math.abs(share), 255);
    pixels[at] = (share < 0 ? other : dark) | (opacity << 24);
  }
  canvas.getContext("2d").putImageData(image, 0, 0);
}
