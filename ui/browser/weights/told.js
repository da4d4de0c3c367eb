// What Python tells the table of weights apart from its documents, which need not be sent again for that: Newton's
// steps from where one stands, and weights that the link has. Each component has modules of its own, so what was
// told last is kept by the page, until the table is there to hear it.

const LAST = Symbol.for("rankviz-weights"), EVENT = "rankviz-weights";

export const tell = (news) => {
  document[LAST] = news;
  document.dispatchEvent(new CustomEvent(EVENT, { detail: news }));
};

// Hear what was told last, and what is told from now on; returns how to hear no more.
export const listen = (hear) => {
  const heard = (event) => hear(event.detail);
  document.addEventListener(EVENT, heard);
  if (document[LAST]) hear(document[LAST]);
  return () => document.removeEventListener(EVENT, heard);
};
