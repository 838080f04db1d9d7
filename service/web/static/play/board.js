// The board of a game that is played, and what can be done with it.
import {classes, html, useEffect} from "../html.js";
import {useSession} from "../session.js";
import {again, check, hint, leave, look, reveal, undo} from "./moves.js";
import {letterboxed} from "./letterboxed.js";
import {pips} from "./pips.js";
import {strands} from "./strands.js";
import {tiles} from "./tiles.js";

const PLAYS = {letterboxed, pips, strands, tiles};

/** Tell whether a board can be played here. */
export const canPlay = (board) => Boolean(board && PLAYS[board.game]?.reads(board.puzzle));

export function PlayBoard() {
  const {board, play} = useSession();
  const {moves, hint, reply, told, wrong, revealed} = play;
  const {View, how} = PLAYS[board.game];
  const done = reply?.state === "solved";
  return html`
    <div class="play">
      <div class="play-says">
        <p class=${classes(told && "is-over")}>${how}</p>
        <p class=${classes("play-told", wrong && "is-wrong", done && !revealed && "is-solved")} role="status">${told}</p>
      </div>
      <${View} puzzle=${board.puzzle} moves=${moves} hint=${hint} done=${done} />
    </div>`;
}

/** What stands beside the board: how far it is, check, hint, reveal. */
export function PlayPanel() {
  const {board, play} = useSession();
  const {moves, reply, told} = play;
  const game = PLAYS[board.game];
  const solved = reply?.state === "solved";
  useEffect(() => { if (!reply && !told) look(); }, [board]);
  return html`
    <section class="answer playing" aria-label="Play">
      <div class="play-head">
        <p class="count size-2">${game.tally(board.puzzle, moves)}</p>
        <p class="verdict">${game.unit(board.puzzle, moves)}</p>
      </div>
      <div class="play-keys">
        <button class="button" type="button" disabled=${solved || !moves.length} onClick=${check}>Check</button>
        <button class="button plain" type="button" disabled=${solved} onClick=${() => hint((move) => game.describe(move, board.puzzle))}>${play.hint ? "Play the hint" : "Hint"}</button>
        <button class="button plain" type="button" disabled=${!moves.length} onClick=${undo}>Undo</button>
        <button class="button plain" type="button" disabled=${solved} onClick=${reveal}>Reveal</button>
      </div>
      <div class="play-links">
        <button class="link" type="button" disabled=${!moves.length} onClick=${again}>start again</button>
        <button class="link" type="button" onClick=${leave}>back to the solver</button>
      </div>
    </section>`;
}
