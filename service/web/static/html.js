// What every view is written with: preact's elements as templates, and its hooks.
import {h, render, Fragment} from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export {h, render, Fragment};
export * from "./vendor/hooks.js";
export const html = htm.bind(h);

/** Join the class names that are there. */
export const classes = (...names) => names.filter(Boolean).join(" ");
