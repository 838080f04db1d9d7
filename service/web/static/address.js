// The address: which board or solve is shown, so that it can be shared and returned to.

const NAMES = ["board", "solve", "solution", "draw", "paste", "example"];

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

/** Go to a place; with `instead`, it replaces the current history entry. */
export function go(place, {instead = false} = {}) {
  const there = written(place);
  if (there === (location.search || location.pathname)) return;
  history[instead ? "replaceState" : "pushState"](null, "", there);
}
