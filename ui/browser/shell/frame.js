// What Streamlit's frame lacks: a menu that closes after a choice on a phone, and a search in the glossary.
// And its menu of a phone has sections between a list and its items, which screen readers announce wrongly.
if (!window.hasFrame) {
  window.hasFrame = true;
  new window.MutationObserver(() => {
    const items = document.querySelector('[data-testid="stSidebarNavItems"]:not([role])');
    for (const one of items ? [items, ...items.querySelectorAll("li")] : []) one.setAttribute("role", "none");
  }).observe(document.body, { childList: true, subtree: true });
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
}
