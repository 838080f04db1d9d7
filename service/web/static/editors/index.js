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

/** Return whether a list has several payloads; a list of tiles is one board. */
export const isListOfBoards = (payload) =>
  Array.isArray(payload) && payload.length > 0 &&
  payload.every((one) => isObject(one) && !("layers" in one) && boardsIn(one).length > 0);

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
