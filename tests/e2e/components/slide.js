// A square that is dragged along a line: for test_components.py.

import { clamp } from "./bounds.js";

export default function slide({ data, parentElement, setTriggerValue }) {
  const square = parentElement.querySelector("button") ?? made(parentElement);
  const place = (at) => { square.style.left = `${at}px`; };
  place(data.at);
  let from = null;
  square.onpointerdown = (event) => {
    square.setPointerCapture(event.pointerId);
    from = event.clientX - data.at;
  };
  square.onpointermove = (event) => from !== null && place(clamp(event.clientX - from, data.most));
  square.onpointerup = (event) => {
    setTriggerValue("moved", clamp(event.clientX - from, data.most));
    from = null;
  };
}

function made(parent) {
  const square = document.createElement("button");
  square.textContent = "drag";
  parent.append(square);
  return square;
}
