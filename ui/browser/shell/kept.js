// Keep a figure's drawing when its values change, and draw each state once. Streamlit makes a new chart for each
// change. It draws that twice: hidden and 700 pixels wide, then as wide as its place. Here the new chart takes the
// drawing of the old one with the same key, and Plotly changes what differs. A figure of another kind, a film, and
// a figure in which points are selected get a new drawing.
if (!window.keepsFigures) {
  window.keepsFigures = true;
  const AXIS = /^[xy]axis\d*$/;
  const LATER = 1000; // ms: Streamlit drops an old chart before it makes the new one, or up to half a second after
  const drawings = new Map(); // key of the figure -> the element that Plotly draws in
  const drawingIn = new WeakMap(); // Streamlit's element -> the drawing that it has taken
  const kinds = new WeakMap(); // Streamlit's element -> the kind of its figure
  const own = '[data-testid="stElementContainer"][class*="st-key-"]';
  const keyOf = (place) => place.closest(own)?.className.match(/st-key-(\S+)/)[1];
  const words = (text = "") => String(text).replace(/[\d.,⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+/g, "0");
  const kind = ({ data, layout }) =>
    JSON.stringify([
      data.map(({ type, name, xaxis, yaxis }) => [type, words(name), xaxis, yaxis]),
      Object.entries(layout)
        .filter(([name]) => AXIS.test(name))
        .map(([name, { title }]) => [name, words(title?.text)])
        .sort(),
    ]);

  // Streamlit speaks to its own element: pass that on to the drawing.
  const takeOver = (place, drawing) => {
    drawing.removeAllListeners();
    place.style.visibility = ""; // Streamlit hides its own until it has measured the width
    place.append(drawing);
    drawingIn.set(place, drawing);
    for (const name of ["on", "removeListener"]) place[name] = (...all) => drawing[name](...all);
    for (const name of ["data", "layout", "_transitionData"]) {
      Object.defineProperty(place, name, { get: () => drawing[name], configurable: true });
    }
  };

  // Plotly draws anew if its settings differ, and each chart has its own functions for the same buttons.
  const steady = (drawing, settings) => {
    const buttons = settings.modeBarButtonsToAdd ?? [];
    drawing.pressed = Object.fromEntries(buttons.map(({ name, click }) => [name, click]));
    drawing.clicks ??= {};
    const click = (name) => (drawing.clicks[name] ??= (...all) => drawing.pressed[name](...all));
    return { ...settings, modeBarButtonsToAdd: buttons.map((one) => ({ ...one, click: click(one.name) })) };
  };

  const keep = (Plotly) => {
    const { react, purge } = Plotly;
    Plotly.react = (place, { data, layout, frames, config = {} }) => {
      const key = keyOf(place);
      const isNew = !kinds.has(place);
      if (isNew) {
        const old = drawings.get(key);
        kinds.set(place, kind({ data, layout }));
        const { clickmode, dragmode } = old?._fullLayout ?? {};
        const isFree = !frames?.length && !/select|lasso/.test(`${clickmode} ${dragmode}`);
        if (isFree && kinds.get(old) === kinds.get(place)) takeOver(place, old);
      }
      const drawing = drawingIn.get(place) ?? place;
      if (key) drawings.set(key, drawing);
      const settings = steady(drawing, config);
      if (data !== drawing.data) {
        const { width = drawing._fullLayout?.width || place.getBoundingClientRect().width || undefined } = layout;
        layout = { ...layout, width };
        // Plotly writes into what it draws: draw a copy, else the second figure differs from the first
        if (isNew) [data, layout] = window.structuredClone([data, layout]);
        const told = JSON.stringify([data, layout, config]).replace(/<\/?b>/g, ""); // Streamlit adds more each time
        if (told === drawing.told) return Promise.resolve(drawing);
        drawing.told = told;
      } else if (layout === drawing.layout && config === drawing.config) return Promise.resolve(drawing);
      drawing.config = config;
      return react(drawing, { data, layout, frames, config: settings });
    };
    Plotly.purge = (place) => {
      const drawing = drawingIn.get(place) ?? place;
      setTimeout(() => {
        if (drawing.isConnected) return; // another chart has taken it
        for (const [key, one] of drawings) if (one === drawing) drawings.delete(key);
        purge(drawing);
      }, LATER);
    };
  };

  let found = window.Plotly;
  if (found) keep(found);
  const loaded = (Plotly) => {
    keep(Plotly);
    found = Plotly;
  };
  Object.defineProperty(window, "Plotly", { get: () => found, set: loaded });
}
