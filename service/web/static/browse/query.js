// One SELECT over the views of the lake, and its rows.
import {html, useEffect, useState} from "../html.js";
import {json, Problem} from "../api.js";
import {grouped, plural} from "../format.js";
import {save} from "../save.js";
import {ask, Fault, Table} from "./table.js";

const EXAMPLE = "select game, level, count(*) as boards, max(states) as most_states\nfrom counts\ngroup by all\norder by most_states desc";
const LONG = 160;

const shown = (value) => {
  if (value === null) return null;
  if (typeof value === "object") return JSON.stringify(value).slice(0, LONG);
  return typeof value === "number" && Number.isInteger(value) && Math.abs(value) > 9999 ? grouped(value) : String(value).slice(0, LONG);
};
const isNumber = (type) => /int|double|float|decimal/.test(type);

/** Write rows as CSV. */
function csv({columns, rows}) {
  const cell = (value) => (value === null ? "" : /[",\n]/.test(String(value)) ? `"${String(value).replaceAll('"', '""')}"` : String(value));
  return [columns.map(({name}) => cell(name)), ...rows.map((row) => row.map((value) => cell(typeof value === "object" && value ? JSON.stringify(value) : value)))]
    .map((row) => row.join(",")).join("\n");
}

export function Query({place, go}) {
  const [sql, type] = useState(place.sql ?? EXAMPLE);
  const [views, know] = useState([]);
  const [found, show] = useState(null);
  const [problem, fail] = useState(null);
  const [busy, wait] = useState(false);
  useEffect(() => { json("/v1/views").then((told) => know(told.views)).catch(fail); }, []);
  const run = async (event) => {
    event?.preventDefault();
    wait(true);
    if (sql !== place.sql) go({tab: "sql", sql});
    try {
      show(await ask(sql));
      fail(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      fail(error);
    }
    wait(false);
  };
  useEffect(() => { if (place.sql) run(); }, []);
  const keys = (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) run(event); };
  const saved = () => save(new Blob([csv(found)], {type: "text/csv"}), "nightgrid.csv");
  return html`
    <div class="query-page">
      <form class="sql" onSubmit=${run}>
        <label for="sql">One SELECT over the views, in DuckDB. It reads nothing else.</label>
        <textarea id="sql" class="code" rows="8" spellcheck=${false} value=${sql} onInput=${(event) => type(event.target.value)} onKeyDown=${keys}></textarea>
        <p><button class="button" type="submit" disabled=${busy || !sql.trim()}>${busy ? "Running…" : "Run"}</button> <span class="quiet">Ctrl + Enter · 10 s, 256 MB, 1,000 rows</span></p>
        <${Fault} problem=${problem} />
      </form>
      <section class="views" aria-label="Views">
        <h2>Views</h2>
        ${views.map(({name, line, columns}) => html`
          <details key=${name}><summary><code>${name}</code> <span>${line}</span></summary>
            <dl>${columns.map((column) => html`<div key=${column.name}><dt><code>${column.name}</code></dt><dd>${column.meaning}</dd></div>`)}</dl>
          </details>`)}
      </section>
    </div>
    ${found && !problem && html`
      <p class="tally-line" role="status">${found.truncated ? `The first ${plural(found.rows.length, "row")}; there are more` : found.rows.length ? plural(found.rows.length, "row") : "No rows."}
        ${found.rows.length > 0 && html` <button class="link" type="button" onClick=${saved}>save as CSV</button>`}</p>
      ${found.rows.length > 0 && html`<${Table} caption="Rows" columns=${found.columns.map(({name, type: kind}) => ({name, number: isNumber(kind)}))} rows=${found.rows.map((row) => row.map(shown))} />`}`}
  `;
}
