// What the service says, in the words of the page: places in a request, references and dates.
// Sentences of the API are translated here and nowhere else.
import {shortDate} from "./format.js";

const SIDES = ["top side", "right side", "bottom side", "left side"];
const TITLES = {pips: "Pips", strands: "Strands", letterboxed: "Letter Boxed", tiles: "Tiles"};
/** Rows, cells and the like begin with 1 for people. */
const nth = (i) => Number(i) + 1;

/** Places of a board or a request, most exact ones first: what a JSON pointer ends in, and its words. */
const PLACES = [
  [/regions\/(\d+)\/indices\/(\d+)/, (i, j) => `region ${nth(i)}, cell ${nth(j)}`],
  [/regions\/(\d+)\/target/, (i) => `the number of region ${nth(i)}`],
  [/regions\/(\d+)/, (i) => `region ${nth(i)}`],
  [/dominoes\/(\d+)/, (i) => `domino ${nth(i)}`],
  [/(?:board|startingBoard)\/(\d+)/, (i) => `row ${nth(i)}`],
  [/sides\/(\d+)/, (i) => SIDES[i] ?? `side ${nth(i)}`],
  [/tiles\/(\d+)/, (i) => `tile ${nth(i)}`],
  [/dictionary\/(\d+)/, (i) => `word ${nth(i)}`],
  [/moves\/(\d+)/, (i) => `move ${nth(i)}`],
  [/rules\/(\w+)/, (name) => `the rule “${name.replaceAll("_", " ")}”`],
  [/theme_words/, () => "the number of theme words"],
  [/dictionary|^\/words/, () => "the words"],
  [/deadline_s/, () => "the time limit"],
  [/^\/ask/, () => "what is asked"],
  [/^date$/, () => "the date"],
];

/** Name the place of a JSON pointer; nothing for the whole board or request. */
export function placeOf(pointer) {
  for (const [pattern, words] of PLACES) {
    const found = pattern.exec(pointer ?? "");
    if (found) return words(...found.slice(1));
  }
  return "";
}

const POINTER = /^(\/[\w/]+|\?\w+): (?:SQL, )?/;
const PHRASES = [
  [/\bregions\[(\d+)\]/g, (_, i) => `region ${nth(i)}`],
  [/\bcell \[(\d+), (\d+)\]/g, (_, r, c) => `the cell in row ${nth(r)}, column ${nth(c)}`],
  [/\bat column (\d+)/g, (_, c) => `in column ${nth(c)}`],
  [/\bas in row (\d+)/g, (_, r) => `as in row ${nth(r)}`],
  [/\b(pips|strands|letterboxed|tiles)\/(\d{4}-\d\d-\d\d)(?:\/(\w+))?/g, (_, game, date, level) =>
    `${TITLES[game]} of ${shortDate(date)}${level && level !== "daily" ? `, ${level},` : ""}`],
  [/\bdates of (pips|strands|letterboxed|tiles)\b/g, (_, game) => `dates of ${TITLES[game]}`],
  [/\b\d{4}-\d\d-\d\d\b/g, (date) => shortDate(date)],
  [/ cannot be played on these sides\b/g, () => " is not among the words of this board"],
];

/** Translate a sentence of the service. */
export function inWords(detail) {
  const text = String(detail).replace(POINTER, (_, pointer) => (placeOf(pointer) ? `${placeOf(pointer)}: ` : ""));
  return PHRASES.reduce((said, [pattern, words]) => said.replace(pattern, words), text);
}

/** Kinds of problems that have a title or a sentence of their own here. */
const HEADS = {"/problems/bad-value": "This cannot be asked", "/problems/no-such-solve": "No such solve"};
const KINDS = {
  "/problems/no-such-solve": "Nothing was submitted under this address, or it ended without an answer long ago.",
};

export const headInWords = ({type, title}) => HEADS[type] ?? title;

/** Say what a problem of the service is about. */
export const problemInWords = ({type, detail, title}) => KINDS[type] ?? inWords(detail || title);

/** Turn a clause into a sentence. */
export const asSentence = (clause) => clause.charAt(0).toUpperCase() + clause.slice(1) + (/[.?!]$/.test(clause) ? "" : ".");

/** Say what is wrong, and where. */
export function faultOf({pointer, detail}) {
  const place = placeOf(pointer);
  const own = `${String(pointer).split("/").at(-1)} is `;
  // Some sentences begin with the name of the field.
  if (place && detail.startsWith(own)) return asSentence(`${place} is ${detail.slice(own.length)}`);
  return asSentence(place ? `${place}: ${inWords(detail)}` : inWords(detail));
}
