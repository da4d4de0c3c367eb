// Lessons on a page of their own, without a server: a menu, and the state in the location's hash.
//
// start(parent, { frame, pairs, … }, { app }) shows the lessons whose texts it gets, in the order of `frame`. `app` is
// the address of the app, for links to its pages; without it there are none. A page needs lesson.css and alone.css.

import { made } from "../shell/elements.js";
import { filled } from "./kit/words.js";
import { show } from "./lesson.js";

// "#lesson=ndcg&step=3&guess=0.5_0.6" and the state that it means; steps count from 1 there.
export function fromHash(hash, order) {
  const found = new URLSearchParams(hash.replace(/^#/, "")), lesson = found.get("lesson");
  if (!order.includes(lesson)) return { lesson: order[0], step: 0, guess: "" };
  return { lesson, step: Number(found.get("step") ?? 1) - 1, guess: found.get("guess") ?? "" };
}

export const toHash = ({ lesson, step, guess }) => `#${new URLSearchParams({
  lesson, ...(step ? { step: step + 1 } : {}), ...(guess ? { guess } : {}),
})}`;

export function start(parent, texts, { app } = {}) {
  const words = texts.frame, order = words.lessons.filter((name) => name in texts);
  const choose = () => go({ lesson: menu.value, step: 0, guess: "" });
  const menu = made("select", { "aria-label": words.menu, onchange: choose },
    ...order.map((name, k) => made("option", { value: name }, `${k + 1}. ${texts[name].title}`)));
  const place = made("div", {});
  parent.append(made("header", { class: "lessons-head" }, made("h1", {}, words.title), menu), place);
  const dark = window.matchMedia("(prefers-color-scheme: dark)");

  let now = fromHash(window.location.hash, order), frame = made("div", {});
  const draw = () => {
    const next = order[order.indexOf(now.lesson) + 1], text = texts[now.lesson];
    menu.value = now.lesson;
    menu.hidden = order.length < 2;
    document.title = filled(words.page, { title: text.title });
    document.documentElement.classList.toggle("dark", dark.matches);
    show(frame, { words, text, dark: dark.matches, state: now, app, onState: go,
      next: next ? { lesson: next, title: texts[next].title } : null });
  };
  const go = (state) => {
    const other = state.lesson !== now.lesson;
    now = state;
    history.pushState(null, "", toHash(state));
    if (other) draw();
  };
  // Back, or another hash: the frame begins anew at that state.
  window.onpopstate = () => {
    now = fromHash(window.location.hash, order);
    frame = made("div", {});
    place.replaceChildren(frame);
    draw();
  };
  dark.onchange = draw;
  place.append(frame);
  draw();
}
