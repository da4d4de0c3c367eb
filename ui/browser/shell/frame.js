// Add to Streamlit's frame: the menu closes after a choice on a phone, another page begins at its top, the glossary
// has a search, and screen readers read powers on sliders (Streamlit gives them their formula, $2^{-4}$) and the menu
// of a phone (its sections stand between a list and its items). What a button opens is not covered by the button's own
// explanation. A new theme runs the page, because Python sets the colours of figures.
if (!window.hasFrame) {
  window.hasFrame = true;
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest('[data-testid="stSidebarNavLink"]');
    if (chosen && innerWidth <= 760) document.querySelector('[data-testid="stSidebarCollapseButton"] button').click();
  });
  const plain = (text) => text.normalize("NFD").replace(/\p{M}/gu, "").toLowerCase();
  document.addEventListener("input", ({ target }) => {
    const glossary = target.closest(".glossary");
    if (!glossary) return;
    const sought = plain(target.value.trim());
    const entries = (glossary.entries ??= [...glossary.querySelectorAll(".entry")]); // in their first order
    for (const one of entries) one.hidden = !plain(`${one.textContent} ${one.dataset.also}`).includes(sought);
    const title = (one) => plain(one.querySelector("b").textContent);
    const place = (one) => (title(one) === sought ? 0 : title(one).startsWith(sought) ? 1 : 2);
    target.after(...[...entries].sort((one, other) => place(one) - place(other)));
    glossary.querySelector(".none").hidden = entries.some((one) => !one.hidden);
  });
  const raised = (power) => Array.from(power, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  const read = (slider) => {
    const found = /^\$(\d+)\^\{(-?\d+)\}\$$/.exec(slider.getAttribute("aria-valuetext"));
    if (found) slider.setAttribute("aria-valuetext", found[1] + raised(found[2]));
  };
  let waits = false, path = location.pathname;
  const mend = () => {
    waits = false;
    if (path !== location.pathname) document.querySelector('[data-testid="stMain"]')?.scrollTo(0, 0);
    path = location.pathname;
    document.querySelectorAll('[aria-valuetext^="$"]').forEach(read);
    const items = document.querySelector('[data-testid="stSidebarNavItems"]:not([role])');
    for (const one of items ? [items, ...items.querySelectorAll("li")] : []) one.setAttribute("role", "none");
    // no rule of a style sheet: with body:has(…:hover), each step of a drawing takes 2 ms longer
    const opened = document.querySelector('[data-testid="stPopoverButton"][aria-expanded="true"]:hover');
    const told = document.querySelectorAll('[data-testid="stTooltipContent"]');
    for (const one of told) one.style.display = opened ? "none" : "";
  };
  const watch = { childList: true, subtree: true, attributeFilter: ["aria-valuetext"] };
  const mendOnce = () => { // a figure changes in many steps, so at most once a frame
    if (!waits) requestAnimationFrame(mend);
    waits = true;
  };
  new window.MutationObserver(mendOnce).observe(document.body, watch);
  mend();
  const app = document.querySelector('[data-testid="stApp"]');
  const theme = () => window.getComputedStyle(app).colorScheme;
  let drawn = theme();
  window.runAgain = () => {
    const rerun = { key: "r", code: "KeyR" }; // Streamlit's key
    for (const kind of ["keydown", "keyup"]) document.dispatchEvent(new window.KeyboardEvent(kind, rerun));
  };
  const redraw = () => {
    if (theme() === drawn) return;
    drawn = theme();
    window.runAgain();
  };
  new window.MutationObserver(redraw).observe(app, { attributeFilter: ["class"] });
}
