// The lake: its boards in a table, a box for SQL, and the runs.
import {html, render, useEffect, useState} from "../html.js";
import {applyTheme} from "../theme.js";
import {Tabs} from "../views/tabs.js";
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
  const [, title, View] = TABS.find(([name]) => name === place.tab);
  useEffect(() => { document.title = `${title} · nightgrid`; }, [title]);
  return html`
    <${Top} />
    <main class="browse">
      <${Key} then=${() => again(turn + 1)} />
      <h1>The lake</h1>
      <${Tabs} label="What of the lake" tabs=${TABS} chosen=${place.tab} choose=${(tab) => go({tab})} panel="panel" />
      <div class="panel" id="panel" role="tabpanel" aria-labelledby=${`panel-${place.tab}`}>
        <${View} key=${`${place.tab}-${turn}`} place=${place} go=${go} />
      </div>
    </main>`;
}

applyTheme();
render(html`<${App} />`, document.getElementById("app"));
