// State and actions of the page: games, the current board, its solve, the queue.
// Views read `state` by `useSession` and call the functions below; nothing here draws anything.
import {follow, isOver, json, Problem, text} from "./api.js";
import {address, go, readMoves} from "./address.js";
import {useEffect, useState} from "./html.js";
import {longDate} from "./format.js";
import {answers, lookSoon} from "./watch.js";

const WAIT_S = 1;
/** After a longer solve, there is no second one for its solutions. */
const QUICK_S = 5;
/** Deadline of automatic requests for solutions; long enough for a worker to start. */
const SHOWN_WITHIN_S = 60;
const LISTED = 100;
const LISTED_BEST = 10;
const PAGE_DATES = 1000;

export let state = {
  games: [],
  game: null,
  mode: "day",
  days: {},
  board: null,
  /** The board shown before a new drawing: it can be edited. */
  before: null,
  picture: "",
  solve: null,
  /** A second solve of the same board for its solutions, if the first one only counts. */
  shown: null,
  /** What was counted of this board before, by the rules that hold: {rules, count}. */
  counted: null,
  solutions: [],
  at: 0,
  solutionPicture: "",
  /** The board as it is played: see play/moves.js. */
  play: null,
  ask: "",
  rules: {},
  words: "",
  deadline: "",
  busy: false,
  problem: null,
  keyWanted: false,
  queue: undefined,
  /** Whether the service does not answer. */
  away: false,
  /** Whether the failed request is retried automatically. */
  retried: false,
  /** The board being made: see drafts.js. */
  draft: null,
  /** The text of a pasted payload. */
  pasted: "",
  said: "",
};

const watchers = new Set();

export function set(change) {
  state = {...state, ...change};
  watchers.forEach((watch) => watch(state));
}

export function useSession() {
  const [seen, see] = useState(state);
  useEffect(() => {
    watchers.add(see);
    see(state);
    return () => watchers.delete(see);
  }, []);
  return seen;
}

/** Announce something to screen readers. */
export const say = (said) => set({said});

export const gameOf = (name) => state.games.find((game) => game.game === name);
export const titleOf = (name) => gameOf(name)?.title ?? name;

/** Replace the current board or solve, and abort work for the previous one. */
let turn = new AbortController();
function newTurn() {
  turn.abort();
  turn = new AbortController();
  return turn.signal;
}

/** Read-only work to retry once the service answers. */
let again = null;

/** Retry requests that failed because the service did not answer. */
export const lookAgain = () => again?.();

/** Run work for the current view; show its errors unless the view has changed by then. */
async function attempt(signal, work, {isLook = false} = {}) {
  set({problem: null});
  again = null;
  try {
    await work();
  } catch (error) {
    if (signal.aborted || error.name === "AbortError") return;
    if (!(error instanceof Problem)) throw error;
    const retried = isLook && !error.status;
    set({problem: error, busy: false, retried});
    if (retried) again = () => signal.aborted || attempt(signal, work, {isLook});
  }
}

/** Moves of the address, until the board that they are made on is there. */
let wantedPlay = null;
const playOn = () => {
  const wanted = wantedPlay;
  wantedPlay = null;
  return wanted && {moves: wanted.moves, reply: null, hint: null, told: "", wrong: false, revealed: false};
};

/** Show a board beside the news that there is no such solve. */
async function insteadOfSolve(problem) {
  if (problem.status === 404 && !state.board) {
    const first = await firstGame();
    if (first) await openGame(first, {instead: true});
    set({problem, busy: false});
    return;
  }
  throw problem;
}

/** Load the content of the address, at the start and whenever it changes. */
export async function arrive() {
  const place = address();
  const signal = newTurn();
  const plays = place.play !== undefined;
  wantedPlay = plays ? {moves: readMoves(place.play), text: place.play} : null;
  if (!plays) set({play: null});
  await attempt(signal, async () => {
    if (!state.games.length) set({games: (await json("/v1/games", {signal})).games});
    if (place.solve) return openSolve(place.solve, Number(place.solution) || 0, signal).catch(insteadOfSolve);
    if (place.draw) return startDrawing(place.draw, signal);
    if (place.paste !== undefined) return startPasting();
    if (place.board) return openReference(place.board, signal, {instead: place.play !== undefined});
    if (place.example) return openExample(place.example, signal, {instead: true});
    const first = await firstGame(signal);
    if (first) return openGame(first, {instead: true});
  }, {isLook: true});
}

