// Sliders of m, γ and C: every move trains the model; a rested one goes to Python, which keeps it in the address.

import { made } from "../shell/elements.js";

const REST = 300; // milliseconds without a move

export class Sliders {
  // `moved()` trains with the values of all sliders, `rested(name, raw)` tells one to Python
  constructor(moved, rested) {
    Object.assign(this, { moved, rested, known: new Map(), waiting: new Map() });
    this.element = made("div", { class: "sliders", role: "group", "aria-label": "Settings of the model" });
  }

  // Show settings {name, label, help, steps, raw, shown, unread} from Python, but keep a moving slider.
  show(settings, locked) {
    for (const setting of settings) {
      const { input, output } = this.known.get(setting.name) ?? this.add(setting);
      Object.assign(this.known.get(setting.name), { setting });
      input.disabled = locked || Boolean(setting.unread);
      input.title = output.title = setting.help;
      if (this.waiting.has(setting.name)) continue;
      input.value = Math.max(setting.steps.indexOf(setting.raw), 0);
      this.say(setting.name);
    }
  }

  add({ name, label, steps }) {
    const input = made("input", { type: "range", min: 0, max: steps.length - 1, step: 1, "aria-label": label });
    const output = made("span");
    input.addEventListener("input", () => this.move(name));
    this.element.append(made("label", { "data-name": name }, output, input));
    this.known.set(name, { input, output });
    return this.known.get(name);
  }

  move(name) {
    this.say(name);
    this.moved();
    clearTimeout(this.waiting.get(name));
    this.waiting.set(name, setTimeout(() => {
      this.waiting.delete(name);
      this.rested(name, this.raw(name));
    }, REST));
  }

  say(name) {
    const { input, output, setting } = this.known.get(name), text = setting.shown[input.value];
    output.textContent = text;
    input.setAttribute("aria-valuetext", text);
  }

  raw(name) {
    const { input, setting } = this.known.get(name);
    return setting.steps[input.value];
  }
}
