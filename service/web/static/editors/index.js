// The editors by game. A game without one is edited as JSON, starting from its example.
import {json} from "./json.js";
import {letterboxed} from "./letterboxed.js";
import {pips} from "./pips.js";
import {strands} from "./strands.js";
import {tiles} from "./tiles.js";

const EDITORS = {pips, strands, letterboxed, tiles};

export const editorOf = (game) => EDITORS[game] ?? json;

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isPips = (value) => isObject(value) && ("dominoes" in value || "regions" in value);
const allText = (list) => Array.isArray(list) && list.length > 0 && list.every((row) => typeof row === "string");

const DATE = /^\d{4}-?\d\d-?\d\d$/;
const WRAPPERS = 2;

/**
 * Return the days of an archive as [{name, payload}]: of a list, of an object by date, or of either
 * under a key. A payload by itself is not an archive, and a list of tiles is one board.
 */
export function daysIn(value, depth = WRAPPERS) {
  const isDay = (one) => isObject(one) && !("layers" in one) && boardsIn(one).length > 0;
  if (Array.isArray(value)) return value.some(isDay) ? value.map((payload, i) => ({name: `number ${i + 1}`, payload})) : [];
  if (!isObject(value) || boardsIn(value).length) return [];
  const dated = Object.entries(value).filter(([key]) => DATE.test(key));
  if (dated.some(([, one]) => boardsIn(one).length)) return dated.map(([name, payload]) => ({name, payload}));
  return depth ? Object.values(value).flatMap((inner) => daysIn(inner, depth - 1)) : [];
}

/** Return the boards of a payload: [{game, level, puzzle}]; [] if none is known. */
export function boardsIn(payload) {
  if (isPips(payload)) return [{game: "pips", level: null, puzzle: payload}];
  if (allText(payload)) return [{game: "strands", level: null, puzzle: {board: payload}}];
  if (Array.isArray(payload)) return [{game: "tiles", level: null, puzzle: isObject(payload[0]) ? {board: payload} : {tiles: payload}}];
  if (!isObject(payload)) return [];
  if (payload.game && !(payload.game in EDITORS)) return [{game: payload.game, level: null, puzzle: payload}];
  if ("sides" in payload) return [{game: "letterboxed", level: null, puzzle: payload}];
  if ("tiles" in payload || (Array.isArray(payload.board) && isObject(payload.board[0]))) return [{game: "tiles", level: null, puzzle: payload}];
  if ("board" in payload || "startingBoard" in payload) return [{game: "strands", level: null, puzzle: payload}];
  return Object.entries(payload).filter(([, value]) => isPips(value)).map(([level, puzzle]) => ({game: "pips", level, puzzle}));
}
