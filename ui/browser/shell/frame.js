// Add to Streamlit's frame: the menu closes after a choice on a phone, the glossary has a search, and screen
// readers read powers on sliders (Streamlit gives them their formula, $2^{-4}$).
if (!window.hasFrame) {
  window.hasFrame = true;
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest('[data-testid="stSidebarNavLink"]');
    if (chosen && innerWidth <= 760) document.querySelector('[data-testid="stSidebarCollapseButton"] button').click();
  });
  document.addEventListener("input", ({ target }) => {
    const sought = target.value?.toLowerCase();
    for (const entry of target.closest(".glossary")?.querySelectorAll(".entry") ?? []) {
      entry.hidden = !entry.textContent.toLowerCase().includes(sought);
    }
  });
  const raised = (power) => Array.from(power, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]).join("");
  const read = (slider) => {
    const found = /^\$(\d+)\^\{(-?\d+)\}\$$/.exec(slider.getAttribute("aria-valuetext"));
    if (found) slider.setAttribute("aria-valuetext", found[1] + raised(found[2]));
  };
  document.querySelectorAll("[aria-valuetext]").forEach(read);
  const watch = { subtree: true, attributeFilter: ["aria-valuetext"] };
  new window.MutationObserver((changes) => changes.forEach(({ target }) => read(target))).observe(document.body, watch);
}
