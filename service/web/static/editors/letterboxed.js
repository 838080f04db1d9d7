// Boards of Letter Boxed: the letters of each side are typed, and words if there is a list.
import {classes, html} from "../html.js";
import {byCell} from "./grid.js";

const SIDES = 4;
const SIDES_MIN = 1;
const SIDES_MAX = 12;
const NO_LETTER = /[^\p{L}]/u;
const NAMES = ["top", "right", "bottom", "left"];

/** The name of a side. */
export const nameOf = (sides, i) => (sides.length === SIDES ? `${NAMES[i]} side` : `side ${i + 1}`);
const empty = () => ({sides: Array(SIDES).fill(""), words: ""});

const fromPuzzle = (puzzle) => ({
  sides: (Array.isArray(puzzle?.sides) ? puzzle.sides : []).map((side) => (Array.isArray(side) ? side.join("") : String(side)).toUpperCase()),
  words: (Array.isArray(puzzle?.dictionary) ? puzzle.dictionary : []).join(" "),
});

const wordsOf = ({words}) => words.split(/[\s,]+/).filter(Boolean);

function toPuzzle(model) {
  if (!model.sides.some(Boolean)) return null;
  const words = wordsOf(model);
  return {sides: model.sides, ...(words.length ? {dictionary: words.map((word) => word.toUpperCase())} : {})};
}

function check(model) {
  if (!model.sides.some(Boolean)) return [{detail: "Type the letters of each side to begin.", open: true}];
  return model.sides.flatMap((side, i) => {
    const odd = NO_LETTER.exec(side)?.[0];
    if (!side) return [{detail: `The ${nameOf(model.sides, i)} has no letter yet.`, open: true}];
    return odd ? [{detail: `“${odd}” on the ${nameOf(model.sides, i)} is no letter.`, cells: [String(i)]}] : [];
  });
}

const locate = ([key, i]) => (key === "sides" && i !== undefined ? {cells: [String(i)]} : {field: key});

function View({model, change, faults, locked, ready}) {
  const {sides} = model;
  const wrong = byCell(faults);
  const alter = (i, text) => change({...model, sides: sides.map((side, j) => (i === j ? text.toUpperCase().trim() : side))});
  const square = sides.length === SIDES;
  return html`
    <div class="sides-editor">
      <div class=${classes("sides", square && "is-square")}>
        ${sides.map((side, i) => html`
          <label key=${i} class=${classes("side", square && `side-${NAMES[i]}`, wrong.has(String(i)) && "is-wrong")}>
            <span>${square ? NAMES[i] : `side ${i + 1}`}</span>
            <input value=${side} readOnly=${locked} aria-invalid=${wrong.has(String(i))} title=${wrong.get(String(i))} autocomplete="off"
              autocapitalize="characters" spellcheck=${false} placeholder="ABC" onInput=${(event) => alter(i, event.target.value)} />
          </label>`)}
        ${square && html`<div class="box" aria-hidden="true">${ready ? "" : "?"}</div>`}
      </div>
      ${!locked && html`
        <div class="sizes">
          <button class="link" type="button" disabled=${sides.length <= SIDES_MIN} onClick=${() => change({...model, sides: sides.slice(0, -1)})}>one side fewer</button>
          <button class="link" type="button" disabled=${sides.length >= SIDES_MAX} onClick=${() => change({...model, sides: [...sides, ""]})}>one side more</button>
        </div>
        <label class="field wide"><span>words of the day, if you have them</span>
          <textarea rows="3" spellcheck=${false} value=${model.words} aria-invalid=${faults.some(({field}) => field === "dictionary")}
            onInput=${(event) => change({...model, words: event.target.value})}></textarea></label>`}
    </div>`;
}

const Help = () => html`
  <ul class="help">
    <li>Type the letters of each side; four sides of three letters are usual, but any number works.</li>
    <li>Without a word list, English words are used.</li>
  </ul>`;

export const letterboxed = {empty, fromPuzzle, toPuzzle, check, locate, View, Help};
