// Draw marks of an SVG figure from a state, as often as it changes: an element keeps its identity, and its focus,
// as long as each drawing puts it under the same key.
//
//   const paint = new Paint(stage.svg, ["lines", "marks", "labels"]);   // layers, the lowest first
//   paint.draw(() => {
//     paint.put("lines", "axis", "line", { x1: 0, y1: 9, x2: 99, y2: 9, class: "axis" });
//     paint.put("labels", "name", "text", { x: 4, y: 9 }, "w");
//     paint.grip("marks", "w", "circle", { cx: 5, cy: 5, r: 12, "aria-label": "…" }, { drag, nudge, press, value });
//   });
//
// A grip can be dragged, and is reached by Tab: drag(x, y) gets pixels of the figure, at the pointer;
// nudge(right, up) gets −1, 0 or 1 from the arrow keys, 5 times that with Shift; press() is a click, Enter or space;
// enter() is a double click, Enter or space; drop() follows a drag. value is { now, low, high, text } of a slider.
// Of grips with a place `among: [x, y]` Tab reaches one, and arrow keys lead to the others.

import { shape, write } from "../../shell/elements.js";

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const FAR = 5;
const NEAR = 10; // pixels that a finger moves during a click

export class Paint {
  constructor(svg, layers) {
    this.svg = svg;
    this.layers = Object.fromEntries(layers.map((name) => [name, shape("g", { class: `layer-${name}` })]));
    svg.replaceChildren(...Object.values(this.layers));
    this.known = new Map();
    this.grips = new Map();
    this.current = null; // the one of many that Tab reaches
    svg.onfocusin = (event) => this.focused(event.target.dataset?.grip);
    svg.onpointerdown = (event) => this.down(event);
    svg.onpointermove = (event) => this.held?.drag?.(...this.at(event));
    // also where the browser does not heed touch-action, and would go back a page
    svg.ontouchmove = (event) => { if (this.held?.drag) event.preventDefault(); };
    svg.onpointerup = (event) => this.up(event);
    svg.onpointercancel = () => this.up(null); // the finger scrolls the page
    svg.ondblclick = () => this.grips.get(this.pressed)?.enter?.(); // its target is the figure, which has the pointer
    svg.onkeydown = (event) => this.key(event);
  }

  draw(all) {
    this.seen = new Set();
    this.grips.clear();
    all();
    this.oneOfMany();
    for (const [key, element] of this.known) {
      if (this.seen.has(key)) continue;
      element.remove();
      this.known.delete(key);
    }
  }

  put(layer, key, tag, attributes = {}, text = null) {
    const id = `${layer} ${key}`;
    let element = this.known.get(id);
    if (!element) {
      element = shape(tag);
      this.known.set(id, element);
      this.layers[layer].append(element);
    }
    this.seen.add(id);
    for (const [name, value] of Object.entries(attributes)) write(element, name, value);
    if (text !== null && element.textContent !== text) element.textContent = text;
    return element;
  }

  grip(layer, key, tag, attributes, does, text = null) {
    const { value } = does, slider = value && {
      role: "slider", "aria-valuenow": value.now, "aria-valuemin": value.low, "aria-valuemax": value.high,
      "aria-valuetext": value.text,
    };
    const name = `grip${does.drag ? " drags" : ""} ${attributes.class ?? ""}`;
    const element = this.put(layer, key, tag,
      { role: "button", tabindex: 0, ...slider, ...attributes, class: name, "data-grip": key }, text);
    this.grips.set(key, { ...does, element });
    return element;
  }

  many() {
    return [...this.grips].filter(([, { among }]) => among);
  }

  oneOfMany() {
    const keys = this.many().map(([key]) => key), one = keys.includes(this.current) ? this.current : keys[0];
    for (const key of keys) write(this.grips.get(key).element, "tabindex", key === one ? 0 : -1);
  }

  focused(key) {
    if (!this.grips.get(key)?.among) return;
    this.current = key;
    this.oneOfMany();
  }

  // Return the nearest of many in a direction, rather straight on than aside; undefined without one.
  beside(from, [right, up]) {
    const [x, y] = this.grips.get(from).among, [h, v] = [Math.sign(right), -Math.sign(up)];
    const found = this.many().map(([key, { among: [a, b] }]) => {
      const along = h * (a - x) + v * (b - y), aside = Math.abs(v * (a - x)) + Math.abs(h * (b - y));
      return { key, along, far: along + 2 * aside };
    }).filter(({ along, key }) => along > 0 && key !== from);
    return found.sort((one, other) => one.far - other.far)[0]?.key;
  }

  // Cut a layer to a box of the figure.
  clip(layer, { x, y, width, height }) {
    if (!this.box) {
      this.box = shape("rect");
      this.svg.prepend(shape("clipPath", { id: "figure-box" }, this.box));
    }
    for (const [name, value] of Object.entries({ x, y, width, height })) this.box.setAttribute(name, value);
    this.layers[layer].setAttribute("clip-path", "url(#figure-box)");
  }

  focus(key) {
    this.grips.get(key)?.element.focus({ preventScroll: true });
  }

  at(event) {
    const box = this.svg.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  }

  // Take the pointer until it is lifted, also beyond the figure.
  down(event) {
    const element = event.target.closest("[data-grip]"), grip = element && this.grips.get(element.dataset.grip);
    if (event.button === 0) this.pressed = element?.dataset.grip;
    if (!grip || event.button > 0) return;
    this.svg.setPointerCapture(event.pointerId);
    this.focus(grip.focus ?? element.dataset.grip); // of a slider's track its knob, which takes keys
    this.held = grip;
    this.began = this.at(event);
    grip.drag?.(...this.began);
    event.preventDefault();
  }

  up(event) {
    const [x, y] = event ? this.at(event) : [Infinity, 0];
    if (this.held && Math.hypot(x - this.began[0], y - this.began[1]) < NEAR) this.held.press?.();
    this.held?.drop?.();
    this.held = null;
  }

  key(event) {
    const grip = this.grips.get(event.target.dataset?.grip);
    if (!grip || event.ctrlKey || event.metaKey || event.altKey) return;
    if (grip.ends?.[event.key]) grip.ends[event.key]();
    else if (event.key in ARROWS && grip.nudge) {
      const by = event.shiftKey ? FAR : 1;
      grip.nudge(...ARROWS[event.key].map((one) => one * by));
    } else if (event.key in ARROWS && grip.among) {
      this.focus(this.beside(event.target.dataset.grip, ARROWS[event.key]));
    } else if ((event.key === "Enter" || event.key === " ") && (grip.enter ?? grip.press)) (grip.enter ?? grip.press)();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }
}

// Attributes of a mark that belongs to a term of the formula.
export const ofTerm = (name) => ({ "data-term": name });
