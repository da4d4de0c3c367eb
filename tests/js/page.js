// As much of a page as the scenes of lessons need, for tests without a browser.

class Element {
  constructor(name) {
    Object.assign(this, { name, attributes: new Map(), children: [], textContent: "", style: {}, dataset: {} });
    this.classList = { toggle: () => {} };
  }

  setAttribute(name, value) {
    this.attributes.set(name, String(value));
  }

  getAttribute(name) {
    return this.attributes.get(name) ?? null;
  }

  removeAttribute(name) {
    this.attributes.delete(name);
  }

  append(...children) {
    this.children.push(...children);
    for (const child of children) child.parent = this;
  }

  prepend(...children) {
    this.children.unshift(...children);
  }

  replaceChildren(...children) {
    this.children = [];
    this.append(...children);
  }

  remove() {
    this.parent.children = this.parent.children.filter((one) => one !== this);
  }

  querySelector() {
    return null;
  }

  addEventListener() {}

  // A canvas on which anything can be drawn.
  getContext() {
    return new Proxy({}, { get: (_, name) => (name === "createImageData" ? imageData : () => {}), set: () => true });
  }

  // All elements below this one.
  all() {
    return this.children.flatMap((one) => (one instanceof Element ? [one, ...one.all()] : []));
  }
}

const imageData = (width, height) => ({ width, height, data: new Uint8ClampedArray(4 * width * height) });

export function openPage() {
  globalThis.document = { createElement: (name) => new Element(name), createElementNS: (_, name) => new Element(name) };
  globalThis.window = { matchMedia: () => ({ matches: true }), devicePixelRatio: 1 };
  globalThis.cancelAnimationFrame = () => {};
  globalThis.getComputedStyle = () => ({ getPropertyValue: () => "#000000", color: "rgb(0, 0, 0)" });
  globalThis.ImageData = class {
    constructor(data, width, height) {
      Object.assign(this, { data, width, height });
    }
  };
}

// A stage for a scene, as lesson.js makes it.
export function stage(words, width, height) {
  const svg = new Element("svg"), canvas = new Element("canvas"), told = [];
  return { svg, canvas, width, height, words, dark: false, changed: () => {}, say: (text) => told.push(text), told };
}
