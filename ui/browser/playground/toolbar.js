// The toolbar above the plane: grade, query and actions of a document.

import { made, shape, write } from "../shell/elements.js";
import { SHAPES } from "./shapes.js";

export const PAIRS = { misordered: "Misordered pairs", all: "All pairs", none: "No pairs" };

export class Toolbar {
  // `does`: grade(k), query(k), add(), drop(), undo(), reset(), pairs(name)
  constructor(does) {
    this.grades = [0, 1, 2, 3, 4].map((k) => button(String(k), `Grade ${k}`, () => does.grade(k)));
    this.queries = SHAPES.map(({ name, path }, k) => {
      const icon = shape("svg", { viewBox: "-9 -9 18 18", "aria-hidden": "true" }, shape("path", { d: path }));
      return button(icon, `Query ${k + 1}, ${name}`, () => does.query(k));
    });
    this.add = button("Add", "Click, then place it in the plane (or double-click there)", does.add);
    this.drop = button("Delete", "Delete document (Delete)", does.drop);
    this.undo = button("Undo", "Undo the last change (Ctrl+Z)", does.undo);
    this.reset = button("Reset", "Undo all changes", does.reset);
    this.pairs = made("select", { "aria-label": "Pairs that are drawn", onchange: () => does.pairs(this.pairs.value) },
      ...Object.entries(PAIRS).map(([value, text]) => made("option", { value }, text)));
    this.element = made("div", { class: "toolbar", role: "toolbar", "aria-label": "Documents" },
      group("Grade", ...this.grades), group("Query", ...this.queries),
      group("", this.add, this.drop, this.undo, this.reset), this.pairs);
  }

  show({ grade, query, colours, adding, chosen, undo, byHand, locked }) {
    this.grades.forEach((one, k) => {
      write(one, "aria-pressed", String(k === grade));
      write(one, "style", `--grade: ${colours[k]}`);
    });
    this.queries.forEach((one, k) => write(one, "aria-pressed", String(k === query)));
    write(this.add, "aria-pressed", String(adding));
    for (const one of this.element.querySelectorAll("button, select")) one.disabled = locked;
    this.drop.disabled ||= !chosen;
    this.undo.disabled ||= !undo;
    this.reset.disabled ||= !byHand;
  }
}

function button(content, title, onclick) {
  return made("button", { type: "button", title, "aria-label": title.split(" (")[0], onclick }, content);
}

const group = (label, ...children) => made("span", { class: "group" }, ...(label ? [made("span", {}, label)] : []),
  ...children);
