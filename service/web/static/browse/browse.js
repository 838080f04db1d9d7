// The lake: its boards in a table, a box for SQL, and the runs.
import {html, render, useEffect, useRef, useState} from "../html.js";
import {applyTheme} from "../theme.js";
import {Boards} from "./boards.js";
import {Query} from "./query.js";
import {Runs} from "./runs.js";
import {Key, Top} from "./top.js";

const TABS = [["boards", "Boards", Boards], ["sql", "SQL", Query], ["runs", "Runs", Runs]];

/** What the address says: {tab: "boards", game: "pips", sort: "-states"}. */
const read = () => {
  const given = Object.fromEntries(new URLSearchParams(location.search));
  return {...given, tab: TABS.some(([name]) => name === given.tab) ? given.tab : "boards"};
};

function App() {
  const [place, see] = useState(read());
  const [turn, again] = useState(0);
  const list = useRef(null);
  useEffect(() => {
    const look = () => see(read());
    addEventListener("popstate", look);
    return () => removeEventListener("popstate", look);
  }, []);
  const go = (next, {instead = false} = {}) => {
    const pairs = Object.entries(next).filter(([, value]) => value !== "" && value !== undefined);
    history[instead ? "replaceState" : "pushState"](null, "", `?${new URLSearchParams(pairs)}`);
    see(next);
  };
  const step = (event) => {
    const by = {ArrowLeft: -1, ArrowRight: 1}[event.key];
    if (!by) return;
    event.preventDefault();
    const at = TABS.findIndex(([name]) => name === place.tab);
    const [next] = TABS[(at + by + TABS.length) % TABS.length];
    go({tab: next});
    list.current.querySelector(`#tab-${next}`).focus();
  };
  const [, title, View] = TABS.find(([name]) => name === place.tab);
  useEffect(() => { document.title = `${title} · nightgrid`; }, [title]);
  return html`
    <${Top} />
    <main class="browse">
      <${Key} then=${() => again(turn + 1)} />
      <h1>The lake</h1>
      <div class="ways" role="tablist" aria-label="What of the lake" ref=${list} onKeyDown=${step}>
        ${TABS.map(([name, told]) => html`
          <button key=${name} id=${`tab-${name}`} type="button" role="tab" aria-controls="panel" aria-selected=${name === place.tab}
            tabIndex=${name === place.tab ? 0 : -1} onClick=${() => go({tab: name})}>${told}</button>`)}
      </div>
      <div class="panel" id="panel" role="tabpanel" aria-labelledby=${`tab-${place.tab}`}>
        <${View} key=${`${place.tab}-${turn}`} place=${place} go=${go} />
      </div>
    </main>`;
}

applyTheme();
render(html`<${App} />`, document.getElementById("app"));
