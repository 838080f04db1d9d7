// The list of solutions, each as a line: covers of Strands with their spangram apart, chains, walks.
import {html} from "../html.js";
import {plural} from "../format.js";
import {lister, stepTo, useSession} from "../session.js";

const LONG = 90;

/** Format a solution as a line: the highlight, and the rest. Null if only a picture can show it. */
export function lineOf(solution) {
  const spelled = (entry) => (entry?.parts?.length > 1 ? entry.parts.join("\u2009·\u2009") : entry?.word);
  if (Array.isArray(solution?.theme_words)) {
    return {first: solution.spangram ? spelled(solution.spangram) : "", rest: solution.theme_words.map(spelled).join(", "), gold: true};
  }
  if (Array.isArray(solution?.words)) {
    const sure = solution.probability ? `, ${Math.round(100 * solution.probability)}% likely accepted` : "";
    return {first: solution.words.join(" – "), rest: solution.letters ? `${solution.letters} letters${sure}` : ""};
  }
  if (Array.isArray(solution?.tiles)) {
    const leaps = solution.teleports?.length ? `, ${plural(solution.teleports.length, "teleport")}` : "";
    return {first: plural(solution.moves, "move") + leaps, rest: ""};
  }
  if (Array.isArray(solution)) return null;
  return {first: JSON.stringify(solution).slice(0, LONG), rest: ""};
}

export function SolutionList() {
  const session = useSession();
  const {solutions, at, board} = session;
  const solve = lister(session);
  if (!solve || !solutions.length || !lineOf(solutions[0])) return null;
  const best = solve.ask.startsWith("best");
  const known = board?.spangram;
  return html`
    <section class="list" aria-label="Solutions">
      <h2>${best ? (solutions.length > 1 ? `The best ${solutions.length}` : "The best one") : plural(solutions.length, "solution")}</h2>
      <ol>${solutions.map((solution, i) => {
        const {first, rest, gold} = lineOf(solution);
        return html`
          <li key=${i}>
            <button type="button" aria-current=${i === at ? "true" : undefined} onClick=${() => stepTo(i)}>
              ${first && html`<b class=${gold ? "spangram" : ""}>${first}</b>`}
              ${rest && html` <span>${rest}</span>`}
              ${known && solution.spangram?.word === known && html` <em>the spangram you know</em>`}
            </button>
          </li>`;
      })}</ol>
    </section>`;
}
