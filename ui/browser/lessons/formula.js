// A formula whose symbols light up, made from data. MathML draws it, and screen readers read it.
//
// A formula is a list of parts. A part is a text ("=", "w", "max"), or one of
//   { "term": NAME, "is": parts }                a symbol that lights up
//   { "of": parts, "sub": parts, "sup": parts }  with an index, a power, or both
//   { "over": parts, "under": parts }            a fraction
//   { "sum": parts, "from": parts, "to": parts } a sum
//   { "text": "words" }                          upright words

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
  if (/^\p{L}+$/u.test(text)) return math("mi", text.length > 1 ? { mathvariant: "normal" } : {}, text);
  return math("mo", { stretchy: "false" }, text);
}

export const formula = (parts) => math("math", { display: "block" }, row(parts));
