// A pasted payload: parsed at once, with its board or its faults.
import {html, useEffect, useState} from "../html.js";
import {clearDraft, edit, paste} from "../drafts.js";
import {boardsIn, daysIn, editorOf} from "../editors/index.js";
import {plural} from "../format.js";
import {jsonFault} from "../jsonfault.js";
import {set, titleOf, useSession} from "../session.js";

const SHOWN = 60;
/** More boards of a text than this are chosen from a list. */
const BUTTONS = 3;

/** Frequent errors, by the text at the error and before it. */
const HINTS = [
  [/^$/, "It ends too soon."],
  [/^['\u2018-\u201f]/, "JSON requires straight double quotes."],
  [/^[}\]]/, "There is an extra comma before it.", /,\s*$/],
  [/^(None|True|False)\b/, "JSON writes null, true and false."],
  [/^(\/\/|\/\*|#)/, "JSON has no comments."],
  [/^https?:/, "This is an address: paste its content."],
  [/^</, "This looks like a web page: paste the JSON."],
];

const hintFor = (before, rest) =>
  HINTS.find(([there, , earlier]) => there.test(rest) && (!earlier || earlier.test(before)))?.[1] ?? "";

/** Describe where JSON breaks: line and column, with the line itself. */
function broken(text) {
  const fault = jsonFault(text);
  const before = text.slice(0, fault).split("\n");
  const hint = hintFor(text.slice(0, fault), text.slice(fault));
  const line = text.split("\n")[before.length - 1] ?? "";
  const column = before.at(-1).length + 1;
  const from = Math.max(0, column - SHOWN / 2);
  return {detail: `This is not JSON: line ${before.length}, column ${column}. ${hint}`.trim(), line: line.slice(from, from + SHOWN), at: column - 1 - from};
}

/** Parse a text of one JSON value, or of one object a line. */
function parse(text) {
  const lines = text.split("\n").filter((line) => line.trim());
  return lines.length > 1 && lines.every((line) => line.startsWith("{")) ? lines.map((line) => JSON.parse(line)) : JSON.parse(text);
}

/** Parse a text: {boards}, each with its payload and its name among them, or {fault}. */
function read(text) {
  if (!text.trim()) return {};
  let payload;
  try {
    payload = parse(text);
  } catch {
    return {fault: broken(text)};
  }
  const days = daysIn(payload);
  const boards = (days.length ? days : [{name: "", payload}]).flatMap(({name, payload}) =>
    boardsIn(payload).map((board) => ({...board, payload, name: [days.length && (payload.printDate ?? name), board.level].filter(Boolean).join(" ")})));
  return boards.length ? {boards} : {fault: {detail: "This JSON holds no board: expected dominoes and regions, a board of letters, sides, or tiles."}};
}

export function Paste() {
  const {pasted = "", draft, board} = useSession();
  const [name, choose] = useState(null);
  const {fault, boards = []} = read(pasted);
  const one = boards.find((found) => found.name === name) ?? boards.at(-1);
  useEffect(() => {
    if (!one) { if (draft?.locked) clearDraft(); return; }
    set({game: one.game, board: null, picture: "", solve: null, shown: null, solutions: [], solutionPicture: "", problem: null});
    paste({
      game: one.game,
      model: editorOf(one.game).fromPuzzle(one.puzzle),
      puzzle: one.puzzle,
      body: {game: one.game, puzzle: one.payload, ...(one.level ? {level: one.level} : {})},
      title: [one.payload.clue, one.payload.printDate, one.level].filter(Boolean).join(", ") || "A board of your own",
    });
  }, [pasted, one?.name]);
  return html`
    <label class="field wide" for="payload"><span>a published payload, or a board as JSON</span></label>
    <textarea id="payload" class="code" rows="9" spellcheck=${false} autocomplete="off" value=${pasted} aria-invalid=${Boolean(fault)} aria-describedby="payload-told"
      placeholder='{"sides": ["TAP", "ERD", "NIL", "YCO"]}' onInput=${(event) => set({pasted: event.target.value})}></textarea>
    <div id="payload-told" class="told" role="status">
      ${fault && html`
        <p class="is-wrong">${fault.detail}</p>
        ${fault.line !== undefined && html`<pre>${fault.line.slice(0, fault.at)}<mark>${fault.line[fault.at] ?? " "}</mark>${fault.line.slice(fault.at + 1)}</pre>`}`}
      ${one && html`<p>${titleOf(one.game)}${boards.length > 1 ? `, ${plural(boards.length, "board")}` : ""}.</p>`}
    </div>
    ${boards.length > 1 && boards.length <= BUTTONS && html`
      <div class="levels" role="group" aria-label="Level">
        ${boards.map((each) => html`<button key=${each.name} type="button" aria-pressed=${each.name === one.name} onClick=${() => choose(each.name)}>${each.name}</button>`)}
      </div>`}
    ${boards.length > BUTTONS && html`
      <label class="field wide"><span>the board of this archive</span>
        <select value=${one.name} onChange=${(event) => choose(event.target.value)}>
          ${boards.map((each) => html`<option key=${each.name} value=${each.name}>${each.name}</option>`)}
        </select></label>`}
    ${board && html`<button class="link" type="button" onClick=${edit}>edit it by hand</button>`}`;
}
