// A formula whose symbols light up, made from data. MathML draws it, and screen readers read it.
//
// A formula is a list of parts. A part is a text ("=", "w", "max"), or one of
//   { "term": NAME, "is": parts }                a symbol that lights up
//   { "of": parts, "sub": parts, "sup": parts }  with an index, a power, or both
//   { "over": parts, "under": parts }            a fraction
//   { "sum": parts, "from": parts, "to": parts } a sum
//   { "root": parts }                            a square root
//   { "text": "words" }                          upright words

import { made } from "../shell/elements.js";

const MATH = "http://www.w3.org/1998/Math/MathML";

function math(name, attributes, ...children) {
  const element = document.createElementNS(MATH, name);
  for (const [key, value] of Object.entries(attributes)) element.setAttribute(key, value);
  element.append(...children);
  return element;
}

const row = (parts) => math("mrow", {}, ...[parts].flat().map(drawn));

function drawn(part) {
  if (typeof part === "string") return symbol(part);
  if (part.term) return math("mrow", { class: "term", "data-term": part.term }, ...[part.is].flat().map(drawn));
  if (part.root) return math("msqrt", {}, ...[part.root].flat().map(drawn));
  if (part.over) return math("mfrac", {}, row(part.over), row(part.under));
  if (part.sum) {
    const sign = math("munderover", {}, math("mo", { largeop: "true", movablelimits: "false" }, "∑"), row(part.from),
      row(part.to));
    return math("mrow", {}, sign, row(part.sum));
  }
  if (part.of) {
    if (part.sub && part.sup) return math("msubsup", {}, row(part.of), row(part.sub), row(part.sup));
    return math(part.sub ? "msub" : "msup", {}, row(part.of), row(part.sub ?? part.sup));
  }
  return math("mtext", {}, part.text);
}

function symbol(text) {
  if (/^[\d.]+$/.test(text)) return math("mn", {}, text);
  if (text.endsWith("\u0303")) return math("mover", { accent: "true" }, symbol(text[0]), symbol("\u02dc"));
  if (/^\p{L}+$/u.test(text)) return math("mi", text.length > 1 ? { mathvariant: "normal" } : {}, text);
  return math("mo", { stretchy: "false" }, text);
}

// Return a formula with the list of its terms; told(tag, text, attributes) makes an element with a text.
export function withTerms({ formula, terms }, told) {
  const list = Object.entries(terms).map(([term, means]) => (
    made("li", {}, told("button", means, { type: "button", "data-term": term }))));
  return made("div", { class: "formula" }, math("math", { display: "block" }, row(formula)),
    made("ul", { class: "terms" }, ...list));
}

// Make the letters of a wide formula smaller.
export function fit(box) {
  const whole = box.querySelector("math");
  if (!whole) return;
  whole.style.fontSize = "";
  const share = whole.clientWidth / whole.scrollWidth;
  if (share < 1) whole.style.fontSize = `${parseFloat(getComputedStyle(whole).fontSize) * share * 0.98}px`;
}
