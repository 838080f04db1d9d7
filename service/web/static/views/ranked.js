// Strands: the covers most likely meant, their confidences, and the evidence for each word.
import {html, useEffect, useState} from "../html.js";
import {follow, isOver, json, Problem} from "../api.js";
import {duration} from "../format.js";
import {useSession} from "../session.js";
import {useNow} from "./clock.js";

const SHOWN = 5;
const TERMS = 3;
const ALONE = "-alone";
/** Text for a ranking whose models are not installed. */
const WITHOUT = "Ranked without the meaning of words and clue: the models are not installed.";

const named = (name) => name.replaceAll("_", " ");
const LEAST = 0.0005;
const share = (value) => (value < LEAST ? "under 0.1\u00a0%" : `${(100 * value).toFixed(1)}\u00a0%`);

/** The terms that weigh most, as natural logarithms. */
const strongest = (terms) =>
  Object.entries(terms).sort(([, a], [, b]) => Math.abs(b) - Math.abs(a)).slice(0, TERMS)
    .map(([name, nats]) => `${named(name)} ${nats < 0 ? "−" : "+"}${Math.abs(nats).toFixed(1)}`).join(", ");

/** Request the covers that were meant, and follow the job; `begun` gets its progress. */
async function ranked(body, begun, signal) {
  let found = await json("/v1/solves", {method: "POST", body: {...body, ask: "meant"}, signal});
  if (!isOver(found)) {
    begun(found);
    await follow(found, (event, data) => { if (event !== "progress") found = data; }, signal);
  }
  if (!Number(found.answer?.count)) return {...found, covers: []};
  const {solutions} = await json(`${found.links.solutions}?limit=${SHOWN}`, {signal});
  return {...found, covers: solutions};
}

/** How long the ranking has been running. */
function Elapsed() {
  const [since] = useState(Date.now());
  return html`<p class="quiet" role="timer">so far ${duration(Math.max(0, Math.round((useNow() - since) / 1000)))}</p>`;
}

function Cover({cover}) {
  return html`
    <li>
      <details>
        <summary><span class="badge">${share(cover.confidence)}</span> <b>${cover.components.join(" ")}</b> ${cover.theme_words.map(({word}) => word).join(", ")}</summary>
        <dl class="why">
          ${Object.entries(cover.words).map(([word, terms]) => html`
            <div key=${word}><dt>${word}</dt><dd>${strongest(terms)}</dd></div>`)}
          <div><dt>against the others</dt><dd>${strongest(cover.signals)}</dd></div>
        </dl>
      </details>
    </li>`;
}

export function Ranked() {
  const {board, game} = useSession();
  const [found, show] = useState(null);
  const [busy, work] = useState(false);
  const [problem, tell] = useState("");
  const [turn, begin] = useState(null);
  const [open, setOpen] = useState(null);
  useEffect(() => { show(null); tell(""); work(false); setOpen(null); return () => turn?.abort(); }, [board]);
  if (game !== "strands" || !board) return null;
  const rank = async () => {
    const controller = new AbortController();
    begin(controller);
    work(true);
    tell("");
    try {
      const {puzzle, id} = board.body;
      show(await ranked({...(id ? {id} : {puzzle}), ...(!id && board.clue ? {clue: board.clue} : {})}, setOpen, controller.signal));
    } catch (error) {
      if (controller.signal.aborted) return;
      if (!(error instanceof Problem)) throw error;
      tell(error.message);
    }
    setOpen(null);
    work(false);
  };
  const stop = () => {
    json(open.links.self, {method: "DELETE"}).catch((error) => {
      if (!(error instanceof Problem)) throw error;
      tell(error.message);
    });
  };
  return html`
    <section class="ranked" aria-label="Which cover was meant" aria-busy=${busy}>
      <div class="ranked-keys">
        <button class="chip" type="button" disabled=${busy} onClick=${rank}>${busy ? "ranking…" : "which cover was meant?"}</button>
        ${busy && open && html`<button class="chip" type="button" onClick=${stop}>stop ranking</button>`}
        ${busy && html`<${Elapsed} />`}
      </div>
      ${problem && html`<p role="alert">${problem}</p>`}
      ${found && found.covers.length === 0 && html`<p role="status">${found.answer?.reason || found.reason || "No cover was found to rank."}</p>`}
      ${found && found.covers.length > 0 && html`
        <ol>${found.covers.map((cover, i) => html`<${Cover} key=${i} cover=${cover} />`)}</ol>
        <p class="quiet">${found.answer.count} covers ranked by ${found.answer.solver_version} in ${duration(found.answer.kernel_s)}. Confidence is the probability that a cover was meant, if the meant one is listed. A number of +1 makes it 2.7 times as likely, +2.3 ten times.${found.answer.solver_version.endsWith(ALONE) ? ` ${WITHOUT}` : ""}</p>`}
    </section>`;
}
