// The answer: how many solutions there are, what that cost, and how the work was divided.
import {classes, html, useRef, useState} from "../html.js";
import {isOver} from "../api.js";
import {duration, grouped, plural, roughly} from "../format.js";
import {cancel, exactCount, isCounted, sentence, useSession} from "../session.js";
import {draftOf} from "../drafts.js";
import {AskForm} from "./ask.js";
import {useNow} from "./clock.js";
import {Downloads} from "./downloads.js";
import {Ranked} from "./ranked.js";
import {SolutionList} from "./solutions.js";
import {asSentence, faultOf} from "../words.js";

/** A number of any length, which wraps between its groups of digits. */
function Digits({number}) {
  const groups = grouped(number).split(",");
  return groups.map((group, i) => (i ? html`<span class="comma">,</span><wbr />${group}` : group));
}

/** Longer numbers get a smaller font: 1 to 5, by number of digits. */
const sizeOf = (number) => [4, 6, 9, 12].filter((digits) => String(number).length > digits).length + 1;

function Problems({problem, retried}) {
  if (!problem) return null;
  const [only] = problem.errors.length === 1 ? problem.errors : [];
  const said = only ? faultOf(only) : problem.message === problem.title ? "" : problem.message;
  const errors = only ? [] : problem.errors;
  const later = problem.retryAfter ? `Try again in ${duration(problem.retryAfter)}.` : "";
  const told = [said, later, retried ? "The page retries until it does." : ""].filter(Boolean);
  return html`
    <div class="problem" role="alert">
      <h2>${problem.title}</h2>
      <p>${told.map(asSentence).join(" ")}</p>
      ${errors.length > 0 && html`
        <ul>${errors.map((error, i) => html`<li key=${i} title=${error.pointer}>${faultOf(error)}</li>`)}</ul>`}
    </div>`;
}

/** Describe what is expected of a running solve: [name, text]. What is not known is not guessed. */
export function expectation({expected_s: expected, left_s: left, chunks_done: done} = {}, elapsed, sinceTold, processes) {
  const unknown = expected === null || expected === undefined;
  // Parts run side by side.
  const wall = (seconds) => seconds / Math.max(1, processes);
  if (done && left > 0) {
    const rest = wall(left) - sinceTold;
    return rest > 0 ? ["left", roughly(rest)] : ["left", "longer than expected"];
  }
  if (unknown || expected <= 0 || done) return ["left", "not known yet"];
  return elapsed <= wall(expected) ? ["expected", roughly(wall(expected))] : ["left", `not known; longer than the ${duration(Math.max(1, Math.round(wall(expected))))} expected`];
}

/** Text for a solve while no worker is ready. */
const STARTING = "The workers compile their kernels, which takes some minutes the first time and seconds later on.";
/** Text for a solve while the service does not answer. */
const AWAY = "The page retries until it does, and then continues. The question is stored in the lake.";

/** The progress of a solve without an answer. */
function stage({state, place}, {away, starts}) {
  if (away) return "The service does not answer";
  if (state !== "queued") return "Solving";
  if (starts) return "Waiting until the workers are ready";
  return place ? `Waiting, ${grouped(place)} before it` : "Waiting";
}

function Running({solve, away, starting, processes}) {
  const now = useNow();
  const told = useRef({estimate: "", at: now});
  const {progress, state} = solve;
  const starts = starting && !away && state === "queued";
  const done = progress?.chunks_done ?? 0;
  const total = progress?.chunks_total ?? 0;
  const share = total && done ? done / total : null;
  const asked = Date.parse(solve.created_at ?? "");
  // Events repeat an estimate until the next part ends; meanwhile time goes on.
  const estimate = `${done} ${progress?.left_s}`;
  if (told.current.estimate !== estimate) told.current = {estimate, at: now};
  const elapsed = Math.max(0, Math.round((now - asked) / 1000));
  const parallel = Math.min(processes || 1, Math.max(1, total - done));
  const [name, text] = expectation(progress ?? {}, elapsed, (now - told.current.at) / 1000, parallel);
  return html`
    <div class="running">
      <p class="verdict">${stage(solve, {away, starts})}</p>
      ${starts && html`<p class="quiet">${STARTING}</p>`}
      ${away && html`<p class="quiet">${AWAY}</p>`}
      <progress max="1" value=${share ?? (away ? 0 : undefined)} aria-label="Progress"></progress>
      <dl class="facts">
        ${asked > 0 && !away && html`<div><dt>so far</dt><dd>${duration(elapsed)}</dd></div>`}
        ${total > 1 && html`<div><dt>parts done</dt><dd>${grouped(done)} of ${grouped(total)}</dd></div>`}
        ${progress && html`<div><dt>${name}</dt><dd>${text}</dd></div>`}
        ${Number(progress?.states) > 0 && html`<div><dt>states</dt><dd>${grouped(progress.states)}</dd></div>`}
      </dl>
      <button class="button plain" type="button" disabled=${away} onClick=${cancel}>Cancel</button>
    </div>`;
}

