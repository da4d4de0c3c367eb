// One history entry per page: changed parameters replace it. {name} = {value} is in every address.
if (!history.replacesOnOnePage) {
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const whole = (url) => {
    const to = new URL(url ?? "", location.href), told = to.searchParams;
    const missing = told.has("{name}") ? "" : (told.size ? "&" : "?") + "{name}={value}";
    return to.pathname + to.search + missing + to.hash;
  };
  history.pushState = (state, title, url) => {
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (samePage) replace(state, title, whole(url));
    else push(state, title, url);
  };
  history.replacesOnOnePage = true;
  replace(history.state, "", whole(location.href));
}
