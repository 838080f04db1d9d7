// All boards of the lake in a table: filtered, sorted, each with a link to it.
import {html, useEffect, useState} from "../html.js";
import {json, Problem} from "../api.js";
import {duration, grouped, longDate, plural} from "../format.js";
import {ask, Fault, Table} from "./table.js";

const ROWS = 100;
const NAME = /^[a-z0-9_-]+$/;
const DATE = /^\d{4}-\d\d-\d\d$/;
const STATUSES = ["solved", "unsolvable", "pending", "over_budget", "invalid", "poison"];
const COLUMNS = [
  {name: "date", sorts: true}, {name: "game", sorts: true}, {name: "level", sorts: true},
  {name: "count", title: "solutions", number: true, sorts: true}, {name: "size", number: true, sorts: true},
  {name: "states", number: true, sorts: true}, {name: "kernel_ns", title: "time", number: true, sorts: true},
  {name: "official_rank", title: "official", number: true, sorts: true}, {name: "status", sorts: true},
];

/** Write the query of what is filtered and how it is sorted. */
export function sqlOf({game, level, status, from, to, sort = "-date"}, rows = ROWS) {
  const is = (name, value) => value && NAME.test(value) && `${name} = '${value}'`;
  const when = (sign, value) => value && DATE.test(value) && `date ${sign} '${value}'`;
  const where = [is("game", game), is("level", level), is("status", status), when(">=", from), when("<=", to)].filter(Boolean);
  const by = COLUMNS.find(({name}) => name === sort.replace("-", ""))?.name ?? "date";
  return [
    "select date, game, level, count, size, states, kernel_ns, official_rank, counts.status",
    "from counts left join (",
    "  select game, date, level, min(official_rank) as official_rank from ranks group by all",
    ") using (game, date, level)",
    ...(where.length ? [`where ${where.join(" and ").replace("status =", "counts.status =")}`] : []),
    `order by ${by === "status" ? "counts.status" : by} ${sort.startsWith("-") ? "desc" : "asc"} nulls last, date desc, game, level`,
    `limit ${rows}`,
  ].join("\n");
}

function Choice({name, values, place, go, titles = {}}) {
  return html`
    <label class="field"><span>${name}</span>
      <select value=${place[name] ?? ""} onChange=${(event) => go({...place, [name]: event.target.value})}>
        <option value="">any</option>
        ${values.map((value) => html`<option key=${value} value=${value}>${titles[value] ?? value.replace("_", " ")}</option>`)}
      </select>
    </label>`;
}

export function Boards({place, go}) {
  const [games, know] = useState([]);
  const [found, show] = useState(null);
  const [rows, want] = useState(ROWS);
  const [problem, fail] = useState(null);
  const sql = sqlOf(place, rows + 1);
  useEffect(() => { json("/v1/games").then((told) => know(told.games)).catch(fail); }, []);
  useEffect(() => { want(ROWS); }, [place]);
  useEffect(() => {
    const turn = new AbortController();
    ask(sql, turn.signal).then((told) => { show(told.rows); fail(null); }).catch((error) => {
      if (error instanceof Problem) fail(error);
    });
    return () => turn.abort();
  }, [sql]);
  const titles = Object.fromEntries(games.map(({game, title}) => [game, title]));
  const levels = [...new Set(games.filter(({game}) => !place.game || game === place.game).flatMap((game) => game.levels))];
  const shown = (found ?? []).slice(0, rows).map(([date, game, level, count, size, states, ns, rank, status]) => [
    html`<a href=${`/?board=${game}/${date}/${level}`} title=${longDate(date)}>${date}</a>`, titles[game] ?? game, level,
    count === null ? null : grouped(count), grouped(size), states === null ? null : grouped(states), ns === null ? null : duration(ns / 1e9), rank,
    status.replace("_", " "),
  ]);
  const day = (name) => html`
    <label class="field"><span>${name}</span>
      <input type="date" value=${place[name] ?? ""} onChange=${(event) => go({...place, [name]: event.target.value})} /></label>`;
  return html`
    <div class="filters">
      <${Choice} name="game" values=${games.map(({game}) => game)} titles=${titles} place=${place} go=${go} />
      <${Choice} name="level" values=${levels} place=${place} go=${go} />
      <${Choice} name="status" values=${STATUSES} place=${place} go=${go} />
      ${day("from")}${day("to")}
    </div>
    <${Fault} problem=${problem} />
    ${found && html`
      <p class="tally-line" role="status">${found.length > rows ? `The first ${plural(rows, "board")}` : found.length ? plural(found.length, "board") : "No board matches."}
        ${" "}<button class="link" type="button" onClick=${() => go({tab: "sql", sql: sqlOf(place)})}>as SQL</button></p>
      ${found.length > 0 && html`<${Table} caption="Boards" columns=${COLUMNS} rows=${shown} sort=${place.sort ?? "-date"} onSort=${(sort) => go({...place, sort})} />`}
      ${found.length > rows && rows < 900 && html`<button class="button plain more" type="button" onClick=${() => want(rows + ROWS)}>Show ${ROWS} more</button>`}`}
  `;
}
