// The calendar of a game: which days the lake has, and which of them are solved.
import {classes, html, useEffect, useLayoutEffect, useRef, useState} from "../html.js";
import {dayAfter, longDate, monthAfter, monthName, weeksOf} from "../format.js";
import {chooseDay, titleOf, useSession} from "../session.js";
import {Left, Right} from "./icons.js";

const WEEKDAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];
const STEPS = {ArrowLeft: -1, ArrowRight: 1, ArrowUp: -7, ArrowDown: 7};
const SOLVED = "solved";

const isSolved = ({status}) => status === SOLVED || status === "unsolvable";

function spoken(date, levels) {
  if (!levels) return `${longDate(date)}, no board`;
  const solved = levels.filter(isSolved).length;
  const many = levels.length > 1 ? `${levels.length} boards, ${solved} solved` : solved ? "solved" : "not solved";
  return `${longDate(date)}, ${many}`;
}

/** The level to open for a day: the current one if the day has it, else the last. */
const referenceOn = (game, date, levels, level) =>
  [game, date, (levels.find((one) => one.level === level) ?? levels.at(-1)).level].filter(Boolean).join("/");

function Day({date, levels, chosen, focused, open}) {
  if (!date) return html`<td role="gridcell"></td>`;
  const day = Number(date.slice(8));
  return html`
    <td role="gridcell" aria-selected=${chosen}>
      <button type="button" class=${classes("day", levels && "is-there", chosen && "is-chosen")} data-date=${date}
        tabIndex=${focused ? 0 : -1} aria-disabled=${!levels} aria-label=${spoken(date, levels)}
        onClick=${() => levels && open(date)}>
        <span>${day}</span>
        <span class="marks">${(levels ?? []).map((one) =>
          html`<i key=${one.level} class=${isSolved(one) ? "is-solved" : ""}></i>`)}</span>
      </button>
    </td>`;
}

export function Calendar() {
  const {game, days: every, board} = useSession();
  const days = every[game];
  const known = days ? [...days.keys()].sort() : [];
  const shown = board?.date ?? known.at(-1);
  const [month, turn] = useState(null);
  const [focus, move] = useState(null);
  const [open, unfold] = useState(false);
  const table = useRef(null);
  // The day to focus once its month is rendered; earlier keys start from there.
  const next = useRef(null);
  const had = useRef(null);
  const find = (date) => table.current?.querySelector(`[data-date="${date}"]`);
  useEffect(() => {
    // The first board of a page may arrive during keyboard navigation, and must not steal the focus.
    const walks = !had.current && (next.current || table.current?.contains(document.activeElement));
    had.current = board?.date;
    if (walks) return;
    turn(null);
    move(null);
  }, [game, board?.date]);
  useLayoutEffect(() => {
    if (next.current) find(next.current)?.focus();
    next.current = null;
  });
  const at = month ?? shown?.slice(0, 7);
  if (!days) return html`<p class="quiet">Reading the calendar…</p>`;
  if (!known.length) {
    return html`<p class="quiet">There are no daily boards of ${titleOf(game)} here yet. Solve the example, paste a board, or draw one.</p>
      <p class="quiet">New boards come overnight, once <code>nightgrid nightly</code> runs here.</p>`;
  }
  const [first, last] = [known[0].slice(0, 7), known.at(-1).slice(0, 7)];
  const inMonth = (date) => date?.startsWith(at);
  const here = [focus, shown].find(inMonth) ?? known.find(inMonth) ?? `${at}-01`;
  const choose = (date) => chooseDay(referenceOn(game, date, days.get(date), board?.level));
  const go = (date) => {
    const there = find(date);
    next.current = there ? null : date;
    there?.focus();
    move(date);
    turn(date.slice(0, 7));
  };
  const onKey = (event) => {
    // A step starts from the focused day: a board that arrives meanwhile moves `here`, not the focus.
    const from = next.current ?? event.target.dataset?.date ?? here;
    let to = null;
    if (event.key in STEPS) to = dayAfter(from, STEPS[event.key]);
    else if (event.key === "PageUp" || event.key === "PageDown") {
      to = `${monthAfter(from.slice(0, 7), event.key === "PageUp" ? -1 : 1)}-01`;
    } else if (event.key === "Home") to = known[0];
    else if (event.key === "End") to = known.at(-1);
    if (!to) return;
    event.preventDefault();
    const month = to.slice(0, 7);
    if (month >= first && month <= last) go(to);
  };
  const boards = known.flatMap((date) => days.get(date));
  return html`
    <div class=${classes("calendar", open && "is-open")}>
      <div class="month">
        <button class="round" type="button" aria-label="Month before" disabled=${at <= first}
          onClick=${() => turn(monthAfter(at, -1))}><${Left} /></button>
        <h2 aria-live="polite">${monthName(at)}</h2>
        <button class="link unfold" type="button" aria-expanded=${open} onClick=${() => unfold(!open)}>${open ? "fold" : "all days"}</button>
        <button class="round" type="button" aria-label="Month after" disabled=${at >= last}
          onClick=${() => turn(monthAfter(at, 1))}><${Right} /></button>
      </div>
      <table role="grid" aria-label=${`Days of ${titleOf(game)}`} ref=${table} onKeyDown=${onKey}>
        <thead><tr role="row">${WEEKDAYS.map((name) => html`<th key=${name} scope="col">${name}</th>`)}</tr></thead>
        <tbody>${weeksOf(at).map((week, i) => html`
          <tr role="row" key=${i}>${week.map((date, j) => html`
            <${Day} key=${date ?? j} date=${date} levels=${date && days.get(date)} open=${choose}
              chosen=${date !== null && date === board?.date} focused=${date === here} />`)}
          </tr>`)}
        </tbody>
      </table>
      <p class="legend"><i class="is-solved"></i> solved <i></i> not yet
        <span>${boards.filter(isSolved).length} of ${boards.length} boards</span></p>
    </div>`;
}

/** The previous and next day of the lake. */
export function neighbours({game, days, board}) {
  const known = days[game] ? [...days[game].keys()].sort() : [];
  const at = known.indexOf(board?.date);
  const named = (date) => date && referenceOn(game, date, days[game].get(date), board.level);
  return at < 0 ? {} : {before: named(known[at - 1]), after: named(known[at + 1])};
}
