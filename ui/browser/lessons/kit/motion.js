// Movements in a figure, which a visitor may have switched off.

export const isStill = () => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

const eased = (share) => share * share * (3 - 2 * share);

// Plays one movement at a time: frame(share) is called with 0 … 1, then done(). Without motion, only the end.
export class Motion {
  play(seconds, frame, done = () => {}) {
    this.stop();
    if (isStill() || seconds === 0) {
      frame(1);
      done();
      return;
    }
    const began = performance.now();
    const next = (now) => {
      const share = Math.min(Math.max(now - began, 0) / (1000 * seconds), 1);
      this.due = share < 1 ? requestAnimationFrame(next) : null;
      frame(eased(share));
      if (share === 1) done();
    };
    this.due = requestAnimationFrame(next);
  }

  stop() {
    cancelAnimationFrame(this.due);
    this.due = null;
  }
}

export const mix = (from, to, share) => from + (to - from) * share;
