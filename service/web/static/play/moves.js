// A game that is played: the moves, what the service says of them, and what a hint shows.
import {json, Problem} from "../api.js";
import {address, go, writeMoves} from "../address.js";
import {question, say, set, state} from "../session.js";
import {asSentence, inWords} from "../words.js";

const SAYS = {
  open: "So far so good: a solution has these moves.",
  dead: "This leads nowhere: no solution has these moves. That is proven.",
  unknown: "The solver did not find out in time whether this leads on.",
  solved: "Solved.",
};

const fresh = (moves = []) => ({moves, reply: null, hint: null, told: "", wrong: false, revealed: false});
let asked = new AbortController();

const change = (what) => state.play && set({play: {...state.play, ...what}});
const tell = (told, wrong = false) => { change({told, wrong}); say(told); };

/** Begin to play the board that is shown, or go on from moves of a shared address. */
export function begin(moves) {
  set({play: fresh(moves)});
  go({...address(), play: writeMoves(moves ?? [])}, {instead: moves !== undefined});
  look();
}

export function leave() {
  asked.abort();
  set({play: null});
  const {play: _play, ...place} = address();
  go(place);
}

/** Ask the service what the moves lead to; a move that is not allowed is taken back. */
export async function look(before = null) {
  asked.abort();
  asked = new AbortController();
  const {signal} = asked;
  const {moves} = state.play;
  const {ask: _ask, deadline_s: _deadline, ...body} = question();
  try {
    const reply = await json("/v1/hints", {method: "POST", body: {...body, moves}, signal});
    if (signal.aborted || state.play?.moves !== moves) return;
    change({reply});
    if (reply.state === "solved") tell(state.play.revealed ? "This is a solution." : SAYS.solved);
    return reply;
  } catch (error) {
    if (signal.aborted || !state.play) return;
    if (!(error instanceof Problem)) throw error;
    if (error.status === 422 && before) put(before);
    tell(asSentence(inWords(error.errors[0]?.detail ?? error.message)), true);
  }
}

function put(moves) {
  change({moves, reply: null, hint: null, told: "", wrong: false});
  go({...address(), play: writeMoves(moves)}, {instead: true});
}

/** Play moves in place of those that there are. */
export function play(moves) {
  const before = state.play.moves;
  put(moves);
  return look(moves.length > before.length ? before : null);
}

export const add = (move) => play([...state.play.moves, move]);
export const undo = () => { change({revealed: false}); play(state.play.moves.slice(0, -1)); };
export const again = () => { set({play: fresh()}); play([]); };
/** Say what is wrong with a move before it is made. */
export const refuse = (why) => tell(why, true);
/** Drop what was said of a wrong move: another one has begun. */
export const retry = () => { if (state.play.wrong) tell(""); };

const reply = async () => state.play.reply ?? look();

export async function check() {
  const now = await reply();
  if (now) tell(SAYS[now.state], now.state === "dead");
}

/** Show the next move; what is shown already is played. */
export async function hint(describe) {
  const {hint: shown} = state.play;
  if (shown) return add(shown);
  const now = await reply();
  if (!now) return;
  if (now.state !== "open") return tell(SAYS[now.state], now.state === "dead");
  change({hint: now.moves[0]});
  tell(describe(now.moves[0]));
}

/** Play what is left; from the beginning, where the moves lead nowhere. */
export async function reveal() {
  let now = await reply();
  if (now?.state === "dead") now = await play([]);
  if (!now) return;
  change({revealed: true});
  if (now.state === "open") play([...state.play.moves, ...now.moves]);
  else tell(SAYS[now.state]);
}
