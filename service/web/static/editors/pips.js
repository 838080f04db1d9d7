// Boards of Pips: cells are painted into regions, regions have a constraint, dominoes are chosen.
import {classes, html, useEffect, useRef, useState} from "../html.js";
import {plural} from "../format.js";
import {byCell, placeOf, useGrid} from "./grid.js";

const ROWS = 6;
const COLUMNS = 8;
const SIZE_MAX = 16;
const PIPS = 6;
const TINTS = 8;
const TARGETED = ["sum", "less", "greater"];
const TYPES = [
  ["empty", "anything"],
  ["sum", "sum of"],
  ["less", "less than"],
  ["greater", "greater than"],
  ["equals", "all equal"],
  ["unequal", "all different"],
];
const SIGNS = {empty: "", equals: "=", unequal: "≠", less: "<", greater: ">", sum: ""};
const DOTS = [
  [], [[0, 0]], [[-1, -1], [1, 1]], [[-1, -1], [0, 0], [1, 1]], [[-1, -1], [-1, 1], [1, -1], [1, 1]],
  [[-1, -1], [-1, 1], [0, 0], [1, -1], [1, 1]], [[-1, -1], [-1, 1], [0, -1], [0, 1], [1, -1], [1, 1]],
];
const SET = Array.from({length: PIPS + 1}, (_, a) => Array.from({length: PIPS + 1 - a}, (_, b) => [a, a + b])).flat();
const ERASER = -1;

const newRegion = () => ({type: "sum", target: ""});
const empty = () => ({rows: ROWS, columns: COLUMNS, of: {}, regions: [newRegion()], current: 0, dominoes: []});

const isCell = (value) => Array.isArray(value) && value.length === 2 && value.every((n) => Number.isInteger(n) && n >= 0 && n < 200);

const isDomino = (value) => Array.isArray(value) && value.length === 2;
const ordered = ([a, b]) => (a <= b ? [a, b] : [b, a]);

/** Read what can be shown of a puzzle, valid or not. */
function fromPuzzle(puzzle) {
  const given = Array.isArray(puzzle?.regions) ? puzzle.regions : [];
  const of = {};
  given.forEach((region, i) => (Array.isArray(region?.indices) ? region.indices : []).filter(isCell).forEach(([r, c]) => { of[`${r},${c}`] = i; }));
  const places = Object.keys(of).map((cell) => cell.split(",").map(Number));
  const dominoes = (Array.isArray(puzzle?.dominoes) ? puzzle.dominoes : []).filter(isDomino);
  return {
    rows: Math.max(1, ...places.map(([r]) => r + 1)),
    columns: Math.max(1, ...places.map(([, c]) => c + 1)),
    of,
    regions: given.length ? given.map((region) => ({type: region?.type ?? "empty", target: region?.target ?? ""})) : empty().regions,
    current: 0,
    dominoes: dominoes.map(ordered),
  };
}

const cellsOf = (model, i) =>
  Object.keys(model.of).filter((cell) => model.of[cell] === i)
    .map((cell) => cell.split(",").map(Number)).sort(([a, b], [c, d]) => a - c || b - d);

function toPuzzle(model) {
  const regions = model.regions
    .map(({type, target}, i) => ({indices: cellsOf(model, i), type, ...(TARGETED.includes(type) ? {target: Number(target)} : {})}))
    .filter(({indices}) => indices.length);
  return regions.length ? {dominoes: model.dominoes, regions} : null;
}

