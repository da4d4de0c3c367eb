// K beside both approximations: the models that they learn, K̃ and its errors, as small pictures.

import { made } from "../shell/elements.js";
import { drawMatrix, drawSurface, rgb } from "./draw.js";
import { ends } from "./geometry.js";
import { EXTENT, NAMES, ordered, scoresOf, surfaceOf } from "./model.js";
import { counted } from "./telling.js";

const SIZE = 128, DOT = 2; // pixels of a small plane, and of the radius of its documents

export class Kernels {
  constructor() {
    const names = ["K", ...["plane", "near", "error"].flatMap((kind) => NAMES.map((name) => `${kind} ${name}`))];
    this.pictures = new Map(names.map((name) => {
      const canvas = made("canvas", { role: "img" }), caption = made("figcaption");
      return [name, { canvas, caption, figure: made("figure", { "data-name": name }, canvas, caption) }];
    }));
    this.element = made("div", { class: "matrices" }, ...Array.from(this.pictures.values(), (one) => one.figure));
  }

  // Draw what `kernelsOf` returns of `names`; `words` has the captions, with places for numbers.
  show({ side, K, approximations }, names, words, colours, documents) {
    const inks = [rgb(colours.ink), rgb(colours.below)];
    const matrix = (name, values, text) => {
      drawMatrix(this.pictures.get(name).canvas, values, side, ...inks);
      this.say(name, text);
    };
    matrix("K", K, words.K);
    for (const { name, model, approximate, error, share } of approximations) {
      if (!names.includes(name)) continue;
      const right = counted(ordered(model.pairs, scoresOf(model, model.weights))), n = counted(model.pairs.length);
      const values = { m: model.map.m, right, n, error: percent(share) };
      const told = (text) => text.replace(/\{(\w+)\}/g, (_, key) => values[key]);
      drawPlane(this.pictures.get(`plane ${name}`).canvas, model, colours.methods[name], colours.grades, documents);
      this.say(`plane ${name}`, told(words[name]));
      matrix(`near ${name}`, approximate, told(words.near));
      matrix(`error ${name}`, error, told(words.error));
    }
  }

  say(name, text) {
    const { canvas, caption } = this.pictures.get(name);
    if (caption.textContent === text) return;
    caption.textContent = text;
    canvas.setAttribute("aria-label", text);
  }
}

function drawPlane(canvas, model, colour, grades, documents) {
  const { side, values } = surfaceOf(model, model.weights, true), pixels = (v) => ((v + EXTENT) * SIZE) / (2 * EXTENT);
  drawSurface(canvas, values, side, SIZE, colour, ends(values));
  const context = canvas.getContext("2d");
  for (const { x, y, grade } of documents) {
    context.fillStyle = grades[grade];
    context.beginPath();
    context.arc(pixels(x), pixels(-y), DOT, 0, 2 * Math.PI);
    context.fill();
  }
}

export function percent(share) {
  const value = 100 * share;
  if (value < 0.1) return "less than 0.1 %";
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}
