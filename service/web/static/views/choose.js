// How a board is chosen: a day of the lake, a pasted payload, or a drawn board.
import {html, useRef} from "../html.js";
import {chooseBy, useSession} from "../session.js";
import {Calendar} from "./calendar.js";
import {Paste} from "./paste.js";
import {DrawHelp} from "./draw.js";

const WAYS = [
  ["day", "Day"],
  ["paste", "Paste"],
  ["draw", "Draw"],
];
const PANELS = {day: Calendar, paste: Paste, draw: DrawHelp};

export function Choose() {
  const {mode} = useSession();
  const list = useRef(null);
  const step = (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    const at = WAYS.findIndex(([name]) => name === mode);
    const [next] = WAYS[(at + by + WAYS.length) % WAYS.length];
    chooseBy(next);
    list.current.querySelector(`#way-${next}`).focus();
  };
  return html`
    <section class="choose" aria-label="Choose a board">
      <div class="ways" role="tablist" aria-label="How to choose a board" ref=${list} onKeyDown=${step}>
        ${WAYS.map(([name, title]) => html`
          <button key=${name} id=${`way-${name}`} type="button" role="tab" aria-controls="way"
            aria-selected=${name === mode} tabIndex=${name === mode ? 0 : -1} onClick=${() => chooseBy(name)}>
            ${title}
          </button>`)}
      </div>
      <div class="way" id="way" role="tabpanel" aria-labelledby=${`way-${mode}`}>
        <${PANELS[mode]} key=${mode} />
      </div>
    </section>`;
}