/** The initial game: one with boards in the lake, if any. */
async function firstGame(signal) {
  for (const {game} of state.games) {
    if ((await daysOf(game, signal)).size) return game;
  }
  return state.games[0]?.game;
}

/** Show the newest board of a game; without dated boards, its example. */
export async function openGame(game, {instead = false} = {}) {
  const signal = newTurn();
  set({game, rules: {}, words: "", ask: state.game === game ? state.ask : ""});
  await attempt(signal, async () => {
    const days = await daysOf(game, signal);
    const newest = [...days.keys()].sort().at(-1);
    if (!newest) return openExample(game, signal, {instead});
    const levels = days.get(newest);
    const level = levels.at(-1)?.level;
    await openReference([game, newest, level].filter(Boolean).join("/"), signal, {instead});
  }, {isLook: true});
}

/** Load the calendar of a game once: date to its levels. */
async function daysOf(game, signal, {anew = false} = {}) {
  if (state.days[game] && !anew) return state.days[game];
  const days = new Map();
  let next = `/v1/puzzles/${encodeURIComponent(game)}?limit=${PAGE_DATES}`;
  while (next) {
    const page = await json(next, {signal});
    page.dates.forEach(({date, levels}) => days.set(date, levels));
    next = page.next;
  }
  set({days: {...state.days, [game]: days}});
  return days;
}

export const chooseDay = (reference) => {
  const signal = newTurn();
  return attempt(signal, () => openReference(reference, signal), {isLook: true});
};

/** Show a board of the lake, with its answers. */
async function openReference(reference, signal, {instead = false} = {}) {
  const [game, date, level] = reference.split("/");
  if (!date && gameOf(game)) return openGame(game, {instead: true});
  set({game, mode: "day", busy: true, ask: state.game === game ? state.ask : ""});
  await daysOf(game, signal);
  const day = await json(`/v1/puzzles/${game}/${date}`, {signal});
  const boards = day.boards;
  const one = boards.find((board) => board.level === level) ?? boards.at(-1);
  if (!one) throw new Problem(404, {detail: `There is no board of ${titleOf(game)} on ${date}.`});
  const board = {
    game,
    date,
    level: one.level,
    reference: one.reference,
    puzzleId: one.puzzle_id,
    puzzle: one.puzzle,
    title: longDate(date),
    clue: one.clue ?? "",
    known: one.results ?? [],
    body: {id: one.reference},
  };
  const picture = await pictureOrNone(one.picture, signal);
  if (signal.aborted) return;
  const place = {board: one.reference, play: wantedPlay?.text};
  set({board, picture, busy: false, ...nothingSolved(), play: playOn()});
  go(place, {instead});
  await openKnown(board, signal);
}

/** The picture of a board; none for a game without pictures. */
const pictureOrNone = (path, signal) =>
  text(path, {signal}).catch((error) => {
    if (error.status === 422) return "";
    throw error;
  });

const nothingSolved = () => ({solve: null, shown: null, counted: null, solutions: [], at: 0, solutionPicture: "", play: null});

const hasUsualRules = ({game = state.game, rules}) => !rules || rules === gameOf(game)?.usual_rules;

/** Show existing answers about a board, the usual question first. */
async function openKnown(board, signal) {
  const usual = gameOf(board.game)?.usual_ask;
  const known = board.known.filter((answer) => answer.status !== "over_budget" && hasUsualRules(answer));
  const answer = known.find(({ask}) => ask === usual) ?? known[0];
  if (!answer) return;
  const solve = await json(`/v1/solves/${answer.id}`, {signal}).catch(() => null);
  if (!solve || signal.aborted) return;
  set({solve});
  const listed = known.find((other) => Number(other.solutions_stored) > 0);
  if (listed && listed.id !== answer.id) {
    set({shown: await json(`/v1/solves/${listed.id}`, {signal}).catch(() => null)});
  } else if (canBeListed() && isQuick(solve)) {
    await askForSolutions(signal).catch(() => {});
  }
  await loadSolutions(0, signal);
}

