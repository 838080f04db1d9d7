// The page: its layout and its keys.
import {html, render, useEffect} from "./html.js";
import {arrive, set, solutionCount, state, stepTo, titleOf, useSession} from "./session.js";
import {key} from "./api.js";
import {applyTheme} from "./theme.js";
import {watchQueue} from "./watch.js";
import {Header} from "./views/header.js";
import {QueueStrip} from "./views/queue.js";
import {Choose} from "./views/choose.js";
import {Stage} from "./views/stage.js";
import {Answer} from "./views/answer.js";
import {PlayPanel} from "./play/board.js";
import {KeyForm} from "./views/key.js";

/** Arrow keys step through solutions, unless the focused element uses them. */
function onKey(event) {
  if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
  if (state.play || event.target.closest("input, textarea, select, [role=grid], [role=radiogroup], [role=tablist]")) return;
  const last = solutionCount() - 1;
  if (last < 1) return;
  const to = {ArrowLeft: state.at - 1, ArrowRight: state.at + 1, Home: 0, End: last}[event.key];
  if (to === undefined) return;
  event.preventDefault();
  stepTo(to);
}

/** Set the title of the page, for tabs, bookmarks and the history. */
const titleFor = (game, board) =>
  [[game && titleOf(game), board?.title, board?.level].filter(Boolean).join(", "), "nightgrid"].filter(Boolean).join(" · ");

const takeKey = () => {
  set({keyWanted: false, problem: null});
  arrive();
};

function App() {
  const {game, keyWanted, said, board, play} = useSession();
  useEffect(() => {
    const wanted = () => set({keyWanted: true});
    const stop = watchQueue();
    addEventListener("popstate", arrive);
    addEventListener("keydown", onKey);
    addEventListener("nightgrid:key-wanted", wanted);
    arrive();
    return () => {
      stop();
      removeEventListener("popstate", arrive);
      removeEventListener("keydown", onKey);
      removeEventListener("nightgrid:key-wanted", wanted);
    };
  }, []);
  useEffect(() => { document.documentElement.dataset.game = game ?? ""; }, [game]);
  useEffect(() => { document.title = titleFor(game, board); }, [game, board?.title, board?.level]);
  return html`
    <a class="skip" href="#board">Skip to the board</a>
    <${Header} />
    <main class="page">
      ${keyWanted && html`<${KeyForm} then=${takeKey} />`}
      <${Choose} />
      <${Stage} />
      ${play && board ? html`<${PlayPanel} key=${board.title + board.level} />` : html`<${Answer} />`}
    </main>
    <footer class="foot">
      <${QueueStrip} />
      <p class="colophon">nightgrid counts exactly. ${!(keyWanted || key()) && html`<a href="/report">Report of the last night</a> · `}<a href="/api">API</a></p>
    </footer>
    <p class="unseen" role="status" aria-live="polite">${said}</p>
  `;
}

applyTheme();
render(html`<${App} />`, document.getElementById("app"));
