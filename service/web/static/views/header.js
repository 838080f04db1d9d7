// The header: title, games, and theme.
import {html, useEffect, useState} from "../html.js";
import {openGame, useSession} from "../session.js";
import {isDark, toggleTheme, watchTheme} from "../theme.js";

function Moon({dark}) {
  return dark
    ? html`<svg viewBox="0 0 24 24" aria-hidden="true"><circle cx="12" cy="12" r="4.5" /><path d="M12 2v3M12 19v3M2 12h3M19 12h3M4.9 4.9l2.1 2.1M17 17l2.1 2.1M4.9 19.1L7 17M17 7l2.1-2.1" /></svg>`
    : html`<svg viewBox="0 0 24 24" aria-hidden="true"><path class="filled" d="M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z" /></svg>`;
}

export function Light() {
  const [dark, see] = useState(isDark());
  useEffect(() => watchTheme(() => see(isDark())), []);
  const press = () => { toggleTheme(); see(isDark()); };
  const says = dark ? "Light colours" : "Dark colours";
  return html`<button class="round" type="button" onClick=${press} aria-label=${says} title=${says}><${Moon} dark=${dark} /></button>`;
}

export const Brand = () => html`
    <a class="brand" href="/" aria-label="nightgrid, first page">
      <svg viewBox="0 0 32 32" aria-hidden="true">
        <rect class="brand-gold" x="2" y="2" width="13" height="13" rx="4" />
        <rect class="brand-cell" x="17" y="2" width="13" height="13" rx="4" />
        <rect class="brand-cell" x="2" y="17" width="13" height="13" rx="4" />
        <path class="brand-moon" d="M30 23.5a6.5 6.5 0 1 1-6.5-6.5a5.2 5.2 0 0 0 6.5 6.5z" />
      </svg>
      <span>nightgrid</span>
    </a>`;

export function Header() {
  const {games, game} = useSession();
  return html`
    <header class="head">
      <${Brand} />
      <nav class="games" aria-label="Games">
        ${games.map(({game: name, title}) => html`
          <button key=${name} type="button" class="game" data-game=${name}
            aria-current=${name === game ? "page" : undefined} onClick=${() => openGame(name)}>
            ${title}
          </button>`)}
      </nav>
      <a class="game is-page" href="/browse">Browse</a>
      <${Light} />
    </header>`;
}
