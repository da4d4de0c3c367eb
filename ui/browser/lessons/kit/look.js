// Colours of marks; grades as on every page (rankviz/plots/style.py and ui/shell/figures.py, held equal by a test).

const GRADES = ["#c6dbef", "#6baed6", "#3182bd", "#08519c", "#08306b"];
const GRADES_ON_DARK = ["#2c4a6b", "#3f77a6", "#64a4d4", "#a5cdef", "#e6f2fc"];

export const gradeColour = (grade, dark) => (dark ? GRADES_ON_DARK : GRADES)[grade];

// The colour of a number on a grade.
export function inkOn(colour) {
  const [red, green, blue] = [1, 3, 5].map((at) => parseInt(colour.slice(at, at + 2), 16));
  return 0.299 * red + 0.587 * green + 0.114 * blue > 140 ? "#10201e" : "#ffffff";
}
