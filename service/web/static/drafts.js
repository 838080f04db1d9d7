// Boards being made: drawn or pasted ones, checked first here and then by the service.
import {Problem, text} from "./api.js";
import {editorOf} from "./editors/index.js";
import {set, showOwn, state, submit} from "./session.js";
import {asSentence, faultOf} from "./words.js";

const CHECK_MS = 300;
/** Recheck a board if the service did not answer. */
const AGAIN_MS = 3000;

let timer = 0;
let asked = new AbortController();

/** The board being made of a game; initially empty. */
export const draftOf = (seen = state) =>
  seen.draft?.game === seen.game ? seen.draft : {game: seen.game, model: editorOf(seen.game)?.empty(), faults: [], ready: null};

/** Handle a change of a drawn board. */
export function change(game, model) {
  const editor = editorOf(game);
  const puzzle = editor.toPuzzle(model);
  const body = {game, puzzle, ...editor.extras?.(model)};
  take({game, model, puzzle, body, title: editor.titleOf?.(model) || "A board of your own", locked: false}, editor.check(model));
}

/** Use a payload as a board; `model` has its displayable parts. */
export function paste({game, model, puzzle, body, title}) {
  take({game, model, puzzle, body, title, locked: true}, []);
}

export function clearDraft() {
  clearTimeout(timer);
  asked.abort();
  set({draft: null});
}

function take(draft, faults) {
  clearTimeout(timer);
  asked.abort();
  const wrong = faults.some(({soft}) => !soft);
  set({draft: {...draft, faults, ready: null, checking: !wrong && Boolean(draft.puzzle)}});
  if (!wrong && draft.puzzle) timer = setTimeout(() => look(draft, faults), CHECK_MS);
}

/** Have the service validate and draw a board; its faults name cells. */
async function look(draft, faults) {
  asked = new AbortController();
  const {signal} = asked;
  const still = (change) => {
    if (!signal.aborted && state.draft?.model === draft.model) set({draft: {...state.draft, checking: false, ...change}});
  };
  try {
    const picture = await text("/v1/boards/picture", {method: "POST", body: draft.body, signal});
    still({ready: {picture}, faults});
  } catch (error) {
    if (signal.aborted) return;
    if (!(error instanceof Problem)) throw error;
    still({faults: [...faults, ...faultsOf(error, draft)]});
    if (!error.status) timer = setTimeout(() => look(draft, faults), AGAIN_MS);
  }
}

/** Split a JSON pointer, without the part that leads to the board. */
export function tokens(pointer, puzzle) {
  const parts = String(pointer ?? "").split("/").slice(1).map((part) => part.replaceAll("~1", "/").replaceAll("~0", "~"));
  if (parts[0] === "puzzle") parts.shift();
  const inner = puzzle && parts.findIndex((part) => part in puzzle);
  return inner > 0 ? parts.slice(inner) : parts;
}

function faultsOf(problem, {game, puzzle}) {
  const told = problem.errors.length ? problem.errors : [{pointer: "", detail: problem.message}];
  return told.map(({pointer, detail}) => ({
    detail: pointer ? faultOf({pointer, detail}) : asSentence(detail),
    pointer,
    cells: [],
    ...(editorOf(game).locate?.(tokens(pointer, puzzle), puzzle, detail) ?? {}),
  }));
}

/** Show the finished board, and solve it. */
export async function solveDraft() {
  showDraft();
  await submit();
}

export function showDraft() {
  const {game, puzzle, body, title, ready, model} = draftOf();
  if (!ready) return;
  showOwn({game, puzzle, body, picture: ready.picture, title});
  set({board: {...state.board, spangram: model?.spangram || undefined}});
}

/** Go back to drawing, with the current board. */
export function edit() {
  const {draft} = state;
  const board = state.board ?? state.before;
  const game = board?.game ?? state.game;
  set({board: null, picture: "", solve: null, shown: null, solutions: [], solutionPicture: "", mode: "draw", problem: null});
  if (board?.puzzle && !(draft?.game === game && !draft.locked && draft.body === board.body)) {
    change(game, editorOf(game).fromPuzzle(board.puzzle));
  }
}