function check(model) {
  const faults = [];
  const cells = Object.keys(model.of);
  if (!cells.length) return [{detail: "Paint the cells of the board to begin.", open: true}];
  if (cells.length % 2) faults.push({detail: `${plural(cells.length, "cell")}; dominoes need an even number.`, field: "board", open: true});
  model.regions.forEach(({type, target}, i) => {
    const painted = cellsOf(model, i);
    if (painted.length && TARGETED.includes(type) && !/^\d+$/.test(String(target))) {
      faults.push({detail: target === "" ? `Region ${i + 1} needs a number.` : `“${target}” in region ${i + 1} is no number.`, field: "region", cells: painted.map((cell) => cell.join(",")), open: target === ""});
    }
  });
  for (const cell of cells) {
    const [r, c] = cell.split(",").map(Number);
    const beside = [[r - 1, c], [r + 1, c], [r, c - 1], [r, c + 1]];
    if (!beside.some((place) => place.join(",") in model.of)) {
      faults.push({detail: "A single cell cannot hold a domino.", cells: [cell], soft: true});
    }
  }
  const wanted = Math.floor(cells.length / 2);
  if (cells.length % 2 === 0 && model.dominoes.length !== wanted) {
    faults.push({detail: `${model.dominoes.length} of ${wanted} dominoes chosen.`, field: "dominoes", open: true});
  }
  return faults;
}

/** Find the cells or the domino of a fault; for a region, all its cells. */
function locate([key, i, part, j], puzzle) {
  if (key === "dominoes") {
    const domino = puzzle?.dominoes?.[Number(i)];
    return {field: "dominoes", domino: isDomino(domino) ? ordered(domino) : null};
  }
  const indices = puzzle?.regions?.[Number(i)]?.indices;
  if (key !== "regions" || !Array.isArray(indices)) return {field: "board"};
  const chosen = part === "indices" && j !== undefined ? [indices[Number(j)]] : indices;
  return {cells: chosen.filter(isCell).map((cell) => cell.join(",")), field: "region"};
}

export const markOf = ({type, target}) => (type === "empty" ? "" : `${SIGNS[type] ?? type}${TARGETED.includes(type) ? target : ""}`);
export const spokenMark = ({type, target}) => `${TYPES.find(([name]) => name === type)?.[1] ?? type}${TARGETED.includes(type) ? ` ${target}` : ""}`;
export const tintOf = (i, {type}) => (type === "empty" ? "tint-0" : `tint-${(i % TINTS) + 1}`);

function Board({model, change, faults, locked}) {
  const {rows, columns, of, regions, current} = model;
  const grid = useGrid(rows, columns);
  const brush = useRef(null);
  const latest = useRef(model);
  latest.current = model;
  const wrong = byCell(faults);
  const paint = (cell, with_) => {
    const now = latest.current;
    if (locked || now.of[cell] === with_) return;
    const {[cell]: _before, ...others} = now.of;
    const next = {...now, of: with_ === undefined ? others : {...others, [cell]: with_}};
    latest.current = next;
    change(next);
  };
  useEffect(() => {
    const lift = () => { brush.current = null; };
    addEventListener("pointerup", lift);
    return () => removeEventListener("pointerup", lift);
  }, []);
  const press = (event, cell) => {
    if (locked) return;
    event.preventDefault();
    event.currentTarget.focus();
    // A touch captures the pointer, so the cells below it would get no events.
    if (event.target.hasPointerCapture(event.pointerId)) event.target.releasePointerCapture(event.pointerId);
    // A second press on a cell of the same region removes it.
    brush.current = {with: current === ERASER || of[cell] === current ? undefined : current};
    paint(cell, brush.current.with);
  };
  const drag = (event) => {
    if (!brush.current) return;
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest("[data-at]");
    if (under) paint(under.dataset.at, brush.current.with);
  };
  const keys = (event) => {
    if (grid.onKeyDown(event) || locked) return;
    const cell = placeOf(event.target).join(",");
    if (event.key === " " || event.key === "Enter") paint(cell, current === ERASER || of[cell] === current ? undefined : current);
    else if (event.key === "Delete" || event.key === "Backspace") paint(cell, undefined);
    else if (/^[1-9]$/.test(event.key) && regions[Number(event.key) - 1]) change({...model, current: Number(event.key) - 1});
    else return;
    event.preventDefault();
  };
  const firsts = new Set(regions.map((_, i) => cellsOf(model, i)[0]?.join(",")));
  return html`
    <div class=${classes("pips-grid", locked && "is-locked")} role="grid" aria-label="Board" aria-readonly=${locked}
      ref=${grid.table} onKeyDown=${keys} onPointerMove=${drag} style=${{"--columns": columns}}>
      ${Array.from({length: rows}, (_, r) => html`
        <div role="row" key=${r}>${Array.from({length: columns}, (_, c) => {
          const cell = `${r},${c}`;
          const i = of[cell];
          const region = i === undefined ? null : regions[i];
          const walls = [[r - 1, c, "t"], [r, c + 1, "r"], [r + 1, c, "b"], [r, c - 1, "l"]]
            .filter(([y, x]) => i !== undefined && of[`${y},${x}`] !== i).map(([, , side]) => `wall-${side}`);
          const says = region ? `region ${i + 1}, ${spokenMark(region)}` : "off the board";
          const mark = region && firsts.has(cell) ? markOf(region) : "";
          return html`
            <button type="button" role="gridcell" key=${c} ...${grid.cell(r, c)} aria-selected=${region !== null}
              aria-invalid=${wrong.has(cell)} title=${wrong.get(cell)}
              class=${classes("pips-cell", region && tintOf(i, region), ...walls, wrong.has(cell) && "is-wrong", i === current && "is-current")}
              aria-label=${`row ${r + 1}, column ${c + 1}, ${says}${wrong.has(cell) ? `: ${wrong.get(cell)}` : ""}`}
              onPointerDown=${(event) => press(event, cell)}>
              ${mark && html`<span class="mark">${mark}</span>`}
            </button>`;
        })}</div>`)}
    </div>`;
}

