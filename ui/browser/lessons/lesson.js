// The frame of a lesson: five steps, the stepper, and the text beside a figure that a scene draws.
//
// `show(parent, { words, text, dark, state, onState, app, next })` shows a lesson, and changes it when it is called
// again. It needs no Streamlit, so a file on a disk can call it.
//   words    texts/frame.json: words of the frame, and of the end; also the order of the lessons
//   text     texts/NAME.json: all words of the lesson. text.scene names its scene in scenes.js
//   dark     true on a dark page; left out, the colour of the page tells
//   state    { lesson, step: 0 … 4, guess }; guess is "", "shown" (the reader asked for the answer), or the
//            numbers of the prediction ("1_0_-0.5")
//   onState  called with such a state when it changes, and with the gap in words; the address has the state
//   app      address of the app before the links to its pages, such as ""; without it there are no links
//   next     { lesson, title } of the next lesson, or null
//
// A SCENE draws the figure of a lesson. scenes.js names the function that makes it: make(stage) => scene.
//   stage = {
//     svg, canvas     cover the figure; coordinates are pixels. Scenes with few marks use the svg (kit/paint.js)
//     width, height   its size in pixels, at any time
//     words           text.words
//     dark            true on a dark page
//     changed()       call it after the prediction, or anything that `facts` reads, has changed
//     say(text)       announce a text
//   }
//   scene = {
//     show(step, guess, fresh)  draw step 0 … 4. guess: numbers, "shown", or null before the reader has committed.
//                     fresh: the reader has just come forward, so movement is welcome (kit/motion.js)
//     draw()          draw the present state again: size or colours have changed
//     guess()         the prediction as a list of numbers; null until it is complete
//     fits(guess)     true if these numbers, from an address, can be a prediction
//     facts()         texts for the names in braces of the lesson's texts: { gap: "3", … }
//     light(term)     light up the part of the figure that belongs to a term of the formula, or none (null). Marks
//                     with an attribute data-term light up that term when the reader points at them
//     link()          address of the page with the same state, such as "playground?m=5"; "" without one
//     stop()          end movements
//   }
// Steps: 0 question, 1 the reader predicts, 2 reveal with the gap, 3 formula, 4 free play.
//
// texts/NAME.json = { scene, title, about, steps: five of { head, text, … }, formula, terms, words }
//   step.head, step.text (paragraphs)    step.shown: paragraphs instead of text if the reader asked for the answer
//   step.gap = { value, label, axis, ends }   the reader's gap as a large number (step 2); axis names it for a class,
//                                        ends are the smallest and the largest that a prediction can have
//   step.help, step.keys                 how to act by pointer, by keys     step.page: words of the link (step 4)
//   step.ask, step.answer                the open question, and its answer in a fold (step 4)
//   formula = parts (formula.js)         terms = { NAME: meaning }, in the order of the list below the formula
//
// To add a lesson: texts/NAME.json, scenes/NAME.js, its line in scenes.js, and its place in texts/frame.json. Put the
// mathematics into examples/NAME.js, without DOM, on ui/browser/core, and test it in tests/js/lessons.test.js.
// kit/paint.js has marks and grips (dragged, and moved by keys), kit/sketch.js a curve that the reader draws,
// kit/parts.js charts with bands and logarithms, sliders, buttons, heat maps and surfaces, kit/scene.js what all scenes
// share, kit/motion.js movements, kit/look.js documents with grades, kit/map.js lines of equal height, kit/verdict.js
// marks of what was found or missed, kit/tables.js tables and their sizes. lesson.css has the looks of marks.

import { made, shape } from "../shell/elements.js";
import { fit, withTerms } from "./formula.js";
import { isDark } from "./kit/look.js";
import { FORMULA, FREE, GUESS, QUESTION, REVEAL } from "./kit/scene.js";
import { SHOWN, asGuess, asText, filled } from "./kit/words.js";
import { SCENES } from "./scenes.js";

const STEPS = 5, NEAREST = { block: "nearest" };
const frames = new WeakMap();

export default function lesson({ data, parentElement, setTriggerValue }) {
  return show(parentElement, { ...data, onState: (state) => setTriggerValue("moved", state) });
}

export function show(parent, options) {
  if (!frames.has(parent)) frames.set(parent, new Lesson(parent));
  const frame = frames.get(parent);
  frame.update(options);
  return () => frame.close();
}

// The step that is shown: the reveal needs a prediction, or that the reader asked for the answer.
export const allowed = (step, guess) => Math.min(Math.max(Math.trunc(step) || 0, 0), guess === null ? GUESS : FREE);

