// Numbers and templates in texts. Texts of lessons are data, so they are only ever shown as text.

export const number = (value, digits = 2) => value.toFixed(digits).replace(/^-(0(\.0*)?)$/, "$1").replace("-", "−");

const CHAIN = /(?<!\S)\S{1,7}(?: [×·=≈+−/] \S{1,7})+(?!\S)/g, LONGEST = 26; // letters of a formula in one line

// Fill names in braces: "{wrong} of {all}". No line ends within "59 %", "3 × 3", "1/√m", "C = 1" or a short formula.
export const filled = (text, facts) => text.replace(/\{(\w+)\}/g, (whole, name) => facts[name] ?? whole)
  .replace(CHAIN, (whole) => (whole.length > LONGEST ? whole : whole.replaceAll(" ", "\u00a0")))
  .replaceAll("/√", "/\u2060√").replace(/(\d) %/g, "$1\u00a0%").replace(/(\d) ([×/]) (\d)/g, "$1\u00a0$2\u00a0$3")
  .replace(/(^|[\s(])(\p{L}) = (?=\S)/gu, "$1$2\u00a0=\u00a0");

// Facts of any kind as texts.
export const texts = (found) => Object.fromEntries(Object.entries(found).map(([name, value]) => [name, String(value)]));

// A prediction is a list of numbers; in an address they are joined: "1_0_-0.5".
export const SHOWN = "shown"; // the reader has asked for the answer instead

export function asText(guess) {
  return Array.isArray(guess) ? guess.map((one) => Number(one.toFixed(3))).join("_") : guess ?? "";
}

export function asGuess(text) {
  if (!text || text === SHOWN) return text || null;
  const found = text.split("_").map(Number);
  return found.every(Number.isFinite) ? found : null;
}
