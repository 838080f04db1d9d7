// Boards of Tiles: each tile is a list of features, such as A1 B4 C2. A board can be dealt.
import {classes, html} from "../html.js";
import {byCell, useGrid} from "./grid.js";

const COLUMNS = 6;
const TILES = 18;
const TILES_MAX = 120;
const LAYERS = "ABC";
const SHAPES = 5;

const empty = () => ({tiles: Array(TILES).fill("")});

/** Deal a board that may have a solution: every shape is on an even number of tiles. */
export function deal(count, random = Math.random) {
  const tiles = Array.from({length: count}, () => []);
  for (const layer of LAYERS) {
    const shapes = Array.from({length: count}, (_, i) => `${layer}${1 + (Math.floor(i / 2) % SHAPES)}`);
    for (let i = count - 1; i > 0; i--) {
      const j = Math.floor(random() * (i + 1));
      [shapes[i], shapes[j]] = [shapes[j], shapes[i]];
    }
    shapes.forEach((shape, i) => tiles[i].push(shape));
  }
  return {tiles: tiles.map((tile) => tile.join(" "))};
}

/** Parse our own form, and that of the game's page. */
function fromPuzzle(puzzle) {
  const own = Array.isArray(puzzle?.tiles) ? puzzle.tiles : [];
  const paged = Array.isArray(puzzle?.board) ? puzzle.board.map((tile) => (tile?.layers ?? []).filter((layer) => !layer?.hidden).map((layer) => layer?.id)) : [];
  return {tiles: (own.length ? own : paged).map((tile) => (Array.isArray(tile) ? tile : []).join(" "))};
}

const features = (text) => text.split(/[\s,]+/).filter(Boolean);
const filled = (model) => model.tiles.map(features);

function toPuzzle(model) {
  const tiles = filled(model);
  const last = tiles.findLastIndex((tile) => tile.length);
  return last < 0 ? null : {tiles: tiles.slice(0, last + 1)};
}

function check(model) {
  const tiles = filled(model);
  if (!tiles.some((tile) => tile.length)) return [{detail: "Type the features of the tiles, or deal a board.", open: true}];
  const faults = tiles.flatMap((tile, i) => {
    const twice = tile.find((feature, j) => tile.indexOf(feature) !== j);
    return twice ? [{detail: `${twice} is twice on tile ${i + 1}.`, cells: [place(i)]}] : [];
  });
  const counts = new Map();
  tiles.flat().forEach((feature) => counts.set(feature, (counts.get(feature) ?? 0) + 1));
  const lone = [...counts].filter(([, times]) => times === 1).map(([feature]) => feature);
  if (lone.length) {
    const cells = tiles.flatMap((tile, i) => (tile.some((feature) => lone.includes(feature)) ? [place(i)] : []));
    faults.push({detail: `${lone.slice(0, 3).join(", ")}: on one tile alone, so it is never cleared.`, cells, soft: true});
  }
  return faults;
}

const place = (i) => `${Math.floor(i / COLUMNS)},${i % COLUMNS}`;
const locate = ([key, i]) => (["tiles", "board"].includes(key) && i !== undefined ? {cells: [place(Number(i))]} : {field: "board"});

function View({model, change, faults, locked}) {
  const {tiles} = model;
  const rows = Math.ceil(tiles.length / COLUMNS);
  const grid = useGrid(rows, COLUMNS);
  const wrong = byCell(faults);
  const resized = (count) => change({tiles: Array.from({length: count}, (_, i) => tiles[i] ?? "")});
  const keys = (event) => {
    // Within a tile, left and right move through its text.
    if (event.key === "ArrowUp" || event.key === "ArrowDown") grid.onKeyDown(event);
  };
  return html`
    <div class="tiles-editor">
      <div class="tiles-grid" role="grid" aria-label="Tiles" ref=${grid.table} onKeyDown=${keys}>
        ${Array.from({length: rows}, (_, r) => html`
          <div role="row" key=${r}>${tiles.slice(r * COLUMNS, (r + 1) * COLUMNS).map((tile, c) => {
            const cell = `${r},${c}`;
            const i = r * COLUMNS + c;
            return html`
              <div role="gridcell" key=${c}>
                <input ...${{...grid.cell(r, c), tabIndex: 0}} value=${tile} readOnly=${locked} spellcheck=${false} autocomplete="off" title=${wrong.get(cell)}
                  class=${classes("tile-text", wrong.has(cell) && "is-wrong")} aria-invalid=${wrong.has(cell)}
                  aria-label=${`tile ${i + 1}${wrong.has(cell) ? `: ${wrong.get(cell)}` : ""}`}
                  onInput=${(event) => change({tiles: tiles.map((text, j) => (i === j ? event.target.value : text))})} />
              </div>`;
          })}</div>`)}
      </div>
      ${!locked && html`
        <div class="sizes">
          <button class="chip" type="button" onClick=${() => change(deal(tiles.length - (tiles.length % 2)))}>deal a board</button>
          <button class="link" type="button" disabled=${tiles.length <= 2} onClick=${() => resized(tiles.length - 2)}>two tiles fewer</button>
          <button class="link" type="button" disabled=${tiles.length >= TILES_MAX} onClick=${() => resized(tiles.length + 2)}>two tiles more</button>
        </div>`}
    </div>`;
}

const Help = () => html`
  <ul class="help">
    <li>A tile is a list of features, such as <code>A1 B4 C2</code>: a layer and a shape.</li>
    <li>Tiles that share a feature clear it one after the other. <b>Deal a board</b> fills them at random.</li>
  </ul>`;

export const tiles = {empty, fromPuzzle, toPuzzle, check, locate, View, Help};
