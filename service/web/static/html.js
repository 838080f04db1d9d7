// Common imports of views: preact's elements as templates, and its hooks.
import {h, render, Fragment} from "./vendor/preact.js";
import htm from "./vendor/htm.js";

export {h, render, Fragment};
export * from "./vendor/hooks.js";
export const html = htm.bind(h);

/** Join the non-empty class names. */
export const classes = (...names) => names.filter(Boolean).join(" ");