function Regions({model, change, faults}) {
  const {regions, current} = model;
  const region = regions[current];
  const alter = (what) => change({...model, regions: regions.map((one, i) => (i === current ? {...one, ...what} : one))});
  const add = () => change({...model, regions: [...regions, newRegion()], current: regions.length});
  return html`
    <div class="regions">
      <div class="swatches" role="radiogroup" aria-label="Paint with">
        ${regions.map((one, i) => html`
          <label key=${i} class=${classes("swatch", tintOf(i, one), i === current && "is-chosen")} title=${`Region ${i + 1}`}>
            <input type="radio" name="region" checked=${i === current} onChange=${() => change({...model, current: i})} aria-label=${`Region ${i + 1}, ${spokenMark(one)}`} />
            <span aria-hidden="true">${markOf(one) || "·"}</span>
          </label>`)}
        <label class=${classes("swatch", "eraser", current === ERASER && "is-chosen")} title="Remove cells from the board">
          <input type="radio" name="region" checked=${current === ERASER} onChange=${() => change({...model, current: ERASER})} aria-label="Off the board" />
          <span aria-hidden="true">×</span>
        </label>
        <button type="button" class="swatch add" onClick=${add} aria-label="New region" title="New region">+</button>
      </div>
      ${region && html`
        <div class="constraint">
          <label><span class="unseen">Constraint of region ${current + 1}</span>
            <select value=${region.type} onChange=${(event) => alter({type: event.target.value})}>
              ${TYPES.map(([name, title]) => html`<option key=${name} value=${name}>${title}</option>`)}
            </select>
          </label>
          ${TARGETED.includes(region.type) && html`
            <label><span class="unseen">Number of region ${current + 1}</span>
              <input class="target" inputmode="numeric" value=${region.target} aria-invalid=${faults.some(({field, open}) => field === "region" && !open)}
                onInput=${(event) => alter({target: event.target.value.trim()})} />
            </label>`}
        </div>`}
    </div>`;
}

/** A placed domino, or half of one: its pips as dots, or as numbers beyond six. */
export function Domino({pips}) {
  const half = (n, x) => (DOTS[n]
    ? DOTS[n].map(([dx, dy], i) => html`<circle key=${i} cx=${x + 4.2 * dx} cy=${10 + 4.2 * dy} r="1.5" />`)
    : html`<text x=${x} y="10" dy="0.36em">${n}</text>`);
  if (pips.length === 1) return html`<svg class="domino-face" viewBox="0 0 20 20" aria-hidden="true">${half(pips[0], 10)}</svg>`;
  return html`
    <svg class="domino-face" viewBox="0 0 40 20" aria-hidden="true">
      <rect x="0.75" y="0.75" width="38.5" height="18.5" rx="4.5" /><path d="M20 3.5v13" />${half(pips[0], 10)}${half(pips[1], 30)}
    </svg>`;
}

