// Pips is played: a domino is chosen, then its two cells are pressed, or drawn across.
import {classes, html, useEffect, useRef, useState} from "../html.js";
import {Domino, markOf, spokenMark, tintOf} from "../editors/pips.js";
import {placeOf, useGrid} from "../editors/grid.js";
import {add, play, refuse, retry} from "./moves.js";

const same = (a, b) => Math.min(...a) === Math.min(...b) && Math.max(...a) === Math.max(...b);
const at = ([r, c]) => `${r},${c}`;
const isBeside = ([r, c], [s, d]) => Math.abs(r - s) + Math.abs(c - d) === 1;

/** The dominoes that are not placed. */
function leftOf(puzzle, moves) {
  const left = [...puzzle.dominoes];
  for (const [, , a, b] of moves) left.splice(left.findIndex((one) => same(one, [a, b])), 1);
  return left;
}

function View({puzzle, moves, hint, done}) {
  const cells = new Map(puzzle.regions.flatMap((region, i) => region.indices.map((cell) => [at(cell), i])));
  const places = [...cells.keys()].map((cell) => cell.split(",").map(Number));
  const top = Math.min(...places.map(([r]) => r));
  const edge = Math.min(...places.map(([, c]) => c));
  const rows = Math.max(...places.map(([r]) => r)) - top + 1;
  const columns = Math.max(...places.map(([, c]) => c)) - edge + 1;
  const grid = useGrid(rows, columns);
  const [chosen, choose] = useState(null);
  const [first, begin] = useState(null);
  const pressed = useRef(null);
  useEffect(() => { begin(null); }, [moves, hint]);
  const left = leftOf(puzzle, moves);
  const hand = chosen && left.some((one) => same(one, chosen)) ? chosen : null;
  const placed = new Map(moves.flatMap((move) => [[at(move[0]), {move, pips: move[2], to: move[1]}], [at(move[1]), {move, pips: move[3], to: move[0]}]]));
  const shown = new Map(hint ? [[at(hint[0]), hint[2]], [at(hint[1]), hint[3]]] : []);
  const marks = new Map(puzzle.regions.map((region) => [at([...region.indices].sort(([a, b], [c, d]) => a - c || b - d)[0]), region]));

  const place = (one, other) => {
    begin(null);
    if (!hand) return refuse("Choose a domino first.");
    add([...(at(one) < at(other) || one[0] < other[0] ? [one, other, ...hand] : [other, one, hand[1], hand[0]])]);
    choose(null);
  };
  const press = (cell) => {
    const there = placed.get(at(cell));
    if (there) {
      choose([there.pips, there.pips === there.move[2] ? there.move[3] : there.move[2]]);
      begin(null);
      return play(moves.filter((move) => move !== there.move));
    }
    if (first && at(first) === at(cell)) return begin(null);
    if (first && isBeside(first, cell)) return place(first, cell);
    if (!hand) return refuse("Choose a domino first.");
    if (first) refuse("These two cells are not next to each other.");
    else retry();
    begin(cell);
  };
  const lift = (event) => {
    const from = pressed.current;
    pressed.current = null;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-cell]");
    if (!from || !under) return;
    const cell = under.dataset.cell.split(",").map(Number);
    if (at(cell) === at(from)) return press(cell);
    if (isBeside(from, cell) && !placed.has(at(from)) && !placed.has(at(cell))) place(from, cell);
  };
  const keys = (event) => {
    if (grid.onKeyDown(event)) return;
    if (event.key !== " " && event.key !== "Enter") return;
    const cell = event.target.closest("[data-cell]")?.dataset.cell;
    if (cell) press(cell.split(",").map(Number));
    event.preventDefault();
  };
  return html`
    <div class="play-pips">
      <div class="pips-grid" role="grid" aria-label="Board" ref=${grid.table} onKeyDown=${keys} onPointerUp=${lift} style=${{"--columns": columns}}>
        ${Array.from({length: rows}, (_, i) => html`<div role="row" key=${i}>${Array.from({length: columns}, (_, j) => {
          const [r, c] = [i + top, j + edge];
          const cell = at([r, c]);
          const region = cells.get(cell);
          if (region === undefined) return html`<span role="gridcell" key=${j} class="no-cell" ...${grid.cell(i, j)} aria-label="off the board"></span>`;
          const walls = [[r - 1, c, "t"], [r, c + 1, "r"], [r + 1, c, "b"], [r, c - 1, "l"]].filter(([y, x]) => cells.get(at([y, x])) !== region).map(([, , side]) => `wall-${side}`);
          const on = placed.get(cell);
          const side = on && {"-1,0": "t", "0,1": "r", "1,0": "b", "0,-1": "l"}[at([on.to[0] - r, on.to[1] - c])];
          const one = puzzle.regions[region];
          const says = on ? `${on.pips} pips` : shown.has(cell) ? `hint: ${shown.get(cell)} pips` : "free";
          return html`
            <button type="button" role="gridcell" key=${j} ...${grid.cell(i, j)} data-cell=${cell} aria-selected=${first !== null && at(first) === cell}
              class=${classes("pips-cell", tintOf(region, one), ...walls, first && at(first) === cell && "is-first", shown.has(cell) && "is-hint", done && "is-done")}
              aria-label=${`row ${r + 1}, column ${c + 1}, ${spokenMark(one)}, ${says}`}
              onPointerDown=${(event) => { pressed.current = [r, c]; event.target.releasePointerCapture?.(event.pointerId); }}>
              ${on ? html`<span class=${`half to-${side}`}><${Domino} pips=${[on.pips]} /></span>` : shown.has(cell) && html`<span class="half is-shown"><${Domino} pips=${[shown.get(cell)]} /></span>`}
              ${marks.get(cell) && markOf(one) && html`<span class="mark">${markOf(one)}</span>`}
            </button>`;
        })}</div>`)}
      </div>
      <div class="tray" role="group" aria-label="Dominoes">
        ${left.map((one, i) => html`
          <button type="button" key=${i} class=${classes("domino is-chosen", hand && same(one, hand) && "in-hand")} aria-pressed=${Boolean(hand && same(one, hand))}
            aria-label=${(hand && same(one, hand) ? hand : one).join("-")} title="Press again to turn it round"
            onClick=${() => { choose(hand && same(one, hand) ? [hand[1], hand[0]] : one); retry(); }}>
            <${Domino} pips=${hand && same(one, hand) ? hand : one} /></button>`)}
      </div>
    </div>`;
}

export const pips = {
  View,
  reads: (puzzle) => Array.isArray(puzzle?.regions) && Array.isArray(puzzle?.dominoes),
  tally: (puzzle, moves) => puzzle.dominoes.length - moves.length,
  unit: (puzzle, moves) => (puzzle.dominoes.length - moves.length === 1 ? "domino to place" : "dominoes to place"),
  how: "Choose a domino, then press its two cells, or draw across them. Press a domino in the tray again to turn it round.",
  describe: ([[r, c], , a, b]) => `The domino ${a}-${b} lies at row ${r + 1}, column ${c + 1}.`,
};
