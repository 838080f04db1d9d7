// The address: which board or solve is shown, so that it can be shared and returned to.

const NAMES = ["board", "solve", "solution", "draw", "paste", "example", "play"];

/** Read the address: {board: "pips/2026-01-05/hard"}, {solve: id, solution: "3"}, {draw: "pips"}. */
export function address() {
  const given = new URLSearchParams(location.search);
  return Object.fromEntries(NAMES.filter((name) => given.has(name)).map((name) => [name, given.get(name)]));
}

function written(place) {
  const pairs = NAMES.filter((name) => place[name] !== undefined && place[name] !== null);
  // A slash is allowed in a query, and reads better.
  const query = pairs.map((name) => `${name}=${encodeURIComponent(place[name]).replaceAll("%2F", "/")}`);
  return query.length ? `?${query.join("&")}` : location.pathname;
}

/** Write the moves of a player so that an address takes them as they are: ((0.0).(0.1).1.6). */
export const writeMoves = (moves) =>
  JSON.stringify(moves).slice(1, -1).replaceAll("[", "(").replaceAll("]", ")").replaceAll(",", ".").replaceAll('"', "'");

/** Read moves that an address names; none where they cannot be read. */
export function readMoves(text) {
  try {
    const moves = JSON.parse(`[${text.replaceAll("(", "[").replaceAll(")", "]").replaceAll(".", ",").replaceAll("'", '"')}]`);
    return Array.isArray(moves) ? moves : [];
  } catch {
    return [];
  }
}

/** Go to a place; with `instead`, it replaces the current history entry. */
export function go(place, {instead = false} = {}) {
  const there = written(place);
  if (there === (location.search || location.pathname)) return;
  history[instead ? "replaceState" : "pushState"](null, "", there);
}
