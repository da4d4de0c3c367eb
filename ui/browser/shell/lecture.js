// Keys of a presenter: PageDown and PageUp, and the arrows that nothing else takes, follow the links of the sequence.
if (!window.hasLectureKeys) {
  window.hasLectureKeys = true;
  const WAYS = { PageDown: "on", ArrowRight: "on", PageUp: "back", ArrowLeft: "back" };
  const MOVED = "input, select, [role]:not([role=button], [role=link])"; // arrows move these, as sliders and tabs
  const follow = (event) => {
    const [target] = event.composedPath(), link = document.querySelector(`.st-key-ways-sequence a.${WAYS[event.key]}`);
    const held = event.ctrlKey || event.metaKey || event.altKey || event.shiftKey;
    if (!link || held || event.defaultPrevented || target.isContentEditable) return;
    if (target.matches?.("textarea, input:not([type=range], [type=checkbox], [type=radio])")) return;
    if (event.key.startsWith("Arrow") && target.matches?.(MOVED)) return;
    event.preventDefault();
    event.stopPropagation(); // a slider would take the key
    link.click();
  };
  document.addEventListener("keydown", (event) => event.key?.startsWith("Page") && follow(event), { capture: true });
  document.addEventListener("keydown", (event) => event.key?.startsWith("Arrow") && follow(event));
}
