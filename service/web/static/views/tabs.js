// A list of tabs, by mouse and by arrow keys.
import {html, useRef} from "../html.js";

/** `tabs` are [name, title, ...]; `panel` is the id of the panel that the chosen one fills. */
export function Tabs({label, tabs, chosen, choose, panel}) {
  const list = useRef(null);
  const step = (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    const at = tabs.findIndex(([name]) => name === chosen);
    const [next] = tabs[(at + by + tabs.length) % tabs.length];
    choose(next);
    list.current.querySelector(`#${panel}-${next}`).focus();
  };
  return html`
    <div class="ways" role="tablist" aria-label=${label} ref=${list} onKeyDown=${step}>
      ${tabs.map(([name, title]) => html`
        <button key=${name} id=${`${panel}-${name}`} type="button" role="tab" aria-controls=${panel}
          aria-selected=${name === chosen} tabIndex=${name === chosen ? 0 : -1} onClick=${() => choose(name)}>
          ${title}
        </button>`)}
    </div>`;
}
