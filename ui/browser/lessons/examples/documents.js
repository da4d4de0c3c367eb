// Shared by the examples of lessons.

// Positions are in hundredths, so that a link to the Playground has the same documents.
export const hundredths = (value) => Math.round(100 * value) / 100;

// Return documents as an address of the Playground has them (ui/learn/playground_scene.py): number, hundredths,
// grade, query.
const inAddress = (x, y, query) => Array.from(y, (grade, i) => (
  [i, Math.round(100 * x[2 * i]), Math.round(100 * x[2 * i + 1]), grade, query(i)].join("."))).join("_");

// Return the Playground with documents and settings.
export const playgroundOf = (x, y, settings, query = () => 0) => (
  `playground?${new URLSearchParams({ peach: 1, docs: inAddress(x, y, query), ...settings })}`);

export const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

// Compute a value when it is first asked for.
export function once(make) {
  let made = null;
  return () => (made ??= make());
}

const DIGITS = "⁰¹²³⁴⁵⁶⁷⁸⁹";
export const powerOf = (exponent) => (
  `2${exponent < 0 ? "⁻" : ""}${[...String(Math.abs(Math.round(exponent)))].map((digit) => DIGITS[digit]).join("")}`);
