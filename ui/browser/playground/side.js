// The side of the plane: its legend, and K against K̃.

import { bytes } from "../shell/bytes.js";
import { made } from "../shell/elements.js";
import { drawMatrix, rgb } from "./draw.js";

export class Side {
  constructor() {
    this.goal = made("p", { class: "goal" });
    this.key = made("ul", { class: "key" });
    this.matrices = made("div", { class: "matrices" });
    this.note = made("p", { class: "note" });
    this.told = made("p", { class: "note" });
    this.element = made("div", { class: "side" }, this.goal, this.key, this.matrices, this.note, this.told);
  }

  // Describe the chosen mark, for visitors without a mouse.
  tell(text) {
    this.told.textContent = text && `Chosen: ${text}`;
  }

  show({ goal, lines, kernels, labels, note, ink, below }) {
    this.goal.textContent = goal;
    this.key.replaceChildren(...lines.map(([kind, colour, text]) => {
      const swatch = made("i", { class: kind, "aria-hidden": "true" });
      swatch.style.setProperty("--colour", colour);
      return made("li", {}, swatch, text);
    }));
    this.matrices.replaceChildren(...(kernels?.matrices ?? []).map((text, at) => {
      const canvas = made("canvas", { role: "img", "aria-label": labels[at] });
      drawMatrix(canvas, bytes(text), kernels.side, rgb(ink), rgb(below));
      return made("figure", {}, canvas, made("figcaption", {}, labels[at]));
    }));
    this.note.textContent = note;
  }
}
