// Play training from zero, or step through it.

import { made } from "../shell/elements.js";

const SECONDS = 0.7; // of a step

export class Player {
  constructor(show) {
    this.show = show; // draws a step, which may lie between two
    this.last = this.at = 0;
    this.playing = null;
    const toggle = () => (this.playing ? this.pause() : this.play());
    this.button = made("button", { type: "button", onclick: toggle }, "Play");
    this.slider = made("input", { type: "range", min: 0, step: 1, "aria-label": "Newton step",
      oninput: () => this.go(Number(this.slider.value)) });
    const step = (by) => () => this.go(Math.min(Math.max(Math.round(this.at) + by, 0), this.last));
    this.words = made("output", { "aria-live": "off" });
    this.element = made("div", { class: "player" },
      made("button", { type: "button", onclick: step(-1), "aria-label": "One step back" }, "‹"),
      this.button,
      made("button", { type: "button", onclick: step(1), "aria-label": "One step on" }, "›"),
      this.slider, this.words);
  }

  // Show another model at the end of its training.
  load(steps) {
    this.pause();
    this.last = steps - 1;
    this.slider.max = this.last;
    this.element.hidden = this.last < 1;
    this.at = this.slider.value = this.last;
  }

  // Show the end of training, while it changes. To write even the same text would lay out the page at every frame.
  end() {
    if (!this.playing && this.at === this.last) return;
    this.pause();
    this.at = this.slider.value = this.last;
  }

  go(step) {
    this.pause();
    this.to(step);
  }

  to(step) {
    this.at = step;
    this.slider.value = Math.round(step);
    this.show(step);
  }

  play() {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    const from = this.at >= this.last ? 0 : this.at, began = performance.now();
    this.button.textContent = "Pause";
    const frame = (now) => {
      const step = Math.min(from + Math.max(now - began, 0) / (1000 * SECONDS), this.last);
      this.to(still ? Math.floor(step) : step);
      if (step < this.last) this.playing = requestAnimationFrame(frame);
      else this.pause();
    };
    this.playing = requestAnimationFrame(frame);
  }

  pause() {
    cancelAnimationFrame(this.playing);
    this.playing = null;
    this.button.textContent = "Play";
  }
}
