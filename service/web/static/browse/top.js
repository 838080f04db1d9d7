// The head of the pages beside the first one, and the field for a key.
import {html, useEffect, useState} from "../html.js";
import {keepKey, key} from "../api.js";
import {Brand, Light} from "../views/header.js";

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
  const [value, change] = useState(key());
  useEffect(() => {
    const see = () => want(true);
    addEventListener("nightgrid:key-wanted", see);
    return () => removeEventListener("nightgrid:key-wanted", see);
  }, []);
  if (!wanted) return null;
  const send = (event) => {
    event.preventDefault();
    keepKey(value.trim());
    want(false);
    then();
  };
  return html`
    <form class="key" onSubmit=${send}>
      <label for="key">This service requires an API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck=${false} value=${value} onInput=${(event) => change(event.target.value)} />
      <button class="button" type="submit">Use it</button>
    </form>`;
}
