// Boards of Strands: letters are typed into a grid; clue, number of words and spangram if known.
import {classes, html, useRef} from "../html.js";
import {byCell, placeOf, useGrid} from "./grid.js";

const ROWS = 8;
const COLUMNS = 6;
const SIZE_MAX = 20;
const LETTER = /^\p{L}$/u;

const blank = (rows, columns) => Array.from({length: rows}, () => Array(columns).fill(""));
const empty = () => ({rows: ROWS, columns: COLUMNS, letters: blank(ROWS, COLUMNS), clue: "", count: "", spangram: ""});

function fromPuzzle(puzzle) {
  const given = [puzzle?.board, puzzle?.startingBoard].find(Array.isArray) ?? [];
  const rows = given.map((row) => [...String(row)].map((letter) => letter.toUpperCase()));
  const columns = Math.max(1, ...rows.map((row) => row.length));
  const letters = rows.map((row) => [...row, ...Array(columns - row.length).fill("")]);
  const count = puzzle?.theme_words ?? (Array.isArray(puzzle?.themeWords) ? puzzle.themeWords.length : "");
  const told = (value) => (typeof value === "string" ? value : "");
  return {rows: letters.length || 1, columns, letters: letters.length ? letters : blank(1, columns), clue: told(puzzle?.clue), count: String(count), spangram: told(puzzle?.spangram).toUpperCase()};
}

function toPuzzle(model) {
  if (!model.letters.flat().some(Boolean)) return null;
  const count = /^\d+$/.test(model.count) ? {theme_words: Number(model.count)} : {};
  return {board: model.letters.map((row) => row.join("")), ...count};
}

/** Find a way to spell a word from letter to neighbouring letter that touches two opposite sides. */
export function trace({rows, columns, letters}, word) {
  const spelled = [...word.toUpperCase()];
  const touches = (path) => {
    const at = (side) => path.some(side);
    return (at(([r]) => r === 0) && at(([r]) => r === rows - 1)) || (at(([, c]) => c === 0) && at(([, c]) => c === columns - 1));
  };
  const walk = (path) => {
    if (path.length === spelled.length) return touches(path) ? path : null;
    const [r, c] = path.at(-1);
    for (let dr = -1; dr <= 1; dr++) {
      for (let dc = -1; dc <= 1; dc++) {
        const [y, x] = [r + dr, c + dc];
        if (letters[y]?.[x] !== spelled[path.length] || path.some(([a, b]) => a === y && b === x)) continue;
        const found = walk([...path, [y, x]]);
        if (found) return found;
      }
    }
    return null;
  };
  for (let r = 0; r < rows; r++) {
    for (let c = 0; c < columns; c++) {
      const found = letters[r][c] === spelled[0] && walk([[r, c]]);
      if (found) return found;
    }
  }
  return null;
}

function check(model) {
  const cells = model.letters.flatMap((row, r) => row.map((letter, c) => [`${r},${c}`, letter]));
  const missing = cells.filter(([, letter]) => !letter);
  if (missing.length === cells.length) return [{detail: "Type the letters of the board to begin.", open: true}];
  const odd = cells.filter(([, letter]) => letter && !LETTER.test(letter));
  const faults = odd.map(([cell, letter]) => ({detail: `“${letter}” is no letter.`, cells: [cell]}));
  if (missing.length) {
    faults.push({detail: `${missing.length} ${missing.length === 1 ? "cell is" : "cells are"} empty.`, open: true});
  }
  if (model.count && !/^\d+$/.test(model.count)) faults.push({detail: "The number of theme words is a whole number.", field: "count", cells: []});
  if (!faults.length && model.spangram && !trace(model, model.spangram)) {
    faults.push({detail: "The spangram cannot be traced from one side to the opposite one.", field: "spangram", cells: [], soft: true});
  }
  return faults;
}

function locate([key, row], puzzle, detail) {
  const board = puzzle?.board ?? puzzle?.startingBoard;
  if (!["board", "startingBoard"].includes(key) || row === undefined) return {field: key === "theme_words" ? "count" : "board"};
  const letters = [...String(board?.[Number(row)] ?? "")];
  const [, column] = /column (\d+)/.exec(detail ?? "") || [];
  const columns = column === undefined ? letters.map((_, c) => c) : [Number(column)];
  return {cells: columns.map((c) => `${row},${c}`), field: "board"};
}

