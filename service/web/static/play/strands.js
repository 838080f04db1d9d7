// Strands is played: words are traced letter by letter, with a finger, the mouse or the arrow keys.
import {classes, html, useEffect, useRef, useState} from "../html.js";
import {placeOf, useGrid} from "../editors/grid.js";
import {add, play, refuse} from "./moves.js";

const at = ([r, c]) => `${r},${c}`;
const touches = ([r, c], [s, d]) => Math.max(Math.abs(r - s), Math.abs(c - d)) === 1;
const TINTS = 8;
const LETTERS_MIN = 4;

/** Tell whether a path touches two opposite sides. */
const spans = (path, rows, columns) =>
  (path.some(([r]) => r === 0) && path.some(([r]) => r === rows - 1)) || (path.some(([, c]) => c === 0) && path.some(([, c]) => c === columns - 1));
const spelled = (path, board) => path.map(([r, c]) => [...board[r]][c]).join("");

function Lines({paths, rows, columns}) {
  return html`
    <svg class="strands-lines" viewBox=${`0 0 ${columns} ${rows}`} preserveAspectRatio="none" aria-hidden="true">
      ${paths.map(({path, pen}, i) => html`<polyline key=${i} class=${pen} points=${path.map(([r, c]) => `${c + 0.5},${r + 0.5}`).join(" ")} />`)}
    </svg>`;
}

function View({puzzle, moves, hint, done}) {
  const {board} = puzzle;
  const rows = board.length;
  const columns = [...board[0]].length;
  const grid = useGrid(rows, columns);
  const [path, trace] = useState([]);
  const live = useRef([]);
  const drag = useRef(null);
  live.current = path;
  const owner = new Map(moves.flatMap((move, i) => move.map((cell) => [at(cell), i])));
  const shown = new Set((hint ?? []).map(at));
  const pen = (move, i) => (spans(move, rows, columns) ? "is-gold" : `tint-${(i % TINTS) + 1}`);
  const draw = (next) => { live.current = next; trace(next); };

  const step = (cell) => {
    const now = live.current;
    const seen = now.findIndex((one) => at(one) === at(cell));
    if (seen >= 0) return draw(now.slice(0, seen + 1));
    if (owner.has(at(cell))) return;
    draw(now.length && !touches(now.at(-1), cell) ? [cell] : [...now, cell]);
  };
  const end = () => {
    const now = live.current;
    draw([]);
    if (now.length >= LETTERS_MIN) add(now);
    else if (now.length > 1) refuse(`${spelled(now, board)} is too short: a word has ${LETTERS_MIN} letters or more.`);
  };
  const press = (event, cell) => {
    event.target.releasePointerCapture?.(event.pointerId);
    const mine = owner.get(at(cell));
    if (mine !== undefined) return play(moves.filter((_, i) => i !== mine));
    const last = live.current.at(-1);
    // A press on the last letter ends a word that is tapped letter by letter.
    if (last && at(last) === at(cell)) return end();
    drag.current = {moved: false};
    step(cell);
  };
  const move = (event) => {
    if (!drag.current) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-at]");
    if (!under) return;
    const cell = placeOf(under);
    const box = under.getBoundingClientRect();
    // Only near its middle: a diagonal passes the corners of two other letters.
    const off = Math.hypot(event.clientX - box.x - box.width / 2, event.clientY - box.y - box.height / 2) / box.width;
    if (off > 0.42 || at(cell) === at(live.current.at(-1) ?? [-1, -1])) return;
    if (live.current.length && !touches(live.current.at(-1), cell) && !live.current.some((one) => at(one) === at(cell))) return;
    drag.current.moved = true;
    step(cell);
  };
  useEffect(() => {
    const lift = () => {
      const was = drag.current;
      drag.current = null;
      if (was?.moved) end();
    };
    addEventListener("pointerup", lift);
    return () => removeEventListener("pointerup", lift);
  });
  const keys = (event) => {
    if (grid.onKeyDown(event)) return;
    if (event.key === " ") step(placeOf(event.target));
    else if (event.key === "Enter") end();
    else if (event.key === "Backspace") draw(path.slice(0, -1));
    else if (event.key === "Escape") draw([]);
    else return;
    event.preventDefault();
  };
  const lines = [...moves.map((one, i) => ({path: one, pen: pen(one, i)})), {path, pen: "is-live"}];
  return html`
    <div class="play-strands">
      <p class="spelling" aria-live="polite">${path.length ? spelled(path, board) : html`<span class="quiet">${done ? "" : "trace a word"}</span>`}</p>
      <div class="letters" role="grid" aria-label="Letters" ref=${grid.table} onKeyDown=${keys} onPointerMove=${move} style=${{"--columns": columns, "--rows": rows}}>
        <${Lines} paths=${lines} rows=${rows} columns=${columns} />
        ${Array.from({length: rows}, (_, r) => html`<div role="row" key=${r}>${[...board[r]].map((letter, c) => {
          const mine = owner.get(`${r},${c}`);
          const traced = path.findIndex((cell) => at(cell) === `${r},${c}`);
          const says = mine !== undefined ? `in ${spelled(moves[mine], board)}` : traced >= 0 ? `letter ${traced + 1} of the word` : shown.has(`${r},${c}`) ? "hint" : "free";
          return html`
            <button type="button" role="gridcell" key=${c} ...${grid.cell(r, c)} aria-label=${`${letter}, row ${r + 1}, column ${c + 1}, ${says}`} aria-selected=${traced >= 0}
              class=${classes("letter", mine !== undefined && pen(moves[mine], mine), traced >= 0 && "is-live", shown.has(`${r},${c}`) && "is-hint")}
              onPointerDown=${(event) => press(event, [r, c])}>${letter}</button>`;
        })}</div>`)}
      </div>
      <ul class="words" aria-label="Words">${moves.map((one, i) => html`
        <li key=${i}><button class=${`word ${pen(one, i)}`} type="button" title="Take it back" onClick=${() => play(moves.filter((other) => other !== one))}>${spelled(one, board)}<span aria-hidden="true"> ×</span></button></li>`)}
      </ul>
    </div>`;
}

export const strands = {
  View,
  reads: (puzzle) => Array.isArray(puzzle?.board) && puzzle.board.every((row) => typeof row === "string"),
  tally: ({theme_words: words}, moves) => (words ? Math.max(0, words + 1 - moves.length) : moves.length),
  unit: ({theme_words: words}, moves) => (words ? `${words + 1 - moves.length === 1 ? "word" : "words"} to find` : "words found"),
  how: "Draw along the letters of a word, or press them one by one and the last one twice. Press a word that is found to take it back.",
  describe: (move) => `One word has these ${move.length} letters.`,
};