/** Show a solve by its id, from a shared address. */
async function openSolve(id, at, signal) {
  if (state.solve?.id === id || state.shown?.id === id) {
    const solve = state.solve?.id === id ? state.solve : state.shown;
    if (isOver(solve) && state.board) return stepTo(at, {silent: true});
  }
  const solve = await json(`/v1/solves/${encodeURIComponent(id)}`, {signal});
  const reference = solve.references?.[0] ?? null;
  const [, date, level] = reference?.split("/") ?? [];
  set({
    game: solve.game,
    mode: reference ? "day" : state.mode === "paste" ? "paste" : "draw",
    board: {
      game: solve.game,
      date: date ?? null,
      level: level ?? null,
      reference,
      puzzleId: solve.puzzle_id,
      puzzle: solve.puzzle,
      title: date ? longDate(date) : "A board of your own",
      known: [],
      body: reference ? {id: reference} : {game: solve.game, puzzle: solve.puzzle},
    },
    picture: await pictureOrNone(solve.links.picture, signal),
    ...nothingSolved(),
    play: playOn(),
    solve,
    ask: solve.ask,
    busy: false,
  });
  if (date) daysOf(solve.game, signal).catch(() => {});
  if (isOver(solve)) await ended(solve, at, signal);
  else await followSolve(solve, signal);
}

/** Show a drawn or pasted board: `body` is that of the request. */
export function showOwn({game, puzzle, body, picture, title}) {
  newTurn();
  const board = {game, date: null, level: null, reference: null, puzzleId: null, puzzle, title, known: [], body};
  set({game, board, picture, problem: null, ...nothingSolved()});
}

/** Show the example of a game, ready to be solved; without one, open the editor. */
async function openExample(game, signal, {instead = false} = {}) {
  const name = gameOf(game) ? game : state.games[0]?.game;
  const {example: puzzle, has_pictures: isDrawn} = gameOf(name) ?? {};
  if (!puzzle) return startDrawing(name, signal, {instead});
  set({game: name, mode: "day", busy: true, ask: state.game === name ? state.ask : ""});
  await daysOf(name, signal);
  const body = {game: name, puzzle};
  const picture = isDrawn === false ? "" : await text("/v1/boards/picture", {method: "POST", body, signal});
  if (signal.aborted) return;
  const place = wantedPlay?.text;
  const own = {date: null, level: null, reference: null, puzzleId: null, known: []};
  set({board: {...own, game: name, puzzle, title: "An example", body}, picture, busy: false, ...nothingSolved(), play: playOn()});
  go({example: name, play: place}, {instead});
}

async function startDrawing(game, signal, {instead = false} = {}) {
  const name = gameOf(game) ? game : state.games[0]?.game;
  set({game: name, mode: "draw", before: state.board ?? state.before, board: null, picture: "", busy: false, ask: "", ...nothingSolved()});
  go({draw: name}, {instead});
  await daysOf(name, signal).catch(() => {});
}

function startPasting() {
  set({game: state.game ?? state.games[0]?.game, mode: "paste", board: null, picture: "", ask: "", ...nothingSolved()});
  go({paste: ""});
}

/** Change how a board is chosen: by day, by pasting or by drawing. */
export async function chooseBy(mode) {
  if (mode === state.mode) return;
  if (mode === "day") return openGame(state.game);
  const signal = newTurn();
  if (mode === "paste") return startPasting();
  await attempt(signal, () => startDrawing(state.game, signal));
}

/** The current question. */
export function question() {
  const ask = state.ask || gameOf(state.game)?.usual_ask;
  const rules = Object.keys(state.rules).length ? {rules: state.rules} : {};
  const words = state.words.split(/[\s,]+/).filter(Boolean);
  return {
    ...state.board.body,
    ...(state.board.body.words ? {} : words.length ? {words} : {}),
    ask,
    ...rules,
    ...(Number(state.deadline) > 0 ? {deadline_s: Number(state.deadline)} : {}),
  };
}

