// The field for an API key, shown once the service requires one.
import {html, useState} from "../html.js";
import {keepKey, key} from "../api.js";

/** Keep what is typed, and then call `then`. */
export function KeyForm({then}) {
  const [value, change] = useState(key());
  const send = (event) => {
    event.preventDefault();
    keepKey(value.trim());
    then();
  };
  return html`
    <form class="key" onSubmit=${send}>
      <label for="key">This service requires an API key</label>
      <input id="key" type="password" autocomplete="off" spellcheck=${false} value=${value}
        onInput=${(event) => change(event.target.value)} />
      <button class="button" type="submit">Use it</button>
      <p>It stays in this tab until you close it.</p>
    </form>`;
}
