// Handle pointers (mouse, pen, finger) and keys in the plane.

import { clamped, grasped } from "./geometry.js";
import { EXTENT } from "./model.js";

const NEAR = { mouse: 12, pen: 16, touch: 26 }; // pixels within which a mark is grasped
const STEP = 0.02, LEAP = 0.1, REST = 300; // step of an arrow key, with Shift; milliseconds until a message to Python
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

export function hands(plane) {
  const { svg } = plane;
  svg.addEventListener("pointerdown", (event) => grasp(plane, event));
  svg.addEventListener("pointermove", (event) => plane.drag?.to(event));
  svg.addEventListener("pointerup", () => plane.drag?.end(true));
  svg.addEventListener("pointercancel", () => plane.drag?.end(false));
  svg.addEventListener("dblclick", (event) => {
    if (!under(plane, event)) plane.add(...inPlane(plane, event));
  });
  // a finger on a mark drags it; elsewhere it scrolls the page
  svg.addEventListener("touchstart", (event) => {
    const [touch] = event.touches;
    if (plane.adding || under(plane, { clientX: touch.clientX, clientY: touch.clientY, pointerType: "touch" })) {
      event.preventDefault();
    }
  }, { passive: false });
  svg.addEventListener("focusin", ({ target }) => {
    if (target.dataset.key) plane.choose(target.dataset.key);
  });
  svg.addEventListener("keydown", (event) => key(plane, event));
  plane.root.addEventListener("keydown", (event) => {
    if (!takesBack(event)) return;
    plane.undo();
    event.preventDefault();
  });
}

function inPlane(plane, { clientX, clientY }, box = plane.svg.getBoundingClientRect()) {
  const { left, top, width } = box, scale = (2 * EXTENT) / width;
  return [(clientX - left) * scale - EXTENT, EXTENT - (clientY - top) * scale];
}

// Return the mark under a pointer.
function under(plane, event) {
  const { left, top } = plane.svg.getBoundingClientRect(), near = NEAR[event.pointerType] ?? NEAR.mouse;
  const [x, y] = [event.clientX - left, event.clientY - top];
  return grasped(plane.graspable(), x, y, near, event.pointerType !== "touch");
}

// Return the next mark at the same place, which a second tap chooses.
function below(plane, { key: own, x, y }) {
  const there = plane.graspable().filter((mark) => Math.hypot(mark.x - x, mark.y - y) < NEAR.mouse / 2);
  return there[(there.findIndex((mark) => mark.key === own) + 1) % there.length];
}

function grasp(plane, event) {
  if (event.button) return;
  const mark = under(plane, event);
  if (!mark) {
    plane.choose(null);
    plane.svg.focus({ preventScroll: true });
    if (plane.adding) plane.add(...inPlane(plane, event));
    event.preventDefault();
    return;
  }
  event.preventDefault();
  plane.svg.setPointerCapture(event.pointerId);
  const again = plane.chosen === mark.key;
  choose(plane, mark);
  plane.drag = new Drag(plane, mark, inPlane(plane, event), again);
}

function choose(plane, mark) {
  plane.choose(mark.key);
  plane.marks.focus(mark.key);
}

// A held mark: it follows the pointer; the drop is sent to Python.
class Drag {
  constructor(plane, mark, [x, y], again) {
    const from = { ...mark.one };
    Object.assign(this, { plane, mark, key: mark.key, from, at: from, moved: false, again });
    this.offset = [mark.one.x - x, mark.one.y - y];
    this.box = plane.svg.getBoundingClientRect(); // to ask at every move would lay out the page each time
  }

  to(event) {
    const [x, y] = inPlane(this.plane, event, this.box), { edge } = this.plane.data;
    this.at = { ...this.at, x: clamped(x + this.offset[0], edge), y: clamped(y + this.offset[1], edge) };
    this.moved ||= this.at.x !== this.from.x || this.at.y !== this.from.y;
    this.keep();
    this.plane.draw();
  }

  // Keep it at the pointer when new data arrive.
  keep() {
    if (this.moved) this.plane.place(this.key, this.at);
  }

  end(dropped) {
    this.plane.drag = null;
    if (!dropped && this.moved) this.plane.update(this.plane.data, this.plane.send); // as Python knows it
    if (dropped && this.moved) told(this.plane, this.key, this.at);
    else if (dropped && this.again) choose(this.plane, below(this.plane, this.mark));
    this.plane.draw();
  }
}

const listed = (plane, mark) => (mark.startsWith("d")
  ? plane.documents.find((one) => `d${one.id}` === mark)
  : plane.landmarks.find((one) => `z${one.number}` === mark));

function told(plane, mark, { x, y }) {
  const one = listed(plane, mark);
  if (!one) return;
  if (mark.startsWith("d")) plane.put({ ...one, x, y });
  else plane.tell({ kind: "landmark", number: one.number, x, y });
}

// Ctrl+Z, or Cmd+Z.
const takesBack = (event) => event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey)
  && !event.shiftKey && !event.altKey;

function key(plane, event) {
  const mark = event.target.dataset.key, one = mark && listed(plane, mark);
  if (event.key === "Escape") plane.player.button.focus();
  if (!one || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key in ARROWS) nudge(plane, mark, one, ARROWS[event.key], event.shiftKey ? LEAP : STEP);
  else if (event.key === "Delete" || event.key === "Backspace") plane.drop();
  else if (/^[0-4]$/.test(event.key)) plane.paint({ grade: Number(event.key) });
  else if (event.key === "q" && mark.startsWith("d")) plane.paint({ query: (one.query + 1) % 4 });
  else return;
  event.preventDefault();
}

// Arrow keys move at once; the message to Python waits until they rest.
function nudge(plane, mark, one, [right, up], by) {
  const { edge } = plane.data;
  const at = { x: clamped(one.x + right * by, edge), y: clamped(one.y + up * by, edge) };
  plane.place(mark, at);
  plane.drag = { keep: () => plane.place(mark, at), to: () => {}, end: () => {} };
  clearTimeout(plane.keys);
  plane.rested = () => {
    clearTimeout(plane.keys);
    plane.drag = plane.rested = null;
    told(plane, mark, at);
    plane.status.textContent = plane.marks.known.get(mark)?.getAttribute("aria-label") ?? "";
  };
  plane.keys = setTimeout(plane.rested, REST);
}
