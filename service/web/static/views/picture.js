// A board as drawn by the service, in the colours of the page and without its frame.
import {html, useLayoutEffect, useMemo, useRef} from "../html.js";

const DROPPED = "script, foreignObject, .page, .title, .caption";
const RIM = 5;

/** Parse an SVG; null if invalid. Removes everything that could run or load. */
function read(source) {
  const root = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  if (root.localName !== "svg") return null;
  root.querySelectorAll(DROPPED).forEach((element) => element.remove());
  for (const element of [root, ...root.querySelectorAll("*")]) {
    for (const {name} of [...element.attributes]) {
      if (/^on|href$|^style$/i.test(name)) element.removeAttribute(name);
    }
  }
  return root;
}

/** Return the features of each tile that are left before move `upto` of the walk. */
function featuresLeft(puzzle, walk, upto) {
  const left = puzzle.tiles.map((tile) => new Set(tile));
  for (let i = 1; i <= upto; i++) {
    const [before, tile] = [left[walk.tiles[i - 1]], left[walk.tiles[i]]];
    if (before === tile) continue;
    for (const feature of [...before]) {
      if (tile.has(feature)) { before.delete(feature); tile.delete(feature); }
    }
  }
  return left;
}

/** Show a solution up to one of its steps: strokes of Letter Boxed, moves of Tiles. */
function showSteps(root, {puzzle, solution, upto}) {
  root.querySelectorAll("[data-step]").forEach((element) => {
    element.classList.toggle("is-later", upto !== null && Number(element.dataset.step) > upto);
  });
  if (!solution?.tiles || !puzzle?.tiles) return;
  const left = upto === null ? null : featuresLeft(puzzle, solution, upto);
  root.querySelectorAll("[data-feature]").forEach((element) => {
    const {tile, feature} = element.dataset;
    element.classList.toggle("is-cleared", left !== null && !left[Number(tile)]?.has(feature));
  });
  root.querySelectorAll("rect[data-tile].tile").forEach((element) => {
    const tile = Number(element.dataset.tile);
    element.classList.toggle("is-here", upto !== null && solution.tiles[upto] === tile);
    element.classList.toggle("was-here", upto > 0 && solution.tiles[upto - 1] === tile);
  });
  root.querySelectorAll(".moves").forEach((element) => {
    element.classList.toggle("is-later", upto !== null);
  });
}

/** The number of steps of a solution that is shown step by step; 0 for others. */
export function stepsOf(solution) {
  if (Array.isArray(solution?.tiles)) return solution.tiles.length - 1;
  if (Array.isArray(solution?.words) && solution.words.every((word) => typeof word === "string")) {
    return solution.words.reduce((sum, word) => sum + word.length - 1, 0);
  }
  return 0;
}

export function Picture({source, label, puzzle, solution, upto = null, faint = false}) {
  const host = useRef(null);
  const drawn = useMemo(() => source && read(source), [source]);
  useLayoutEffect(() => {
    host.current.replaceChildren();
    if (!drawn) return;
    const root = document.importNode(drawn, true);
    root.setAttribute("class", "board");
    root.removeAttribute("width");
    root.removeAttribute("height");
    root.setAttribute("role", "img");
    root.setAttribute("aria-label", label || root.querySelector("title")?.textContent || "A board");
    root.querySelector("title")?.remove();
    host.current.append(root);
    const box = root.getBBox();
    if (box.width) {
      root.setAttribute("viewBox", [box.x - RIM, box.y - RIM, box.width + 2 * RIM, box.height + 2 * RIM].join(" "));
      host.current.style.setProperty("--board-width", `${box.width + 2 * RIM}px`);
      host.current.style.setProperty("--board-ratio", String((box.width + 2 * RIM) / (box.height + 2 * RIM)));
    }
  }, [drawn, label]);
  useLayoutEffect(() => {
    const root = host.current.querySelector("svg");
    if (root) showSteps(root, {puzzle, solution, upto});
  }, [drawn, label, puzzle, solution, upto]);
  return html`<div class=${`picture${faint ? " is-faint" : ""}`} ref=${host}></div>`;
}
