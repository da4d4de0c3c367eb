// The side of the plane: its legend, and what else describes the model.

import { made } from "../shell/elements.js";

export class Side {
  constructor(...pictures) {
    this.goal = made("p", { class: "goal" });
    this.key = made("ul", { class: "key" });
    this.note = made("p", { class: "note" });
    this.told = made("p", { class: "note" });
    this.element = made("div", { class: "side" }, this.goal, this.key, ...pictures, this.note, this.told);
  }

  // Describe the chosen mark, for visitors without a mouse.
  tell(text) {
    const told = text && `Chosen: ${text}`;
    if (this.told.textContent !== told) this.told.textContent = told;
  }

  show({ goal, lines, note }) {
    this.goal.textContent = goal;
    this.key.replaceChildren(...lines.map(([kind, colour, text]) => {
      const swatch = made("i", { class: kind, "aria-hidden": "true" });
      swatch.style.setProperty("--colour", colour);
      return made("li", {}, swatch, text);
    }));
    this.note.textContent = note;
  }
}
