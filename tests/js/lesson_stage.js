// A stage without a browser: elements keep their attributes, canvases draw nothing, movements end at once.

class Element {
  constructor(tag) {
    Object.assign(this, { tag, attributes: {}, children: [], dataset: {}, textContent: "", parent: null });
  }

  get firstChild() { return this.children[0] ?? null; }
  get isConnected() { return true; }
  setAttribute(name, value) {
    this.attributes[name] = String(value);
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = String(value);
  }
  getAttribute(name) { return this.attributes[name] ?? null; }
  removeAttribute(name) { delete this.attributes[name]; }
  append(...added) { for (const one of added) this.children.push(Object.assign(one, { parent: this })); }
  prepend(one) { this.children.unshift(Object.assign(one, { parent: this })); }
  replaceChildren(...all) {
    this.children = [];
    this.append(...all);
  }
  remove() { this.parent.children = this.parent.children.filter((one) => one !== this); }
  focus() { globalThis.focused = this; }
  querySelector() { return null; }
  getBoundingClientRect() { return { left: 0, top: 0, width: 800, height: 550 }; }
  getContext() {
    const pixels = (width, height) => ({ data: new Uint8ClampedArray(4 * width * height) });
    return new Proxy({}, { get: (_, name) => (name === "createImageData" ? pixels : () => {}), set: () => true });
  }

  // All elements below this one.
  get all() { return this.children.flatMap((one) => [one, ...one.all]); }
}

globalThis.document = { createElement: (tag) => new Element(tag), createElementNS: (_, tag) => new Element(tag) };
globalThis.window = { devicePixelRatio: 1, matchMedia: () => ({ matches: true }) };
globalThis.getComputedStyle = () => ({ getPropertyValue: () => "" });
globalThis.cancelAnimationFrame = () => {};

export function stageOf(text, { width = 800, height = 550, dark = false } = {}) {
  const said = [];
  return {
    svg: new Element("svg"), canvas: new Element("canvas"), width, height, words: text.words, dark, said,
    changed: () => {}, say: (words) => said.push(words), point: () => {},
  };
}
