// A compact form for the ask and the rules, built from the games' own lists.
import {classes, html} from "../html.js";
import {isOver} from "../api.js";
import {draftOf, solveDraft} from "../drafts.js";
import {gameOf, set, submit, useSession} from "../session.js";

const LIMITS = {best: 10, all: 100};
const LIMIT_MAX = 10_000;
const SAYS = {
  count: ["Count", "how many solutions there are, exactly"],
  first: ["First", "one solution, as soon as there is one"],
  best: ["Best", "the best solutions, and how many there are"],
  all: ["All", "a list of solutions"],
};
const ORDER = Object.keys(SAYS);
const ASK = /^([a-z]+)(?:\((\d+)\))?$/;

const kindOf = (ask) => ASK.exec(ask)?.[1] ?? ask;
const limitOf = (ask) => ASK.exec(ask)?.[2] ?? null;
/** The most solutions that a game lists for an ask; 0 for an ask without a limit. */
const mostOf = (kind, plug) => (kind === "best" && plug.best_max) || (kind in LIMITS ? LIMIT_MAX : 0);
const withLimit = (kind, most, limit = LIMITS[kind]) => (most ? `${kind}(${Math.min(most, limit)})` : kind);
/** The help of a rule is that of an option of the command line: here there are names alone. */
const withoutOptions = (help) => help.replace(/ \(--[a-z-]+\)/g, "").replace(/--([a-z])/g, "$1");
const named = (name) => name.replaceAll("_", " ");

function Kinds({plug, ask}) {
  // What was meant has a button of its own.
  const kinds = [...new Set(plug.asks.map(kindOf))].filter((name) => name in SAYS).sort((a, b) => ORDER.indexOf(a) - ORDER.indexOf(b));
  const kind = kindOf(ask);
  return html`
    <fieldset class="kinds">
      <legend class="unseen">What is asked</legend>
      ${kinds.map((name) => html`
        <label key=${name} class=${classes(name === kind && "is-chosen")} title=${SAYS[name]?.[1]}>
          <input type="radio" name="ask" value=${name} checked=${name === kind}
            onChange=${() => set({ask: withLimit(name, mostOf(name, plug))})} />
          ${SAYS[name]?.[0] ?? name}
        </label>`)}
    </fieldset>`;
}

function Rule({rule, value, change}) {
  const {name, type, default: usual, choices} = rule;
  const id = `rule-${name}`;
  const usually = usual === null || usual === undefined || usual === "" ? "usual" : `usual: ${usual === true ? "yes" : usual === false ? "no" : usual}`;
  const options = choices?.length ? choices : ["bool", "boolean", "flag"].includes(type) ? ["yes", "no"] : null;
  const read = (text) => (options?.[0] === "yes" && options.length === 2 && !choices?.length ? text === "yes" : type?.startsWith("int") ? Number(text) : text);
  const told = (event) => change(event.target.value === "" ? undefined : read(event.target.value));
  const present = value === true ? "yes" : value === false ? "no" : value ?? "";
  return html`
    <div class="rule">
      <label for=${id}>${named(name)}</label>
      ${options
        ? html`<select id=${id} value=${present} onChange=${told} aria-describedby=${`${id}-help`}>
            <option value="">${usually}</option>
            ${options.map((option) => html`<option key=${option} value=${option}>${option}</option>`)}
          </select>`
        : html`<input id=${id} value=${present} placeholder=${usually} aria-describedby=${`${id}-help`}
            inputmode=${type?.startsWith("int") ? "numeric" : undefined} onInput=${told} />`}
      <p id=${`${id}-help`}>${withoutOptions(rule.help)}</p>
    </div>`;
}

export function AskForm() {
  const session = useSession();
  const {game, ask: said, rules, words, deadline, board, solve, busy, mode} = session;
  const plug = gameOf(game);
  if (!plug) return null;
  const ask = said || plug.usual_ask;
  const kind = kindOf(ask);
  const most = mostOf(kind, plug);
  const running = busy || (solve && !isOver(solve));
  const change = (name, value) => {
    const {[name]: _before, ...others} = rules;
    set({rules: value === undefined ? others : {...others, [name]: value}});
  };
  const switched = Object.keys(rules).length + (words.trim() ? 1 : 0) + (deadline ? 1 : 0);
  const ready = board || (mode !== "day" && session.draft && draftOf(session).ready);
  const send = (event) => {
    event.preventDefault();
    if (running) return;
    // The answer is below the rules, which may be longer than a screen.
    event.currentTarget.querySelector(".rules").open = false;
    if (board) submit();
    else solveDraft();
  };
  return html`
    <form class="ask" onSubmit=${send}>
      <div class="ask-row">
        <${Kinds} plug=${plug} ask=${ask} />
        ${most > 1 && html`
          <label class="limit"><span class="unseen">How many solutions</span>
            <input type="number" min="1" max=${most} value=${limitOf(ask) ?? LIMITS[kind]}
              onInput=${(event) => set({ask: withLimit(kind, most, Math.max(1, Number(event.target.value) || 1))})} />
          </label>`}
      </div>
      <button class="button solve" type="submit" disabled=${!ready && !running} aria-disabled=${Boolean(running)}>Solve</button>
      <details class="rules">
        <summary>Rules and limits${switched ? html` <span class="badge">${switched}</span>` : ""}</summary>
        ${(plug.rules ?? []).map((rule) => html`
          <${Rule} key=${rule.name} rule=${rule} value=${rules[rule.name]} change=${(value) => change(rule.name, value)} />`)}
        ${plug.accepts_words && html`
          <div class="rule">
            <label for="words">words</label>
            <textarea id="words" rows="2" spellcheck=${false} value=${words} aria-describedby="words-help"
              onInput=${(event) => set({words: event.target.value})}></textarea>
            <p id="words-help">Words to play with, separated by spaces. Without any: the board's own words or the English lexicon.</p>
          </div>`}
        <div class="rule">
          <label for="deadline">deadline</label>
          <input id="deadline" type="number" min="0" step="any" placeholder="none" value=${deadline}
            aria-describedby="deadline-help" onInput=${(event) => set({deadline: event.target.value})} />
          <p id="deadline-help">Seconds after which the job expires.</p>
        </div>
      </details>
    </form>`;
}
