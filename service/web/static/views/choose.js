// How a board is chosen: a day of the lake, a pasted payload, or a drawn board.
import {html} from "../html.js";
import {chooseBy, useSession} from "../session.js";
import {Calendar} from "./calendar.js";
import {Paste} from "./paste.js";
import {DrawHelp} from "./draw.js";
import {Tabs} from "./tabs.js";

const WAYS = [
  ["day", "Day"],
  ["paste", "Paste"],
  ["draw", "Draw"],
];
const PANELS = {day: Calendar, paste: Paste, draw: DrawHelp};

export function Choose() {
  const {mode} = useSession();
  return html`
    <section class="choose" aria-label="Choose a board">
      <${Tabs} label="How to choose a board" tabs=${WAYS} chosen=${mode} choose=${chooseBy} panel="way" />
      <div class="way" id="way" role="tabpanel" aria-labelledby=${`way-${mode}`}>
        <${PANELS[mode]} key=${mode} />
      </div>
    </section>`;
}
