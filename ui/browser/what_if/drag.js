// Drag a row of the list by mouse, pen or finger: one captured pointer; the list scrolls near its ends.

import { placeAfter, scrollSpeed } from "./order.js";

const THRESHOLD = 4; // pixels; a shorter move is a click

export class Drag {
  constructor(list) {
    this.list = list;
    list.rows.addEventListener("pointerdown", (event) => this.down(event));
    list.rows.addEventListener("pointermove", (event) => this.move(event));
    list.rows.addEventListener("pointerup", (event) => this.up(event));
    list.rows.addEventListener("pointercancel", (event) => this.lost(event));
    list.root.addEventListener("keydown", (event) => event.key === "Escape" && this.pointer && this.lost(this));
  }

  down(event) {
    const grip = event.target.closest(".grip");
    if (!grip || event.button !== 0 || this.pointer) return;
    if (this.list.held) this.list.cancel();
    this.pointerId = event.pointerId;
    this.pointer = { key: this.list.keyOf(grip), grip, start: event.clientY, y: event.clientY };
    this.pointer.scroll = this.list.view.scrollTop;
    grip.setPointerCapture(event.pointerId);
  }

  move(event) {
    if (!this.pointer || event.pointerId !== this.pointerId) return;
    this.pointer.y = event.clientY;
    if (!this.pointer.held && Math.abs(event.clientY - this.pointer.start) >= THRESHOLD) this.begin();
  }

  begin() {
    this.pointer.held = true;
    this.list.hold(this.pointer.key, "pointer");
    this.frame = requestAnimationFrame(() => this.draw());
  }

  /** Once a frame: scroll, put the row below the pointer, and let the others give way. */
  draw() {
    const { list, pointer } = this;
    if (!pointer?.held || list.held?.key !== pointer.key) return this.end();
    const { top, bottom } = list.view.getBoundingClientRect();
    list.view.scrollTop += scrollSpeed(pointer.y, Math.max(top, 0), Math.min(bottom, window.innerHeight));
    const pixels = pointer.y - pointer.start + list.view.scrollTop - pointer.scroll;
    const { from } = list.held;
    list.put(list.row(pointer.key), from + pixels / list.pitch);
    list.moveTo(placeAfter(from, pixels, list.pitch, list.keys.length));
    this.frame = requestAnimationFrame(() => this.draw());
  }

  up(event) {
    if (!this.pointer || event.pointerId !== this.pointerId) return;
    const held = this.pointer.held && this.list.held;
    if (held) this.draw(); // the pointer's present position, not that of the last frame
    this.end();
    if (held) this.list.drop();
  }

  lost({ pointerId }) {
    if (pointerId !== this.pointerId) return;
    const held = this.pointer?.held && this.list.held;
    this.end();
    if (held) this.list.cancel();
  }

  end() {
    cancelAnimationFrame(this.frame);
    this.pointer = null;
  }
}
