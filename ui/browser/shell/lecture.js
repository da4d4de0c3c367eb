// Keys of a presenter: PageDown and PageUp follow the links of the sequence.
if (!window.hasLectureKeys) {
  window.hasLectureKeys = true;
  document.addEventListener("keydown", (event) => {
    const way = { PageDown: "on", PageUp: "back" }[event.key];
    const link = way && document.querySelector(`.st-key-ways-sequence a.${way}`);
    if (!link || event.target.closest("input:not([type=range]), textarea, [contenteditable]")) return;
    event.preventDefault();
    event.stopPropagation(); // a slider would take the key
    link.click();
  }, { capture: true });
}