const said = (detail) => (detail ? `: ${detail}` : "");
const same = ([a, b]) => ([c, d]) => a === c && b === d;

function Dominoes({model, change, faults, locked}) {
  const {dominoes} = model;
  const [typed, type] = useState("");
  const wanted = Math.floor(Object.keys(model.of).length / 2);
  const counts = SET.map((one) => dominoes.filter(same(one)).length);
  const odd = dominoes.filter((one) => !SET.some(same(one)));
  const wrongOf = (one) => faults.find(({domino}) => domino && same(one)(domino))?.detail;
  const add = (one) => change({...model, dominoes: [...dominoes, one]});
  const drop = (one) => {
    const at = dominoes.findIndex(same(one));
    if (at >= 0) change({...model, dominoes: dominoes.filter((_, i) => i !== at)});
  };
  const keys = (event, one) => {
    if (event.key === "+") add(one);
    else if (event.key === "-") drop(one);
    else return;
    event.preventDefault();
  };
  const send = (event) => {
    event.preventDefault();
    const [, a, b] = /^\s*(\d{1,9})\s*[-|,: ]\s*(\d{1,9})\s*$/.exec(typed) || [];
    if (a === undefined) return;
    add([Number(a), Number(b)].sort((x, y) => x - y));
    type("");
  };
  return html`
    <div class=${classes("domino-set", faults.some(({field}) => field === "dominoes") && "is-short")}>
      <p class="tally"><b>${dominoes.length}</b> of ${plural(wanted, "domino", "dominoes")}</p>
      <div class="domino-grid">${SET.map((one, i) => html`
        <button type="button" key=${one.join("-")} disabled=${locked} aria-pressed=${counts[i] > 0}
          class=${classes("domino", counts[i] && "is-chosen", wrongOf(one) && "is-wrong")}
          aria-label=${`${one.join("-")}${counts[i] > 1 ? `, ${counts[i]} times` : ""}${said(wrongOf(one))}`} title=${wrongOf(one) ?? "Press + or - for more than one"}
          onClick=${() => (counts[i] ? drop(one) : add(one))} onKeyDown=${(event) => keys(event, one)}>
          <${Domino} pips=${one} />${counts[i] > 1 && html`<span class="times">${counts[i]}</span>`}
        </button>`)}
        ${odd.map((one, i) => html`
          <button type="button" key=${`odd-${i}`} disabled=${locked} class=${classes("domino is-chosen", wrongOf(one) && "is-wrong")} title=${wrongOf(one)}
            aria-label=${`Remove ${one.join("-")}${said(wrongOf(one))}`} onClick=${() => drop(one)}>
            <${Domino} pips=${one} /></button>`)}
      </div>
      ${!locked && html`
        <form class="typed" onSubmit=${send}>
          <label for="domino">another</label>
          <input id="domino" placeholder="7-9" value=${typed} onInput=${(event) => type(event.target.value)} />
        </form>`}
    </div>`;
}

function View(given) {
  return html`
    <div class="pips-editor">
      <${Board} ...${given} />
      ${!given.locked && html`<${Regions} ...${given} />`}
      <${Dominoes} ...${given} />
    </div>`;
}

const Help = () => html`
  <ul class="help">
    <li>Choose a region and paint its cells; a second click removes a cell.</li>
    <li>Give the region its constraint, then choose the dominoes.</li>
    <li>Keys: arrows to move, <kbd>Space</kbd> to paint, <kbd>1</kbd>–<kbd>9</kbd> for a region.</li>
  </ul>`;

export const pips = {empty, fromPuzzle, toPuzzle, check, locate, View, Help, size: {max: SIZE_MAX}};
