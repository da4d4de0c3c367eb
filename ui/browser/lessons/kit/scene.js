// What the scenes of all lessons share: marks, movements, and what lights up. lesson.js says what a scene is.

import { Motion } from "./motion.js";
import { Paint } from "./paint.js";
import { filled } from "./words.js";

export const [QUESTION, GUESS, REVEAL, FORMULA, FREE] = [0, 1, 2, 3, 4]; // steps

export class Scene {
  constructor(stage, layers) {
    Object.assign(this, { stage, paint: new Paint(stage.svg, layers), motion: new Motion(), lit: null });
  }

  // Begin a step without movement: `more` is what the scene remembers of it.
  begin(step, told, more = {}) {
    this.stop();
    Object.assign(this, { step, told, lit: null, ...more });
  }

  light(term) {
    this.lit = term;
    this.draw();
  }

  glow(term) {
    return this.lit === term ? " lit" : "";
  }

  stop() {
    this.motion.stop();
  }

  // Draw what has changed, and have the frame write its texts.
  refresh() {
    this.draw();
    this.stage.changed();
  }

  announce(words = this.stage.words.now) {
    this.stage.say(filled(words, this.facts()));
  }
}