const posted = (body, signal) =>
  json("/v1/solves", {method: "POST", body, signal, headers: {Prefer: `wait=${WAIT_S}`}});

/** Solve the current board. */
export async function submit() {
  if (!state.board) return;
  const signal = newTurn();
  const count = exactCount();
  set({busy: true, ...nothingSolved(), counted: count && {board: state.board, rules: state.solve.rules, count}});
  await attempt(signal, async () => {
    const solve = await posted(question(), signal);
    if (signal.aborted) return;
    set({solve, busy: false});
    lookSoon();
    go({solve: solve.id});
    if (isOver(solve)) await ended(solve, 0, signal);
    else await followSolve(solve, signal);
  });
}

/** Tell whether solutions of a game are counted; those of Tiles are not. */
export const isCounted = (name) => Boolean(gameOf(name)?.asks.includes("count"));

/** The exact number of solutions, if a solve of this board by the same rules has told it. */
export function exactCount({solve, shown, counted, board} = state) {
  if (!solve || !isCounted(solve.game)) return null;
  const exact = ({status, count, truncated}) => (status === "solved" && !truncated ? count : null);
  const told = [solve, shown].filter((one) => one?.answer && !/^(first|meant)/.test(one.ask)).map(({answer}) => exact(answer));
  const known = (board?.known ?? []).filter(({ask, rules}) => /^(count|best)/.test(ask) && rules === solve.rules).map(exact);
  const before = counted && counted.board === board && counted.rules === solve.rules ? counted.count : null;
  return [...told, ...known, before].find((count) => count && count !== "0") ?? null;
}

async function followSolve(solve, signal) {
  say(solve.state === "queued" ? "Waiting in the queue" : "Solving");
  let final = null;
  await follow(solve, (event, data) => {
    if (signal.aborted) return;
    answers(true);
    if (event === "progress") set({solve: noLess(state.solve, {...state.solve, progress: data})});
    else if (event === "state") set({solve: noLess(state.solve, data)});
    else if (event === "end") { final = data; set({solve: data}); }
  }, signal, () => signal.aborted || answers(false));
  if (final) await ended(final, 0, signal);
}

const more = (one, other) => (Number(one ?? 0) > Number(other ?? 0) ? one : other);

/** Keep the progress monotonic: a restarted service has to count again. */
function noLess(before, now) {
  const told = before?.id === now.id ? before.progress : null;
  if (!told) return now;
  if (!now.progress) return {...now, progress: told};
  const done = more(told.chunks_done, now.progress.chunks_done);
  const total = more(done, now.progress.chunks_total);
  const states = more(told.states, now.progress.states);
  return {...now, progress: {...now.progress, chunks_done: done, chunks_total: total, states}};
}

const COUNTED = /^[1-9]\d*$/;

/** Show how a solve ended, and load solutions, by a second question if needed. */
async function ended(solve, at, signal) {
  say(sentence(solve));
  lookSoon();
  markDay(solve);
  const answer = solve.answer;
  if (!answer || answer.status !== "solved") return;
  // The rules of a solve opened by its address are only known as a line.
  const askable = hasUsualRules(solve) || Object.keys(state.rules).length > 0;
  if (canBeListed() && askable && isQuick(solve)) await askForSolutions(signal).catch(() => {});
  await loadSolutions(at, signal);
}

const isQuick = (solve) => (solve.answer?.kernel_s ?? 0) <= QUICK_S;

/** Return whether the board has solutions, but none is loaded. */
export const canBeListed = (seen = state) =>
  !lister(seen) && seen.solve?.answer?.status === "solved" && COUNTED.test(seen.solve.answer.count ?? "");

async function askForSolutions(signal) {
  const shown = await posted({...askedAbout(), ask: listingAsk(state.game), deadline_s: SHOWN_WITHIN_S}, signal);
  if (signal.aborted) return;
  set({shown});
  if (!isOver(shown)) await follow(shown, (event, data) => event === "end" && set({shown: data}), signal);
}

