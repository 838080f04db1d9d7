// Where a text stops being JSON. Browsers' messages differ, and some have no position.

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** Return the position of the first wrong character, or the length of a text that ends too soon. */
export function jsonFault(text) {
  let at = 0;
  /** The open brackets: "{" or "[", innermost last. */
  const open = [];
  const take = (pattern) => {
    pattern.lastIndex = at;
    const found = pattern.exec(text);
    if (found) at = pattern.lastIndex;
    return Boolean(found);
  };
  const sign = (wanted) => {
    take(SPACE);
    if (text[at] !== wanted) return false;
    at += 1;
    return true;
  };
  const key = () => {
    take(SPACE);
    return take(STRING) && sign(":");
  };
  for (;;) {
    // A value starts here.
    take(SPACE);
    if (sign("{")) {
      if (!sign("}")) {
        if (!key()) return at;
        open.push("}");
        continue;
      }
    } else if (sign("[")) {
      if (!sign("]")) {
        open.push("]");
        continue;
      }
    } else if (!take(STRING) && !take(NUMBER) && !take(WORD)) return at;
    // A value has ended: its container continues or ends.
    while (open.length && sign(open.at(-1))) open.pop();
    if (!open.length) {
      take(SPACE);
      return at;
    }
    if (!sign(",")) return at;
    if (open.at(-1) === "}" && !key()) return at;
  }
}
