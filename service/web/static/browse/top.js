// The head of the pages beside the first one, and the field for a key.
import {html, useEffect, useState} from "../html.js";
import {Brand, Light} from "../views/header.js";
import {KeyForm} from "../views/key.js";

const PAGES = [["/", "Solve"], ["/browse", "Browse"], ["/api", "API"]];

export function Top() {
  return html`
    <header class="head">
      <${Brand} />
      <nav class="games" aria-label="Pages">
        ${PAGES.map(([path, title]) => html`<a key=${path} class="game" href=${path} aria-current=${path === location.pathname ? "page" : undefined}>${title}</a>`)}
      </nav>
      <${Light} />
    </header>`;
}

/** Ask for a key once the service requires one; what needs it is asked again. */
export function Key({then}) {
  const [wanted, want] = useState(false);
  useEffect(() => {
    const see = () => want(true);
    addEventListener("nightgrid:key-wanted", see);
    return () => removeEventListener("nightgrid:key-wanted", see);
  }, []);
  if (!wanted) return null;
  return html`<${KeyForm} then=${() => { want(false); then(); }} />`;
}