/** Request solutions of a board that was only counted, and show them. */
export function showSolutions() {
  const signal = turn.signal;
  return attempt(signal, async () => {
    set({busy: true});
    await askForSolutions(signal);
    await loadSolutions(0, signal);
    set({busy: false});
  });
}

/** The board, rules and words of the question, for another ask. */
const askedAbout = () => {
  const {ask: _ask, deadline_s: _deadline, ...body} = question();
  return body;
};

/** The ask that lists solutions of a game. */
const listingAsk = (name) => {
  const {asks = [], best_max: most} = gameOf(name) ?? {};
  return asks.includes("best") ? `best(${most ?? LISTED_BEST})` : `all(${LISTED})`;
};

/** Describe the outcome of a solve in a sentence. */
export function sentence(solve) {
  const answer = solve.answer;
  if (solve.state === "cancelled") return "Cancelled.";
  if (solve.state === LEFT) return "You left this solve. It continues, because another client wants it.";
  if (solve.state === "expired") return "The deadline passed before there was an answer.";
  if (!answer) return solve.reason || "There is no answer.";
  if (answer.status === "unsolvable") return "No solution exists.";
  if (answer.status !== "solved") return answer.reason || solve.reason || `Ended ${answer.status}.`;
  if (answer.count === null) return "Solved.";
  return `${answer.truncated ? "At least " : ""}${answer.count} ${answer.count === "1" ? "solution" : "solutions"}.`;
}

/** Mark a newly solved day in the calendar. */
function markDay(solve) {
  const status = solve.answer?.status;
  if (!status || !state.board?.date) return;
  const {game, date, level} = state.board;
  const days = state.days[game];
  if (!days?.has(date)) return;
  const levels = days.get(date).map((one) => (one.level === level ? {...one, status} : one));
  set({days: {...state.days, [game]: new Map(days).set(date, levels)}});
}

/** The solve whose solutions are shown. */
export const lister = (seen = state) =>
  [seen.solve, seen.shown].find((solve) => Number(solve?.answer?.solutions_stored) > 0) ?? null;

export const solutionCount = (seen = state) => Number(lister(seen)?.answer.solutions_stored ?? 0);

async function loadSolutions(at, signal) {
  const solve = lister();
  if (!solve) return;
  const page = await json(`${solve.links.solutions}?offset=0&limit=${LISTED}`, {signal});
  if (signal.aborted) return;
  set({solutions: page.solutions});
  await stepTo(at, {silent: true});
}

const pictures = new Map();
const KEPT_PICTURES = 64;

async function pictureOf(solve, at) {
  const path = `${solve.links.picture}?solution=${at}`;
  if (!pictures.has(path)) {
    if (pictures.size > KEPT_PICTURES) pictures.clear();
    pictures.set(path, await text(path, {signal: turn.signal}));
  }
  return pictures.get(path);
}

/** Show another solution, by its place in the list. */
export async function stepTo(wanted, {silent = false} = {}) {
  const solve = lister();
  const last = solutionCount() - 1;
  if (!solve || last < 0) return;
  const at = Math.min(Math.max(0, wanted), last);
  set({at});
  const signal = turn.signal;
  await attempt(signal, async () => {
    const solutionPicture = gameOf(solve.game)?.has_pictures === false ? "" : await pictureOf(solve, at);
    if (signal.aborted || state.at !== at) return;
    set({solutionPicture});
    if (!silent) {
      say(`Solution ${at + 1} of ${last + 1}`);
      go({solve: solve.id, solution: at || undefined}, {instead: true});
    }
  });
}

/** Local state of a solve that continues for other clients. */
const LEFT = "left";

/** Cancel the running solve; it continues if other clients want it. */
export async function cancel() {
  const solve = state.solve;
  if (!solve || isOver(solve)) return;
  try {
    const now = await json(solve.links.self, {method: "DELETE"});
    newTurn();
    const ended = isOver(now) ? now : {...now, state: LEFT};
    set({solve: ended, busy: false});
    say(sentence(ended));
    lookSoon();
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    set({problem: error});
  }
}
