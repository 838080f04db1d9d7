// Grids with arrow-key navigation (roving tabindex).
import {useRef, useState} from "../html.js";

const STEPS = {ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0]};

/** The row and column of a cell, from the element that has its place. */
export const placeOf = (element) => element.closest("[data-at]").dataset.at.split(",").map(Number);

/** Manage the focus of a grid: `cell(r, c)` returns the attributes of a cell. */
export function useGrid(rows, columns) {
  const [at, move] = useState([0, 0]);
  const table = useRef(null);
  const here = [Math.min(at[0], rows - 1), Math.min(at[1], columns - 1)];
  const to = (row, column) => {
    const r = Math.min(Math.max(0, row), rows - 1);
    const c = Math.min(Math.max(0, column), columns - 1);
    move([r, c]);
    const element = table.current?.querySelector(`[data-at="${r},${c}"]`);
    element?.focus();
    element?.select?.();
  };
  const onKeyDown = (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return false;
    const step = STEPS[event.key];
    const row = placeOf(event.target)[0];
    const ends = {Home: [row, 0], End: [row, columns - 1]}[event.key];
    if (!step && !ends) return false;
    event.preventDefault();
    const [r, c] = placeOf(event.target);
    if (step) to(r + step[0], c + step[1]);
    else to(...ends);
    return true;
  };
  const cell = (r, c) => ({
    "data-at": `${r},${c}`,
    tabIndex: r === here[0] && c === here[1] ? 0 : -1,
    onFocus: () => move([r, c]),
  });
  return {table, to, onKeyDown, cell};
}

/** The errors of a board by cell: "r,c" to the message. What is still open is no error. */
export function byCell(faults) {
  const found = new Map();
  for (const {cells, detail, open} of faults) for (const cell of open ? [] : cells ?? []) found.set(cell, detail);
  return found;
}
