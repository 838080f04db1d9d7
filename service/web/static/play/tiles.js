// Tiles is played: from tile to tile, each move clears what the two have in common.
import {classes, html} from "../html.js";
import {useGrid} from "../editors/grid.js";
import {add, play} from "./moves.js";

const COLUMNS = 6;
const SHAPE = /^#?(\p{L}{1,8})[-_ ]?(\d{1,4})$/u;
const LIGHT = [90, 80, 70];

/** The tint of each feature, as in the pictures: see service/games/tiles/view.py. */
function tintsOf({tiles: all}) {
  const names = [...new Set(all.flat())].sort();
  const layerOf = new Map(names.map((name) => [name, SHAPE.exec(name)?.[1]]));
  const layered = names.every((name) => layerOf.get(name)) && all.every((tile) => new Set(tile.map((name) => layerOf.get(name))).size === tile.length);
  const layers = layered ? [...new Set(layerOf.values())].sort() : [undefined];
  return new Map(layers.flatMap((layer, i) => {
    const group = layered ? names.filter((name) => layerOf.get(name) === layer).sort((a, b) => a.length - b.length) : names;
    return group.map((name, j) => [name, `hsl(${(360 * (j + i / layers.length)) / group.length} 55% ${LIGHT[Math.min(i, LIGHT.length - 1)]}%)`]);
  }));
}

/** The features that each tile has left after the moves, and whether the last one was a leap. */
export function playedOn(puzzle, moves) {
  const left = puzzle.tiles.map((tile) => new Set(tile));
  let shared = null;
  moves.slice(1).forEach((tile, i) => {
    const [before, here] = [left[moves[i]], left[tile]];
    shared = [...before].filter((feature) => here.has(feature));
    shared.forEach((feature) => { before.delete(feature); here.delete(feature); });
  });
  return {left, shared};
}

function View({puzzle, moves, hint, done}) {
  const {left} = playedOn(puzzle, moves);
  const rows = Math.ceil(puzzle.tiles.length / COLUMNS);
  const grid = useGrid(rows, COLUMNS);
  const here = moves.at(-1);
  const tints = tintsOf(puzzle);
  const near = (i) => here !== undefined && i !== here && [...left[i]].some((feature) => left[here].has(feature));
  const press = (i) => (i === here ? play(moves.slice(0, -1)) : add(i));
  const keys = (event) => { grid.onKeyDown(event); };
  return html`
    <div class="play-tiles" role="grid" aria-label="Tiles" ref=${grid.table} onKeyDown=${keys}>
      ${Array.from({length: rows}, (_, r) => html`<div role="row" key=${r}>${puzzle.tiles.slice(r * COLUMNS, (r + 1) * COLUMNS).map((tile, c) => {
        const i = r * COLUMNS + c;
        const has = [...left[i]];
        return html`
          <button type="button" role="gridcell" key=${c} ...${grid.cell(r, c)} disabled=${done} aria-selected=${i === here}
            class=${classes("play-tile", i === here && "is-here", near(i) && "is-near", i === hint && "is-hint", !has.length && "is-clear")}
            aria-label=${`tile ${i + 1}: ${has.join(" ") || "cleared"}${i === here ? ", you are here" : near(i) ? ", shares a feature" : ""}${i === hint ? ", hint" : ""}`}
            onClick=${() => press(i)}>
            ${tile.map((feature) => html`<span key=${feature} class=${classes("feature", !left[i].has(feature) && "is-gone", here !== undefined && left[here].has(feature) && i !== here && left[i].has(feature) && "is-shared")} style=${{background: tints.get(feature)}}>${feature}</span>`)}
          </button>`;
      })}</div>`)}
    </div>`;
}

const count = (puzzle, moves) => playedOn(puzzle, moves).left.reduce((sum, tile) => sum + tile.size, 0);

export const tiles = {
  View,
  reads: (puzzle) => Array.isArray(puzzle?.tiles) && puzzle.tiles.every(Array.isArray),
  tally: count,
  unit: (puzzle, moves) => `features to clear, ${Math.max(0, moves.length - 1)} ${moves.length === 2 ? "move" : "moves"} so far`,
  how: "Press a tile to begin, then one that shares a feature with it: what they share is cleared. Another tile is a leap. Press the last tile to take it back.",
  describe: (tile) => `Go on to tile ${tile + 1}.`,
};
