// Pass Python's messages on to the table of weights (messages.js).

import { tell } from "./messages.js";

export default function walk({ data }) {
  tell(data);
}
