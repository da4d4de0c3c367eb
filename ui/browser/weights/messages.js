// Messages from Python to the table of weights: Newton's steps, and the weights of the link. They avoid sending
// documents again. Each component has its own modules, so the page keeps the last message until the table listens.

const LAST = Symbol.for("rankviz-weights"), EVENT = "rankviz-weights";

export const tell = (news) => {
  document[LAST] = news;
  document.dispatchEvent(new CustomEvent(EVENT, { detail: news }));
};

// Call `hear` with the last message and all later ones; return a function that stops this.
export const listen = (hear) => {
  const heard = (event) => hear(event.detail);
  document.addEventListener(EVENT, heard);
  if (document[LAST]) hear(document[LAST]);
  return () => document.removeEventListener(EVENT, heard);
};
