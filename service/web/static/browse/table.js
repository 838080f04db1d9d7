// Rows as a table whose heads sort it, and what the service says of a query.
import {html} from "../html.js";
import {json} from "../api.js";
import {asSentence} from "../words.js";

export const ask = (sql, signal) => json("/v1/query", {method: "POST", body: {sql}, signal});

/** A table; `sort` is a column's name, with "-" before it for the largest first. */
export function Table({columns, rows, sort, onSort, caption}) {
  const turn = (name) => onSort(sort === `-${name}` ? name : sort === name ? `-${name}` : `-${name}`);
  const order = (name) => (sort === name ? "ascending" : sort === `-${name}` ? "descending" : undefined);
  return html`
    <div class="table" role="region" aria-label=${caption} tabindex="0">
      <table>
        <caption class="unseen">${caption}</caption>
        <thead><tr>${columns.map(({name, title, number, sorts}) => html`
          <th key=${name} scope="col" class=${number ? "is-number" : ""} aria-sort=${order(name)}>
            ${sorts ? html`<button type="button" onClick=${() => turn(name)}>${title ?? name}<span aria-hidden="true">${{ascending: " ↑", descending: " ↓"}[order(name)] ?? ""}</span></button>` : title ?? name}
          </th>`)}</tr></thead>
        <tbody>${rows.map((row, i) => html`
          <tr key=${i}>${row.map((value, j) => html`<td key=${j} class=${columns[j].number ? "is-number" : ""}>${value ?? html`<span class="none">–</span>`}</td>`)}</tr>`)}</tbody>
      </table>
    </div>`;
}

export const Fault = ({problem}) => (problem ? html`<p class="problem" role="alert">${asSentence(problem.message)}</p>` : null);
