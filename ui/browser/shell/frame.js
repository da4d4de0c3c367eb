// What Streamlit's frame lacks: a link to the content, a menu that closes on a phone, a search in the glossary.
if (!document.querySelector("a.skip")) {
  const find = (name) => document.querySelector(`[data-testid="${name}"]`);
  const skip = Object.assign(document.createElement("a"), {
    className: "skip", href: "#content", textContent: "Skip to content",
    onclick: (event) => {
      event.preventDefault(); // Streamlit would take the new address for another page
      const content = find("stMainBlockContainer");
      content.tabIndex = -1;
      content.focus();
    },
  });
  document.body.prepend(skip);
  document.addEventListener("click", ({ target }) => {
    const chosen = target.closest('[data-testid="stSidebarNavLink"]');
    if (chosen && innerWidth <= 760) find("stSidebarCollapseButton").querySelector("button").click();
  });
  document.addEventListener("input", ({ target }) => {
    const sought = target.value?.toLowerCase();
    for (const entry of target.closest(".glossary")?.querySelectorAll(".entry") ?? []) {
      entry.hidden = !entry.textContent.toLowerCase().includes(sought);
    }
  });
}
