// The icons of the page, as line drawings.
import {html} from "../html.js";

const sign = (path) => () => html`<svg viewBox="0 0 24 24" aria-hidden="true"><path d=${path} /></svg>`;

export const Left = sign("M14.5 5.5L8 12l6.5 6.5");
export const Right = sign("M9.5 5.5L16 12l-6.5 6.5");
export const Back = sign("M19 12H5M11 5.5L4.5 12l6.5 6.5");
export const On = sign("M5 12h14M13 5.5l6.5 6.5-6.5 6.5");