class Lesson {
  constructor(parent) {
    this.svg = shape("svg", { class: "marks" });
    this.canvas = made("canvas", { class: "many", "aria-hidden": "true" });
    this.figure = made("div", { class: "figure", role: "figure" }, this.canvas, this.svg);
    this.head = made("h2", {});
    this.dots = made("ol", { class: "steps" });
    this.side = made("div", { class: "text" });
    this.back = made("button", { type: "button", class: "quiet", onclick: this.backward });
    this.answer = made("button", { type: "button", class: "quiet", onclick: () => this.commit(SHOWN) });
    this.on = made("button", { type: "button", class: "main", onclick: () => this.forward() });
    this.status = made("p", { class: "status", role: "status" });
    const ways = made("div", { class: "ways" }, this.back, this.answer, this.on);
    this.root = made("section", { class: "lesson" }, made("div", { class: "top" }, this.dots, this.head), this.figure,
      made("div", { class: "side" }, this.side, ways), this.status);
    this.root.onkeydown = (event) => this.key(event);
    this.linkTerms(this.figure);
    parent.append(made("div", { class: "lesson-place" }, this.root));
    this.seen = new ResizeObserver(() => this.resized());
  }

  // --- what it is told ------------------------------------------------------------------------------------

  update({ onState, words, text, state, app, next, dark = isDark(this.root) }) {
    const same = this.text && JSON.stringify(this.text) === JSON.stringify(text);
    Object.assign(this, { onState, words, app, next, text });
    this.root.classList.toggle("dark", dark);
    if (!same) this.begin(text, dark, state);
    else if (dark !== this.stage.dark) {
      this.stage.dark = dark;
      this.scene.draw();
    }
    this.seen.observe(this.figure);
  }

  begin(text, dark, state) {
    this.scene?.stop();
    this.status.textContent = "";
    this.svg.replaceChildren();
    this.canvas.width = 0; // else the picture of the lesson before stays, as some scenes draw none
    const { clientWidth: width, clientHeight: height } = this.figure;
    this.stage = {
      svg: this.svg, canvas: this.canvas, words: text.words, dark, width, height,
      changed: () => this.facts(), say: (what) => { this.status.textContent = what; },
    };
    this.scene = SCENES[text.scene](this.stage);
    this.figure.setAttribute("aria-label", text.words.figure);
    const guess = asGuess(state.guess);
    this.guess = guess === null || guess === SHOWN || this.scene.fits(guess) ? guess : null;
    const step = allowed(state.step, this.guess);
    this.draw(step, step === QUESTION);
  }

  // Components are told to close before each change, so only what is gone ends.
  close() {
    this.seen.disconnect();
    if (!this.root.isConnected) this.scene?.stop();
  }

  resized() {
    const { clientWidth: width, clientHeight: height } = this.figure;
    if (!this.root.isConnected || (width === this.stage.width && height === this.stage.height)) return;
    Object.assign(this.stage, { width, height });
    this.scene.draw();
    fit(this.side);
  }

  // --- from step to step ----------------------------------------------------------------------------------

  go(step) {
    if (step < 0 || step >= STEPS) return;
    if (step > allowed(step, this.guess)) {
      this.stage.say(this.words.first);
      return;
    }
    const fresh = step > this.step, focused = this.root.getRootNode().activeElement;
    this.draw(step, fresh);
    if (focused?.hidden) this.on.focus({ preventScroll: true });
    this.stage.say(`${filled(this.words.step, { step: step + 1, of: STEPS })} ${this.head.textContent}`);
    this.tell();
  }

  forward() {
    if (this.step === GUESS) this.commit(this.scene.guess());
    else if (this.step < FREE) this.go(this.step + 1);
    else if (this.next) this.onState({ lesson: this.next.lesson, step: 0, guess: "" });
    else this.finish();
  }

  backward = () => this.go(this.ended ? this.step : this.step - 1);

  // What was learned, after the last lesson; the figure stays.
  finish() {
    this.ended = true;
    this.makeText();
    this.facts();
    this.back.focus({ preventScroll: true });
    this.head.scrollIntoView(NEAREST);
    this.stage.say(this.head.textContent);
  }

  commit(guess) {
    if (guess === null) this.stage.say(this.words.first);
    else {
      this.guess = guess;
      this.go(REVEAL);
    }
  }

  tell() {
    this.onState({ lesson: this.text.scene, step: this.step, guess: asText(this.guess), gap: this.gap() });
  }

  // The reader's gap in words, once there is a prediction.
  gap() {
    const { gap } = this.text.steps[REVEAL];
    return gap && Array.isArray(this.guess) ? filled(gap.value, this.scene.facts()) : "";
  }

