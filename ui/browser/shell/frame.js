// Add to Streamlit's frame: the menu closes after a choice on a phone, and the glossary has a search.
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
}
