// Where a text stops being JSON. Browsers differ in what they say of it, and some say no place.

const SPACE = /[ \t\r\n]*/y;
const STRING = /"(?:[^"\\\u0000-\u001f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*"/y;
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;

/** Give the place of the first character that is wrong, or the length of a text that ends too soon. */
export function jsonFault(text) {
  let at = 0;
  /** The places that are still open: "{" or "[", innermost last. */
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
    // A value begins here.
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
    // A value has ended: what it stands in goes on or ends.
    while (open.length && sign(open.at(-1))) open.pop();
    if (!open.length) {
      take(SPACE);
      return at;
    }
    if (!sign(",")) return at;
    if (open.at(-1) === "}" && !key()) return at;
  }
}
