// Create elements of the page; text is never parsed as HTML.

const SVG = "http://www.w3.org/2000/svg";

export function made(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

export function shape(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

// Write an attribute if it changes; null, false or undefined removes it. Reading the page is slow, so what was written
// is remembered.
export function write(element, name, value) {
  const known = (element.written ??= {});
  if (known[name] === value) return;
  known[name] = value;
  if (value === null || value === false || value === undefined) element.removeAttribute(name);
  else element.setAttribute(name, value);
}

function filled(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element[name] = value;
    else if (value !== null && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}
