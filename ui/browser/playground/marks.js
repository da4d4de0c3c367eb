// Marks of the plane: documents and landmarks; also the arrow w and the circle of a kernel.

import { shape, write } from "../shell/elements.js";
import { placeOfName } from "./geometry.js";
import { DIAMOND, SHAPES } from "./shapes.js";

const ROOM = 26; // pixels between the centres of a mark and of its label
const BIGGER = 0.12; // growth of a document with each grade

export class Marks {
  constructor(svg) {
    this.svg = svg;
    this.extra = shape("g", { "aria-hidden": "true" });
    this.landmarks = shape("g");
    this.documents = shape("g");
    svg.append(this.extra, this.landmarks, this.documents);
    this.known = new Map();
  }

  // Show one element per item of `list` ({key, kind, title, label, …}), in its order; existing ones keep the focus.
  put(list) {
    const keys = new Set(list.map((one) => one.key));
    for (const [key, element] of this.known) {
      if (!keys.has(key)) {
        if (element.matches(":focus")) this.svg.focus({ preventScroll: true }); // so that keys still work
        element.remove();
        this.known.delete(key);
      }
    }
    for (const one of list) {
      const element = this.known.get(one.key) ?? this.add(one);
      if (isShown(element.shown, one)) continue;
      element.shown = one;
      const [title, mark] = element.children;
      if (one.label) write(element, "aria-label", one.label);
      if (one.title && title.textContent !== one.title) title.textContent = one.title;
      write(mark, "d", one.kind === "landmark" ? DIAMOND : SHAPES[one.query].path);
      write(mark, "fill", one.fill);
      write(mark, "stroke", one.stroke);
      write(element, "class", `mark ${one.kind}${one.chosen ? " chosen" : ""}`);
      write(element, "transform", `translate(${one.x} ${one.y}) scale(${one.size})`);
    }
  }

  add(one) {
    const children = [shape("title"), shape("path")];
    const element = shape("g", { tabindex: "0", role: "button" }, ...children);
    element.dataset.key = one.key;
    this.known.set(one.key, element);
    this[one.kind === "landmark" ? "landmarks" : "documents"].append(element);
    return element;
  }

  focus(key) {
    this.known.get(key)?.focus({ preventScroll: true });
  }

  // Draw the arrow of a linear model from the centre, the circle where the kernel is 0.5, and titles over
  // the waves of the canvas.
  surround({ marks, centre, length, arrow, colour, reach, waves }) {
    this.extra.replaceChildren(...waves.map(({ path, title }) => {
      const wave = shape("path", { d: path, class: "over" }, shape("title"));
      wave.firstChild.textContent = title;
      return wave;
    }));
    if (arrow && Math.hypot(...arrow) > 0) this.extra.append(...arrowOf(marks, centre, length, arrow, colour));
    if (reach) {
      this.extra.append(shape("circle", { cx: reach.x, cy: reach.y, r: reach.r, class: "reach", stroke: colour }));
    }
  }
}

const LOOKS = ["x", "y", "size", "fill", "stroke", "chosen", "query"];
// While a mark is dragged, the others have no new label.
const isShown = (shown, one) => shown && !one.label && LOOKS.every((name) => shown[name] === one[name]);

export const sizeOf = (grade) => 0.9 + BIGGER * grade;

function arrowOf(marks, centre, length, [u, v], colour) {
  const norm = Math.hypot(u, v), [dx, dy] = [(length * u) / norm, (-length * v) / norm];
  const [x, y] = [centre + dx, centre + dy], angle = (180 / Math.PI) * Math.atan2(dy, dx);
  const look = { stroke: colour, fill: colour };
  const turned = `translate(${x + 0.03 * dx} ${y + 0.03 * dy}) rotate(${angle})`;
  const place = placeOfName([dx, dy], marks.map((one) => ({ x: one.x - centre, y: one.y - centre })), ROOM);
  const word = shape("text", { class: "w", x: centre + place.x, y: centre + place.y });
  word.textContent = "w";
  return [
    shape("line", { ...look, x1: centre, y1: centre, x2: x, y2: y, class: "arrow" }),
    shape("path", { ...look, d: "M0 0L-16 7L-16 -7Z", transform: turned }),
    word,
  ];
}
