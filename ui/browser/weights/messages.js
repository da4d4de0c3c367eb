// News from Python for the table of weights: Newton's steps, and the weights of the link. Documents need not be
// sent again for these. Each component has its own modules, so the page keeps the last news until the table listens.

const LAST = Symbol.for("rankviz-weights"), EVENT = "rankviz-weights";

export const tell = (news) => {
  document[LAST] = news;
  document.dispatchEvent(new CustomEvent(EVENT, { detail: news }));
};

// Call `hear` with the last news and with all later ones; returns a function that stops this.
export const listen = (hear) => {
  const heard = (event) => hear(event.detail);
  document.addEventListener(EVENT, heard);
  if (document[LAST]) hear(document[LAST]);
  return () => document.removeEventListener(EVENT, heard);
};
