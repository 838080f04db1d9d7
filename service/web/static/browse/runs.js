// The runs of nights, counts and large jobs: how far they are, how fast, and how to cancel one.
import {html, useEffect, useRef, useState} from "../html.js";
import {json, Problem} from "../api.js";
import {duration, grouped, plural} from "../format.js";
import {Fault, Table} from "./table.js";

const LOOK_MS = 4000;
const COLUMNS = [
  {name: "when"}, {name: "game"}, {name: "ask"}, {name: "state"}, {name: "jobs", number: true}, {name: "progress"},
  {name: "rate", number: true}, {name: "took", number: true}, {name: "id"}, {name: "", title: ""},
];
const seconds = (from, to) => (Date.parse(to) - Date.parse(from)) / 1000;
const when = (iso) => (iso ? new Date(iso).toISOString().slice(0, 16).replace("T", " ") : null);

export function Runs() {
  const [runs, show] = useState(null);
  const [titles, know] = useState({});
  const [problem, fail] = useState(null);
  const before = useRef(new Map());
  const look = async () => {
    if (document.visibilityState !== "visible") return;
    try {
      const told = await json("/v1/runs?limit=200");
      const now = Date.now();
      for (const run of told.runs) {
        // The rate of a run that is worked is that since it was seen first.
        const first = before.current.get(run.run_id) ?? {at: now, done: run.chunks_done};
        before.current.set(run.run_id, first);
        const share = (run.chunks_done - first.done) / (run.chunks_total || 1);
        run.rate = run.state === "open" ? (now > first.at ? (1000 * share * run.jobs) / (now - first.at) : null)
          : run.finished_at && run.created_at ? run.jobs / Math.max(1, seconds(run.created_at, run.finished_at)) : null;
      }
      show(told.runs.sort((a, b) => (a.state === "open" ? 0 : 1) - (b.state === "open" ? 0 : 1) || String(b.finished_at ?? b.created_at).localeCompare(String(a.finished_at ?? a.created_at))));
      fail(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fail(error);
    }
  };
  useEffect(() => {
    json("/v1/games").then(({games}) => know(Object.fromEntries(games.map(({game, title}) => [game, title])))).catch(fail);
    look();
    const timer = setInterval(look, LOOK_MS);
    return () => clearInterval(timer);
  }, []);
  const cancel = async (run) => {
    try {
      await json(`/v1/runs/${run.run_id}`, {method: "DELETE"});
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fail(error);
    }
    look();
  };
  const rows = (runs ?? []).map((run) => [
    when(run.finished_at ?? run.created_at), titles[run.game] ?? run.game, html`<code>${run.ask}</code>`,
    html`<span class=${`state is-${run.state}`}>${run.state}</span>${run.reason && html` <span class="quiet">${run.reason}</span>`}`,
    run.jobs === null ? null : grouped(run.jobs),
    run.chunks_total ? html`<progress max=${run.chunks_total} value=${run.chunks_done} aria-label="Chunks done"></progress> <span class="of">${grouped(run.chunks_done)}/${grouped(run.chunks_total)}</span>` : null,
    run.rate ? `${run.rate >= 10 ? grouped(Math.round(run.rate)) : run.rate.toPrecision(2)}/s` : null,
    run.finished_at && run.created_at ? duration(seconds(run.created_at, run.finished_at)) : null,
    html`<code title=${run.run_id}>${run.run_id.slice(0, 8)}</code>`,
    run.state === "open" ? html`<button class="chip" type="button" onClick=${() => cancel(run)}>cancel</button>` : "",
  ]);
  return html`
    <${Fault} problem=${problem} />
    ${runs && html`<p class="tally-line" role="status">${runs.length ? `${plural(runs.length, "run")}, the open ones first` : "No runs yet: nights, counts and large jobs make some."}</p>`}
    ${rows.length > 0 && html`<${Table} caption="Runs" columns=${COLUMNS} rows=${rows} />`}`;
}
