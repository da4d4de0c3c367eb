// K beside both approximations and their errors, as small pictures that move with m, γ and documents.

import { made } from "../shell/elements.js";
import { drawMatrix, rgb } from "./draw.js";

export class Kernels {
  constructor() {
    this.pictures = ["K", "nystroem", "fourier", "nystroem error", "fourier error"].map((name) => {
      const canvas = made("canvas", { role: "img", "data-name": name }), caption = made("figcaption");
      return { canvas, caption, figure: made("figure", {}, canvas, caption) };
    });
    this.element = made("div", { class: "matrices" }, ...this.pictures.map((one) => one.figure));
  }

  // Draw matrices from `kernelsOf`; `words` has the captions, with places for m and error.
  show({ side, K, approximations }, words, ink, below) {
    const [whole, ...others] = this.pictures, inks = [rgb(ink), rgb(below)];
    paint(whole, K, side, inks, words.K);
    approximations.forEach(({ name, m, approximate, error, share }, k) => {
      const told = (text) => text.replace("{m}", m).replace("{error}", percent(share));
      paint(others[k], approximate, side, inks, told(words[name]));
      paint(others[k + 2], error, side, inks, told(words.error));
    });
  }
}

function paint({ canvas, caption }, values, side, inks, text) {
  drawMatrix(canvas, values, side, ...inks);
  if (caption.textContent === text) return;
  caption.textContent = text;
  canvas.setAttribute("aria-label", text);
}

export function percent(share) {
  const value = 100 * share;
  if (value < 0.1) return "less than 0.1 %";
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} %`;
}
