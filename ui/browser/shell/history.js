// One history entry per page: changed parameters replace it. {name} = {value} is in every address.
if (!history.replacesOnOnePage) {
  const push = history.pushState.bind(history), replace = history.replaceState.bind(history);
  const whole = (url) => {
    const to = new URL(url ?? "", location.href), told = to.searchParams;
    const missing = told.has("{name}") ? "" : (told.size ? "&" : "?") + "{name}={value}";
    return to.pathname + to.search + missing + to.hash;
  };
  const values = (address) => [...new URL(address, location.href).searchParams].map(String);
  let shortened;  // the address before the last change, if this only removed parameters, and when
  history.pushState = (state, title, url) => {
    const samePage = new URL(url ?? "", location.href).pathname === location.pathname;
    if (samePage) {
      const before = values(location.href), after = values(whole(url));
      const removes = after.length < before.length && after.every((one) => before.includes(one));
      shortened = removes ? { href: location.href, at: performance.now() } : undefined;
      replace(state, title, whole(url));
    } else {
      // Streamlit removes a page's own parameters just before it leaves: the way back needs them
      if (performance.now() - shortened?.at < 1000) replace(history.state, "", shortened.href);
      shortened = undefined;
      push(state, title, url);
    }
  };
  history.replacesOnOnePage = true;
  replace(history.state, "", whole(location.href));
}
