// Newton's steps from where one stands, from Python to the table of weights: apart from its documents, which
// need not be sent again for that.

export default function walk({ data }) {
  document.dispatchEvent(new CustomEvent("rankviz-walk", { detail: data }));
}
