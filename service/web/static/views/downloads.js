// Downloads: the picture, the answer with its solutions, its row of the lake.
import {html, useState} from "../html.js";
import {call, json, Problem} from "../api.js";
import {save} from "../save.js";
import {lister, set, state} from "../session.js";

const LISTED = 1000;
const PARQUET = "application/vnd.apache.parquet";

async function svg(solve) {
  const listing = lister();
  const path = listing ? `${listing.links.picture}?solution=${state.at}` : solve.links.picture;
  return (await call(path)).blob();
}

/** The solve with every solution that is stored. */
async function whole(solve) {
  const listing = lister();
  const solutions = [];
  let next = listing && `${listing.links.solutions}?offset=0&limit=${LISTED}`;
  while (next) {
    const page = await json(next);
    solutions.push(...page.solutions);
    next = page.next;
  }
  return new Blob([JSON.stringify({...solve, solutions}, null, 1)], {type: "application/json"});
}

const parquet = async (solve) =>
  (await call(`/v1/results?id=${solve.id}`, {headers: {Accept: PARQUET}})).blob();

const FORMS = [
  ["SVG", "svg", svg],
  ["JSON", "json", whole],
  ["Parquet", "parquet", parquet],
];

export function Downloads({solve}) {
  const [busy, work] = useState("");
  const name = solve.references?.[0]?.replaceAll("/", "-") ?? `${solve.game}-${solve.id.slice(0, 8)}`;
  const take = async (suffix, make) => {
    work(suffix);
    try {
      save(await make(solve), `${name}.${suffix}`);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      set({problem: error});
    } finally {
      work("");
    }
  };
  return html`
    <div class="downloads" role="group" aria-label="Download">
      ${FORMS.map(([title, suffix, make]) => html`
        <button key=${suffix} type="button" class="chip" disabled=${busy === suffix}
          aria-label=${`Download ${title}`} onClick=${() => take(suffix, make)}>${title}</button>`)}
    </div>`;
}
