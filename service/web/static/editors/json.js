// Boards of a game without an editor: its JSON, starting from the game's example.
import {html} from "../html.js";
import {gameOf, state} from "../session.js";

const empty = () => ({text: JSON.stringify(gameOf(state.game)?.example ?? {}, null, 1)});
const fromPuzzle = (puzzle) => ({text: JSON.stringify(puzzle, null, 1)});

function toPuzzle(model) {
  try {
    return JSON.parse(model.text);
  } catch {
    return null;
  }
}

function check(model) {
  try {
    JSON.parse(model.text);
    return [];
  } catch (error) {
    return [{detail: error.message, cells: [], field: "text"}];
  }
}

const View = ({model, change, faults, locked}) => html`
  <label class="field wide"><span>the board as JSON</span>
    <textarea class="code" rows="16" spellcheck=${false} readOnly=${locked} value=${model.text} aria-invalid=${faults.length > 0}
      onInput=${(event) => change({text: event.target.value})}></textarea></label>`;

const Help = () => html`<p class="quiet">Write the board in the form of the example.</p>`;

export const json = {empty, fromPuzzle, toPuzzle, check, View, Help};
