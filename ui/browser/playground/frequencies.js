// Frequencies ω of the random Fourier map as points to drag, in units of √(2γ); larger points have larger weights.

import { made, shape, write } from "../shell/elements.js";
import { nearest } from "./geometry.js";

const SIZE = 100, NEAR = 12, STEP = 0.05; // of the picture; a pointer's reach; a step of an arrow key
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
const hundredths = (v, far) => Math.round(100 * Math.min(Math.max(v, -far), far)) / 100;

export class Frequencies {
  // `moved(one)` trains with a moved frequency, `dropped(one)` tells it to Python
  constructor(far, moved, dropped) {
    Object.assign(this, { far, moved, dropped, list: [], held: null });
    const view = `${-SIZE} ${-SIZE} ${2 * SIZE} ${2 * SIZE}`;
    this.svg = shape("svg", { viewBox: view, role: "group", "aria-label": "Frequencies", class: "omega" },
      shape("path", { d: `M${-SIZE} 0H${SIZE}M0 ${-SIZE}V${SIZE}`, class: "axes" }));
    this.caption = made("figcaption");
    this.element = made("figure", {}, this.svg, this.caption);
    this.points = [];
    this.svg.addEventListener("pointerdown", (event) => this.grasp(event));
    this.svg.addEventListener("pointermove", (event) => this.held && this.to(this.held, ...this.at(event)));
    this.svg.addEventListener("pointerup", () => this.drop());
    this.svg.addEventListener("pointercancel", () => this.drop());
    // a finger on a point drags it; elsewhere it scrolls the page
    this.svg.addEventListener("touchstart", (event) => {
      if (this.under(event.touches[0], "touch")) event.preventDefault();
    }, { passive: false });
    this.svg.addEventListener("keydown", (event) => this.key(event));
  }

  // Show frequencies {number, x, y} with their weights, and with names if these are given.
  show(list, weights, colour, caption, names) {
    this.list = list;
    if (this.caption.textContent !== caption) this.caption.textContent = caption;
    const largest = Math.max(...weights.map(Math.abs)) || 1, scale = SIZE / this.far;
    while (this.points.length > list.length) this.points.pop().remove();
    list.forEach((one, k) => {
      const point = this.points[k] ?? this.add(k), radius = 2.5 + 5.5 * Math.abs(weights[k]) / largest;
      write(point, "transform", `translate(${scale * one.x} ${-scale * one.y})`);
      write(point.firstChild, "r", radius.toFixed(1));
      write(point.firstChild, "fill", colour);
      if (names) write(point, "aria-label", names(one, weights[k]));
    });
  }

  add(k) {
    const point = shape("g", { class: "frequency", tabindex: "0", role: "button" }, shape("circle"));
    point.dataset.number = k;
    this.svg.append(point);
    this.points.push(point);
    return point;
  }

  at({ clientX, clientY }) {
    const { left, top, width } = this.svg.getBoundingClientRect(), scale = (2 * this.far) / width;
    return [(clientX - left) * scale - this.far, this.far - (clientY - top) * scale];
  }

  // Return the frequency under a pointer.
  under(event, type) {
    const [x, y] = this.at(event), reach = (NEAR * 2 * this.far) / this.svg.clientWidth;
    return nearest(this.list, x, y, type === "touch" ? 2 * reach : reach);
  }

  grasp(event) {
    if (event.button) return;
    this.held = this.under(event, event.pointerType);
    if (!this.held) return;
    this.svg.setPointerCapture(event.pointerId);
    this.points[this.held.number].focus({ preventScroll: true });
    event.preventDefault();
  }

  to(one, x, y) {
    Object.assign(one, { x: hundredths(x, this.far), y: hundredths(y, this.far) });
    this.current = one; // until it is told
    this.moved(one);
  }

  drop() {
    const one = this.current;
    this.held = this.current = null;
    if (one) this.dropped(one);
  }

  key(event) {
    const one = this.list[event.target.dataset.number], way = ARROWS[event.key];
    if (!one || !way) return;
    const by = event.shiftKey ? 5 * STEP : STEP;
    this.to(one, one.x + way[0] * by, one.y + way[1] * by);
    clearTimeout(this.resting);
    this.resting = setTimeout(() => this.drop(), 300);
    event.preventDefault();
  }
}