/** The value of the best solution, in words. */
function worth({game, rules, answer}) {
  if (answer.value === null || answer.value === undefined) return null;
  const unit = game === "tiles" ? "move" : (rules ?? "").includes("fewest-letters") ? "letter" : "word";
  return plural(answer.value, unit);
}

function Verdict({session}) {
  const {solve} = session;
  const answer = solve.answer;
  const exact = exactCount(session);
  if (exact !== null && answer?.status === "solved" && !/^(first|meant)/.test(solve.ask)) {
    // Chains of Letter Boxed: what is counted are the shortest ones alone, unless the rules say more.
    const shortest = (solve.rules ?? "").includes("fewest") ? worth(solve) : null;
    const of = shortest ? ` of ${shortest}` : "";
    return html`
      <p class=${`count size-${sizeOf(exact)}`}><${Digits} number=${exact} /></p>
      <p class="verdict">${exact === "1" ? `solution${of}, and no other${of && " as short"}` : `solutions${of}, counted exactly`}${answer.truncated && html`; ${grouped(answer.count)} of them are listed`}</p>`;
  }
  const value = answer?.status === "solved" ? worth(solve) : null;
  if (value && (!answer.count || !isCounted(solve.game))) {
    return html`
      <p class=${`count size-${sizeOf(answer.value)}`}>${grouped(answer.value)}</p>
      <p class="verdict">${value.replace(/^\S+ /, "")}${solve.ask.startsWith("best") ? ", and no fewer will do" : ""}</p>`;
  }
  if (answer?.status === "solved" && answer.count) {
    return html`
      <p class=${`count size-${sizeOf(answer.count)}`}><${Digits} number=${answer.count} /></p>
      <p class="verdict">${solve.ask === "first" ? "solution found; there may be others" : answer.truncated ? "solutions listed; there are more" : "solutions"}</p>`;
  }
  return html`<p class=${classes("verdict", "is-plain")}>${sentence(solve)}</p>`;
}

const Figures = ({shown}) => html`
  <dl class="facts">${shown.filter(([, value]) => value !== null).map(([name, value]) => html`
    <div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}
  </dl>`;

function Facts({solve}) {
  const {answer} = solve;
  const details = [
    ["in the kernel", answer.kernel_s > 0 && answer.wall_s > 0 ? duration(answer.kernel_s) : null],
    ["states", Number(answer.states) ? grouped(answer.states) : null],
    ["nodes", Number(answer.nodes) ? grouped(answer.nodes) : null],
  ];
  return html`
    <${Figures} shown=${[["time", duration(answer.wall_s ?? answer.kernel_s)], ["the best has", worth(solve)]]} />
    ${details.some(([, value]) => value) && html`
      <details class="details"><summary>Details of the search</summary><${Figures} shown=${details} /></details>`}`;
}

function Share({solve}) {
  const [done, tell] = useState(false);
  const [shown, show] = useState(false);
  const at = new URL(`/?solve=${solve.id}`, location.href).href;
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(at);
      tell(true);
      setTimeout(() => tell(false), 2000);
    } catch {
      // Browsers block the clipboard for remote pages without TLS.
      show(true);
    }
  };
  if (shown) {
    return html`<label class="field wide"><span>the address, to be copied</span>
      <input class="code" readonly value=${at} onFocus=${(event) => event.target.select()} /></label>`;
  }
  return html`<button class="link" type="button" onClick=${copy}>${done ? "address copied" : "copy the address"}</button>`;
}

/** Instructions before there is an answer. */
function hint(session) {
  const {busy, board, mode, pasted} = session;
  if (busy) return "Asking…";
  if (board || (mode !== "day" && session.draft && draftOf(session).ready)) return "Not solved yet. Press Solve.";
  if (mode === "paste" && pasted.trim()) return "The pasted text is not a board yet: the error is shown next to it.";
  return {day: "Choose a day.", paste: "Paste a payload.", draw: "Draw the board, and press Solve."}[mode];
}

export function Answer() {
  const session = useSession();
  const {solve, shown, problem, busy, away, retried, queue} = session;
  const over = solve && isOver(solve);
  return html`
    <section class="answer" aria-label="Answer">
      <${AskForm} />
      <${Problems} problem=${problem} retried=${retried} />
      <div class="result" aria-busy=${busy || (solve && !over)}>
        ${solve && !over && html`<${Running} solve=${solve} away=${away} starting=${queue?.state === "starting"}
          processes=${queue?.workers?.reduce((sum, {processes}) => sum + (processes ?? 1), 0)} />`}
        ${over && html`
          <${Verdict} session=${session} />
          ${solve.answer && html`<${Facts} solve=${solve} />`}`}
        ${!solve && !problem && html`
          <p class="quiet">${hint(session)}</p>`}
      </div>
      <${SolutionList} />
      <${Ranked} />
      ${over && solve.answer && html`
        <div class="take">
          <${Downloads} solve=${solve} shown=${shown} />
          <${Share} solve=${solve} />
        </div>`}
    </section>`;
}
