// What Python tells the table of weights beside its documents (told.js).

import { tell } from "./told.js";

export default function walk({ data }) {
  tell(data);
}