  // Arrows and the keys of a presenter, unless something in the figure takes them.
  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) return;
    const by = { ArrowRight: 1, PageDown: 1, ArrowLeft: -1, PageUp: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    event.stopPropagation();
    if (by < 0) this.backward();
    else this.go(this.step + 1);
  }

  // --- drawing --------------------------------------------------------------------------------------------
  draw(step, fresh) {
    this.step = step;
    this.lit = null;
    this.ended = false;
    Object.assign(this.root.dataset, { step, lesson: this.text.scene });
    this.scene.show(step, this.guess, fresh);
    this.makeDots();
    this.makeText();
    this.facts();
    const menu = parseFloat(getComputedStyle(this.root).scrollMarginTop) || 0; // which lies on the page
    if (this.root.getBoundingClientRect().top < menu) this.root.scrollIntoView(); // the last text was read to its end
  }

  makeDots() {
    if (this.dots.children.length === 0) {
      this.dots.append(...this.words.steps.map((name, k) => made("li", {}, made("button",
        { type: "button", onclick: () => this.go(k) }, made("span", {}, String(k + 1)), made("b", {}, name)))));
    }
    [...this.dots.children].forEach((item, k) => {
      item.classList.toggle("here", k === this.step);
      item.firstChild.ariaCurrent = k === this.step ? "step" : "false";
      item.firstChild.ariaDisabled = String(k !== allowed(k, this.guess));
    });
  }

  // The texts of a step as elements, whose templates `facts` fills.
  makeText() {
    const step = this.ended ? this.words.end : this.text.steps[this.step], shown = this.guess === SHOWN && step.shown;
    this.templates = [[this.head, (shown && step.shownHead) || step.head]];
    const told = (tag, text, attributes = {}) => {
      const element = made(tag, attributes);
      this.templates.push([element, text]);
      return element;
    };
    const parts = (shown || step.text).map((text) => told("p", text));
    if (step.gap && this.guess !== SHOWN) {
      parts.unshift(made("p", { class: "gap" }, told("strong", step.gap.value), told("span", step.gap.label)));
    }
    if (this.step === FORMULA) parts.push(this.formula(told));
    if (step.ask) parts.push(told("p", step.ask, { class: "ask" }));
    const seen = { ontoggle: ({ target }) => [this.side, target].map((one) => one.lastChild.scrollIntoView(NEAREST)) };
    if (step.answer) parts.push(made("details", seen, made("summary", {}, this.words.reply), told("p", step.answer)));
    for (const kind of ["help", "keys"]) if (step[kind]) parts.push(told("p", step[kind], { class: `help ${kind}` }));
    this.link = null;
    if (step.page && this.scene.link() && this.app !== undefined) {
      this.link = told("a", step.page, { class: "page" });
      parts.push(made("p", {}, this.link));
    }
    const linked = ({ page, text }) => (this.app === undefined ? text : made("a", { href: this.app + page }, text));
    if (step.pages) parts.push(made("ul", {}, ...step.pages.map((one) => made("li", {}, linked(one)))));
    this.side.replaceChildren(...parts);
    fit(this.side);
  }

  formula(told) {
    const box = withTerms(this.text, told);
    this.linkTerms(box);
    return box;
  }

  // Pointing at what has a data-term, or focusing it, lights it up in formula, list and figure.
  linkTerms(box) {
    const light = (event) => {
      if (this.step === FORMULA) this.light(event.target.closest("[data-term]")?.dataset.term ?? null);
    };
    for (const name of ["pointerover", "pointerdown", "focusin"]) box.addEventListener(name, light);
    for (const name of ["pointerleave", "focusout"]) box.addEventListener(name, () => this.light(null));
  }

  // Light up a term in the formula, in its list and in the figure.
  light(term) {
    if (term === this.lit) return;
    this.lit = term;
    for (const one of this.side.querySelectorAll("[data-term]")) one.classList.toggle("lit", one.dataset.term === term);
    this.scene.light(term);
  }

  facts() {
    const facts = this.scene.facts(), { words, step } = this, ready = step !== GUESS || this.scene.guess() !== null;
    for (const [element, text] of this.templates ?? []) write(element, filled(text, facts));
    if (this.link) this.link.href = this.app + this.scene.link();
    for (const name of ["back", "answer"]) write(this[name], words[name]);
    const last = this.text.scene === words.lessons.at(-1), onward = last ? words.finish : words.onward;
    write(this.on, step === GUESS ? words.commit : step < FREE ? words.next : filled(onward, this.next ?? {}));
    this.back.hidden = step === QUESTION;
    this.answer.hidden = step !== GUESS;
    this.on.hidden = step === FREE && !this.next && (!last || this.ended);
    this.on.setAttribute("aria-disabled", String(!ready));
  }
}

function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}
