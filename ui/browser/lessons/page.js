// Lessons without a server: a page that has all texts in itself, and its state in the address.

import { show } from "./lesson.js";

const { words, texts } = JSON.parse(document.getElementById("texts").textContent);
const names = Object.keys(texts), place = document.getElementById("lesson"), menu = document.getElementById("lessons");
const dark = window.matchMedia("(prefers-color-scheme: dark)");

// The state in the address: #lesson=pairs&step=3&guess=…
function asked() {
  const found = new window.URLSearchParams(location.hash.slice(1)), lesson = found.get("lesson");
  const step = Math.min(Math.max(Math.trunc(Number(found.get("step"))) || 1, 1), words.steps.length) - 1;
  return { lesson: names.includes(lesson) ? lesson : names[0], step, guess: found.get("guess") ?? "" };
}

function keep({ lesson, step, guess }) {
  const kept = new window.URLSearchParams({ lesson, ...(step && { step: step + 1 }), ...(guess && { guess }) });
  const other = lesson !== asked().lesson;
  history.replaceState(null, "", `#${kept}`);
  if (other) draw();
}

function draw() {
  const state = asked(), following = names[names.indexOf(state.lesson) + 1];
  const next = following ? { lesson: following, title: texts[following].title } : null;
  document.title = texts[state.lesson].title;
  menu.value = state.lesson;
  document.body.classList.toggle("dark", dark.matches);
  show(place, { words, text: texts[state.lesson], dark: dark.matches, state, onState: keep, next });
}

menu.append(...names.map((name, k) => new window.Option(`${k + 1}. ${texts[name].title}`, name)));
menu.hidden = names.length < 2;
menu.addEventListener("change", () => keep({ lesson: menu.value, step: 0, guess: "" }));
window.addEventListener("hashchange", draw);
dark.addEventListener("change", draw);
draw();
