// Colours of marks; grades as on every page (rankviz/plots/style.py and ui/shell/figures.py, held equal by a test).

import { SHAPES } from "../../playground/shapes.js";

const GRADES = ["#c6dbef", "#6baed6", "#3182bd", "#08519c", "#08306b"];
const GRADES_ON_DARK = ["#2c4a6b", "#3f77a6", "#64a4d4", "#a5cdef", "#e6f2fc"];

export const gradeColour = (grade, dark) => (dark ? GRADES_ON_DARK : GRADES)[grade];

// The colour of a number on a grade.
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#10201e" : "#ffffff";
}

// A theme can change without a message from Python.
export function isDark(element) {
  const [red, green, blue] = getComputedStyle(element).backgroundColor.match(/[\d.]+/g).map(Number);
  return red + green + blue < 384;
}

// Draw a document: the shape of its query in the colour of its grade, with the number of the grade if it is large.
export function drawDocument(paint, layer, key, { x, y, grade, query = 0, size, dark, kind = "" }) {
  const fill = gradeColour(grade, dark), transform = `translate(${x} ${y}) scale(${size})`;
  paint.put(layer, key, "path", { d: SHAPES[query].path, transform, fill, class: `document ${kind}` });
  if (size >= 1.2) drawGrade(paint, layer, key, { x, y, grade, dark, kind });
}

export function drawGrade(paint, layer, key, { x, y, grade, dark, kind = "" }) {
  const style = `fill:${kind === "dim" ? "var(--ink)" : inkOn(gradeColour(grade, dark))}`;
  paint.put(layer, `${key} grade`, "text", { x, y, style, class: `grade ${kind}` }, String(grade));
}
