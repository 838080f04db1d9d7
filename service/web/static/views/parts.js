// How a solve was divided: each part with its share of the time, the longest first.
import {html, useState} from "../html.js";
import {duration, grouped, plural} from "../format.js";

const SHOWN = 6;

/** How a part without a count ended; the states of some go on in other parts. */
const ended = ({status}) => (status === "carried" ? "goes on" : status?.replaceAll("_", " "));

export function Parts({parts, live}) {
  const [all, showAll] = useState(false);
  const longest = Math.max(...parts.map(({seconds}) => seconds ?? 0), 1e-9);
  const sorted = [...parts].sort((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0));
  const listed = all ? sorted : sorted.slice(0, SHOWN);
  const workers = new Set(parts.map(({worker}) => worker).filter(Boolean)).size;
  const by = workers > 1 ? ` by ${plural(workers, "worker")}` : "";
  return html`
    <section class="parts" aria-label="How it was divided">
      <h2>${live ? `${plural(parts.length, "part")} done` : parts.length > 1 ? `Divided into ${plural(parts.length, "part")}${by}` : "Solved in one part"}</h2>
      <table>
        <thead><tr><th scope="col">part</th><th scope="col">solutions</th><th scope="col">time</th></tr></thead>
        <tbody>${listed.map((part) => html`
          <tr key=${part.path}>
            <th scope="row">
              ${part.what || `part ${part.path}`}
              <svg class="bar" viewBox="0 0 100 3" preserveAspectRatio="none" aria-hidden="true">
                <rect class="bar-all" width="100" height="3" rx="1.5" /><rect class="bar-part" width=${(100 * (part.seconds ?? 0)) / longest} height="3" rx="1.5" />
              </svg>
            </th>
            ${part.count === null || part.count === undefined ? html`<td class="word">${ended(part)}</td>` : html`<td>${grouped(part.count)}</td>`}
            <td class="word">${duration(part.seconds)}</td>
          </tr>`)}
        </tbody>
      </table>
      ${parts.length > SHOWN && html`
        <button class="link" type="button" aria-expanded=${all} onClick=${() => showAll(!all)}>
          ${all ? "show fewer" : `show all ${grouped(parts.length)}`}</button>`}
    </section>`;
}
