// Letter Boxed is played: words are typed, or their letters pressed one after the other.
import {classes, html, useEffect, useRef, useState} from "../html.js";
import {nameOf} from "../editors/letterboxed.js";
import {question} from "../session.js";
import {add, refuse, undo} from "./moves.js";

const SIZE = 300;
const RIM = 46;
const LETTERS_MIN = 3;

/** Where letters stand: around a square for four sides, else around a polygon. */
function spots(sides) {
  const n = sides.length;
  const corner = (i) => {
    const turn = (2 * Math.PI * (i - (n === 4 ? 1.5 : n / 2))) / n - Math.PI / 2 + (n === 4 ? Math.PI / 2 : 0);
    const reach = n === 4 ? (SIZE / 2 - RIM) * Math.SQRT2 : SIZE / 2 - RIM;
    return [SIZE / 2 + reach * Math.cos(turn), SIZE / 2 + reach * Math.sin(turn)];
  };
  return sides.flatMap((side, i) => {
    const [[x1, y1], [x2, y2]] = [corner(i), corner(i + 1)];
    return [...side].map((letter, j) => {
      const along = (j + 1) / ([...side].length + 1);
      // As in the pictures, a square is read from left to right and from top to bottom.
      const share = n === 4 && i > 1 ? 1 - along : along;
      return {letter, side: i, x: x1 + share * (x2 - x1), y: y1 + share * (y2 - y1)};
    });
  });
}

const textOf = (words) => words.map((word, i) => (i ? word.slice(1) : word)).join("");

/** What the sides say against a word; null if nothing. */
function faultOf(word, sides, least) {
  const sideOf = (letter) => sides.findIndex((side) => [...side].includes(letter));
  const letters = [...word];
  const odd = letters.find((letter) => sideOf(letter) < 0);
  if (odd) return `${word} cannot be played: there is no ${odd} on the sides.`;
  const i = letters.findIndex((letter, j) => j > 0 && sideOf(letter) === sideOf(letters[j - 1]));
  if (i > 0 && letters[i] === letters[i - 1]) return `${word} cannot be played: ${letters[i]} follows itself.`;
  if (i > 0) return `${word} cannot be played: ${letters[i - 1]} and ${letters[i]} are both on the ${nameOf(sides, sideOf(letters[i]))}.`;
  return letters.length < least ? `${word} is too short: a word has ${least} letters or more.` : null;
}

function View({puzzle, moves, hint, done}) {
  const {sides} = puzzle;
  const letters = spots(sides);
  const start = moves.at(-1)?.at(-1) ?? "";
  const [typed, type] = useState(start);
  const input = useRef(null);
  const sent = useRef(null);
  // A word that is taken back is there to be corrected.
  useEffect(() => { type(sent.current?.moves === moves ? sent.current.typed : start); }, [moves]);
  const played = textOf(moves);
  const spotOf = (letter) => letters.find((one) => one.letter === letter);
  const line = (text) => [...text].map(spotOf).filter(Boolean).map(({x, y}) => `${x},${y}`).join(" ");
  const send = async (event) => {
    event.preventDefault();
    if (!typed) return;
    const fault = faultOf(typed, sides, question().rules?.min_letters ?? LETTERS_MIN);
    if (fault) return refuse(fault);
    sent.current = {moves, typed};
    await add(typed);
  };
  const take = (text) => type(text.toUpperCase().replace(/[^\p{L}]/gu, ""));
  const keys = (event) => {
    if (event.key === "Backspace" && typed === start && moves.length) { event.preventDefault(); undo(); }
  };
  return html`
    <div class="play-boxed">
      <p class="chain" aria-label="Words">${moves.length ? moves.join(" – ") : html`<span class="quiet">no word yet</span>`}</p>
      <div class="boxed" style=${{"--size": SIZE}}>
        <svg viewBox=${`0 0 ${SIZE} ${SIZE}`} aria-hidden="true">
          ${sides.length === 4 ? html`<rect class="boxed-box" x=${RIM} y=${RIM} width=${SIZE - 2 * RIM} height=${SIZE - 2 * RIM} />` : ""}
          <polyline class="boxed-played" points=${line(played)} /><polyline class="boxed-live" points=${line(typed)} />
        </svg>
        ${letters.map(({letter, side, x, y}, i) => html`
          <button type="button" key=${i} class=${classes("spot", played.includes(letter) && "is-played", typed.includes(letter) && "is-live", hint?.[0] === letter && "is-hint")}
            style=${{left: `${(100 * x) / SIZE}%`, top: `${(100 * y) / SIZE}%`}} aria-pressed=${typed.includes(letter)}
            aria-label=${`${letter}, ${nameOf(sides, side)}${played.includes(letter) ? ", collected" : ""}`} disabled=${done}
            onClick=${() => type(typed + letter)}>${letter}</button>`)}
      </div>
      ${!done && html`
        <form class="boxed-form" onSubmit=${send}>
          <label><span class="unseen">Word</span>
            <input ref=${input} value=${typed} onInput=${(event) => take(event.target.value)} onKeyDown=${keys} autocomplete="off" autocapitalize="characters" spellcheck=${false} placeholder="Type a word" /></label>
          <button class="button" type="submit" disabled=${typed.length < 2}>Play it</button>
          <button class="link" type="button" disabled=${typed === start} onClick=${() => type(start)}>clear</button>
        </form>`}
    </div>`;
}

const missing = ({sides}, moves) => [...new Set(sides.join(""))].filter((letter) => !moves.join("").includes(letter)).length;

export const letterboxed = {
  View,
  reads: (puzzle) => Array.isArray(puzzle?.sides),
  tally: missing,
  unit: (puzzle, moves) => (missing(puzzle, moves) === 1 ? "letter to collect" : "letters to collect"),
  how: "Type a word, or press its letters: each from another side than the one before. The next word begins where it ends.",
  describe: (word) => `The next word begins with ${word.slice(0, 2)} and has ${word.length} letters.`,
};
