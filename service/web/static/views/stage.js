// The stage: the title of the board, the board itself, and the navigation of its solutions.
import {classes, html, useEffect, useState} from "../html.js";
import {grouped} from "../format.js";
import {canBeListed, chooseDay, lister, showSolutions, solutionCount, stepTo, titleOf, useSession} from "../session.js";
import {neighbours} from "./calendar.js";
import {Drawing} from "./draw.js";
import {Back, Left, On, Right} from "./icons.js";
import {begin} from "../play/moves.js";
import {canPlay, PlayBoard} from "../play/board.js";
import {Picture, stepsOf} from "./picture.js";

function Arrow({to, name, children}) {
  return html`<button class="round" type="button" aria-label=${name} title=${name} disabled=${!to}
    onClick=${() => chooseDay(to)}>${children}</button>`;
}

function Levels({session}) {
  const {board, game, days, play} = session;
  const levels = days[game]?.get(board.date) ?? [];
  const playable = !play && canPlay(board);
  if (levels.length < 2 && !playable) return null;
  return html`
    <div class="levels" role="group" aria-label="Level">
      ${levels.length > 1 && levels.map(({level}) => html`
        <button key=${level} type="button" aria-pressed=${level === board.level}
          onClick=${() => chooseDay(`${game}/${board.date}/${level}`)}>${level}</button>`)}
      ${playable && html`<button class="play-it" type="button" onClick=${() => begin()}>Play it</button>`}
    </div>`;
}

function Headline({session}) {
  const {board, game, mode, problem} = session;
  if (!board) {
    const title = {day: problem ? "Nothing to show" : "…", paste: "Paste a payload", draw: `Draw a board of ${titleOf(game)}`}[mode];
    return html`<div class="headline"><div><p class="kicker">${titleOf(game)}</p><h1>${title}</h1></div></div>`;
  }
  const {before, after} = neighbours(session);
  const [weekday, ...rest] = board.date ? board.title.split(" ") : [];
  return html`
    <div class="headline">
      <div>
        <p class="kicker">${titleOf(board.game)}${weekday && html` <span>${weekday}</span>`}</p>
        <h1>${weekday ? rest.join(" ") : board.title}</h1>
        ${board.clue && html`<p class="clue">“${board.clue}”</p>`}
      </div>
      ${board.date && html`
        <div class="days">
          <${Arrow} to=${before} name="Day before"><${Left} /><//>
          <${Arrow} to=${after} name="Day after"><${Right} /><//>
        </div>`}
      <${Levels} session=${session} />
    </div>`;
}

/** Step through the stored solutions. */
function Stepper({session}) {
  const total = solutionCount(session);
  if (!total) return null;
  const {at} = session;
  const of = lister(session).answer.truncated ? `${grouped(total)} listed` : grouped(total);
  return html`
    <div class="stepper" role="group" aria-label="Solutions">
      <button class="round" type="button" aria-label="Previous solution" disabled=${at === 0}
        onClick=${() => stepTo(at - 1)}><${Back} /></button>
      <p><span class="unseen">Solution </span><b>${grouped(at + 1)}</b> of ${of}</p>
      <button class="round" type="button" aria-label="Next solution" disabled=${at >= total - 1}
        onClick=${() => stepTo(at + 1)}><${On} /></button>
    </div>`;
}

/** Show one solution step by step: a walk of Tiles, the strokes of Letter Boxed. */
function Steps({steps, upto, change}) {
  if (!steps) return null;
  const shown = upto ?? steps;
  return html`
    <div class="steps">
      <label for="steps">${upto === null ? "Whole" : `Step ${upto} of ${steps}`}</label>
      <input id="steps" type="range" min="0" max=${steps} value=${shown}
        onInput=${(event) => change(Number(event.target.value))} />
      <button class="link" type="button" disabled=${upto === null} onClick=${() => change(null)}>all at once</button>
    </div>`;
}

export function Stage() {
  const session = useSession();
  const {board, mode, picture, solutionPicture, solutions, at, solve, problem, play} = session;
  const [upto, change] = useState(null);
  const [bare, hide] = useState(false);
  useEffect(() => { change(null); }, [at, board]);
  useEffect(() => { hide(false); }, [board]);
  const drawing = mode !== "day" && !board;
  const solved = solutionPicture && !bare;
  const steps = stepsOf(solutions[at]);
  const running = solve && ["queued", "running"].includes(solve.state);
  return html`
    <section class="stage" id="board" aria-label="Board" tabindex="-1">
      <${Headline} session=${session} />
      <div class=${classes("plate", running && "is-running", drawing && "is-drawn-on")}>
        ${drawing
          ? html`<${Drawing} key=${`${mode}-${session.game}`} />`
          : play && board ? html`<${PlayBoard} />`
          : picture
            ? html`<${Picture} source=${solved ? solutionPicture : picture} puzzle=${board?.puzzle}
                solution=${solved ? solutions[at] : null} upto=${solved ? upto : null} />`
            : html`<p class="quiet">${board ? "There is no picture of this board." : problem ? "Choose a day, or another game." : "Drawing the board…"}</p>`}
      </div>
      ${!play && !drawing && solutionCount(session) > 0 && html`
        <div class="under">
          <${Stepper} session=${session} />
          <${Steps} steps=${bare ? 0 : steps} upto=${upto} change=${change} />
          <button class="link" type="button" aria-pressed=${bare} onClick=${() => hide(!bare)}>
            ${bare ? "show the solution" : "hide the solution"}</button>
        </div>`}
      ${!play && !drawing && !running && canBeListed(session) && html`
        <div class="under">
          <button class="chip" type="button" disabled=${session.busy} onClick=${showSolutions}>show the solutions</button>
        </div>`}
    </section>`;
}
