// Draw on canvases: the surface with its contours, waves, pairs, kernel matrices.

import { BEYOND, MISORDERED, WITHIN, classOf, contour, crests, levels } from "./geometry.js";

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

// Colour by score, stronger for higher scores, with lines of equal score; `range` is fixed during playback.
export function drawSurface(canvas, values, side, size, colour, range) {
  const context = cleared(canvas, size), [low, high] = range, [red, green, blue] = rgb(colour);
  const image = new ImageData(side, side);
  values.forEach((value, at) => {
    const share = Math.min(Math.max((value - low) / (high - low), 0), 1);
    image.data.set([red, green, blue, 255 * DARKEST * share], 4 * at);
  });
  const small = new OffscreenCanvas(side, side);
  small.getContext("2d").putImageData(image, 0, 0);
  const step = size / (side - 1); // the outer points of the grid lie on the edge
  context.drawImage(small, -step / 2, -step / 2, side * step, side * step);
  context.strokeStyle = `rgba(${red}, ${green}, ${blue}, 0.55)`;
  for (const level of levels(low, high)) {
    context.lineWidth = Math.abs(level) < 1e-12 ? 2 : 1;
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
export function drawWaves(context, waves, weights, size, extent, colour) {
  const largest = Math.max(...weights.map(Math.abs)) || 1;
  const toPixels = (v, down) => ((down ? -v : v) + extent) * (size / (2 * extent));
  waves.omega.forEach((omega, at) => {
    context.strokeStyle = colour;
    context.globalAlpha = 0.75 * Math.abs(weights[at]) / largest;
    context.setLineDash([[], [7, 4], [2, 3]][at % 3]);
    context.lineWidth = 2;
    context.beginPath();
    for (const [x0, y0, x1, y1] of crests(omega, waves.phase[at], extent, Math.sign(weights[at]))) {
      context.moveTo(toPixels(x0), toPixels(y0, true));
      context.lineTo(toPixels(x1), toPixels(y1, true));
    }
    context.stroke();
  });
  context.setLineDash([]);
  context.globalAlpha = 1;
}

// Draw `shown` pairs as segments by the class of their margin, without those of `chosen`.
export function drawPairs(context, { pairs, places, scores, chosen, shown, colours }) {
  const sorted = [[], [], []];
  for (const [i, j] of pairs) {
    const kind = classOf(scores[i] - scores[j]);
    if (i !== chosen && j !== chosen && (shown === "all" || (shown === "misordered" && kind === MISORDERED))) {
      sorted[kind].push([places[i].x, places[i].y, places[j].x, places[j].y]);
    }
  }
  const faint = (chosen >= 0 ? 0.35 : 1) * Math.min(0.8, 8 / Math.sqrt(pairs.length + 1));
  for (const kind of [BEYOND, WITHIN, MISORDERED]) {
    stroke(context, sorted[kind], colours[kind], Math.min(0.85, faint * WIDTHS[kind]));
  }
}

// Draw all pairs of the chosen document; they are few, so every frame of a drag redraws them.
export function drawChosen(context, { pairs, places, scores, chosen, colours }) {
  for (const [i, j] of pairs) {
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

// Draw a matrix of bytes, 127 for 0 and 254 for 1: ink by value, another colour below 0.
export function drawMatrix(canvas, values, side, ink, below) {
  canvas.width = canvas.height = side;
  const image = new ImageData(side, side);
  values.forEach((value, at) => {
    const share = (value - 127) / 127;
    image.data.set([...(share < 0 ? below : ink), 255 * Math.min(1, Math.abs(share))], 4 * at);
  });
  canvas.getContext("2d").putImageData(image, 0, 0);
}