function Letters({model, change, faults, locked}) {
  const {rows, columns, letters} = model;
  const grid = useGrid(rows, columns);
  const wrong = byCell(faults);
  const traced = new Set((model.spangram ? trace(model, model.spangram) ?? [] : []).map(String));
  // Keys may arrive faster than the page is rendered.
  const latest = useRef(model);
  latest.current = model;
  const write = (r, c, typed) => {
    const next = latest.current.letters.map((row) => [...row]);
    let [y, x] = [r, c];
    for (const letter of typed) {
      if (y >= rows) break;
      next[y][x] = letter.toUpperCase();
      x += 1;
      if (x === columns) { x = 0; y += 1; }
    }
    latest.current = {...latest.current, letters: next};
    change(latest.current);
    if (typed.some(Boolean)) grid.to(Math.min(y, rows - 1), y >= rows ? columns - 1 : x);
  };
  const keys = (event) => {
    if (grid.onKeyDown(event) || locked) return;
    const [r, c] = placeOf(event.target);
    if (event.key !== "Backspace" && event.key !== "Delete") return;
    event.preventDefault();
    if (latest.current.letters[r][c] || event.key === "Delete") write(r, c, [""]);
    const back = event.key === "Backspace" ? [c ? r : Math.max(0, r - 1), c ? c - 1 : r ? columns - 1 : 0] : [r, c];
    grid.to(...back);
  };
  const typed = (event, r, c) => {
    // The newest letter replaces an earlier one.
    const text = [...event.target.value.replace(/\s/g, "")].filter((letter, i, all) => all.length === 1 || i > 0 || letter !== latest.current.letters[r][c]);
    if (text.length) write(r, c, text.slice(0, 1));
    else event.target.value = latest.current.letters[r][c];
  };
  const pasted = (event, r, c) => {
    event.preventDefault();
    const text = [...event.clipboardData.getData("text").replace(/[\s,"'[\]]/g, "")];
    if (text.length) write(r, c, text);
  };
  return html`
    <div class="strands-grid" role="grid" aria-label="Letters" ref=${grid.table} onKeyDown=${keys} style=${{"--columns": columns}}>
      ${letters.map((row, r) => html`
        <div role="row" key=${r}>${row.map((letter, c) => {
          const cell = `${r},${c}`;
          return html`
            <div role="gridcell" key=${c}>
              <input ...${grid.cell(r, c)} value=${letter} readOnly=${locked} autocomplete="off" autocapitalize="characters" spellcheck=${false}
                aria-invalid=${wrong.has(cell)} title=${wrong.get(cell)}
                aria-label=${`row ${r + 1}, column ${c + 1}${wrong.has(cell) ? `: ${wrong.get(cell)}` : ""}`}
                class=${classes("letter", wrong.has(cell) && "is-wrong", traced.has(cell) && "is-gold", !letter && "is-empty")}
                onInput=${(event) => typed(event, r, c)} onPaste=${(event) => pasted(event, r, c)} onClick=${(event) => event.target.select()} />
            </div>`;
        })}</div>`)}
    </div>`;
}

function View({model, change, faults, locked}) {
  const wrong = (field) => faults.some((fault) => fault.field === field);
  const field = (name, title, {upper = false, ...more} = {}) => html`
    <label class="field"><span>${title}</span>
      <input value=${model[name]} readOnly=${locked} aria-invalid=${wrong(name)} autocomplete="off" spellcheck=${false} ...${more}
        onInput=${(event) => change({...model, [name]: upper ? event.target.value.toUpperCase().trim() : event.target.value})} />
    </label>`;
  return html`
    <div class="strands-editor">
      <${Letters} model=${model} change=${change} faults=${faults} locked=${locked} />
      <div class="fields">
        ${field("clue", "clue")}
        ${field("count", "theme words", {inputmode: "numeric", placeholder: "unknown"})}
        ${field("spangram", "spangram", {placeholder: "unknown", upper: true})}
      </div>
    </div>`;
}

const Help = () => html`
  <ul class="help">
    <li>Type the letters row by row; the focus moves to the next cell. A whole board can be pasted.</li>
    <li>The number of theme words narrows the search. A spangram that you know is traced on the board.</li>
    <li>Keys: arrows to move, <kbd>Backspace</kbd> to go back.</li>
  </ul>`;

/** Resize the board, keeping the letters that still fit. */
const resize = (model, rows, columns) => ({
  ...model, rows, columns,
  letters: blank(rows, columns).map((row, r) => row.map((_, c) => model.letters[r]?.[c] ?? "")),
});

export const strands = {empty, fromPuzzle, toPuzzle, check, locate, View, Help, resize, size: {max: SIZE_MAX}, titleOf: ({clue}) => clue};
