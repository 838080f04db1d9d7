// A board made by hand: the editor of its game on the stage, help and size next to it.
import {html, useState} from "../html.js";
import {change, clearDraft, draftOf, edit, showDraft} from "../drafts.js";
import {editorOf} from "../editors/index.js";
import {titleOf, useSession} from "../session.js";

/** The faults of a board, one for each place. What is only open, since nobody has typed it yet, is no error. */
export function Faults({faults, checking, ready}) {
  const told = [...new Map(faults.map((fault) => [`${fault.pointer ?? ""} ${fault.detail}`, fault])).values()];
  return html`
    <div class="faults" role="status">
      ${told.length > 0
        ? html`<ul>${told.map(({detail, soft, open, pointer}) => html`
            <li key=${`${pointer ?? ""} ${detail}`} class=${soft || open ? "is-soft" : ""} title=${pointer || undefined}>${detail}</li>`)}</ul>`
        : html`<p class="is-well">${checking ? "Checking…" : ready ? "The board is well formed." : ""}</p>`}
    </div>`;
}

export function Drawing() {
  const session = useSession();
  const {game, mode} = session;
  const draft = draftOf(session);
  const editor = editorOf(game);
  if (!game || !draft.model) return null;
  if (mode === "paste" && !(session.draft?.locked && session.draft.game === game)) {
    return html`<p class="quiet">Paste a payload to see its board here.</p>`;
  }
  const locked = mode === "paste";
  return html`
    <div class="drawing">
      <${Faults} ...${draft} />
      <${editor.View} model=${draft.model} faults=${draft.faults} locked=${locked} ready=${Boolean(draft.ready)} change=${(model) => change(game, model)} />
      ${draft.ready && html`<button class="link" type="button" onClick=${showDraft}>show it as a picture</button>`}
      ${locked && html`<button class="link" type="button" onClick=${editPasted}>edit it by hand</button>`}
    </div>`;
}

function editPasted() {
  const draft = draftOf();
  edit();
  change(draft.game, draft.model);
}

function Size({model, game}) {
  const editor = editorOf(game);
  if (!editor.size || model.rows === undefined) return null;
  const resize = (name, wanted) => {
    const next = {...model, [name]: Math.min(editor.size.max, Math.max(1, Math.floor(Number(wanted)) || 1))};
    change(game, editor.resize ? editor.resize(model, next.rows, next.columns) : within(next));
  };
  return html`
    <div class="fields">${["rows", "columns"].map((name) => html`
      <${Length} key=${name} name=${name} size=${model[name]} max=${editor.size.max} take=${(wanted) => resize(name, wanted)} />`)}
    </div>`;
}

/** A number that applies once typed completely: typing 12 must not cut the board to 1. */
function Length({name, size, max, take}) {
  const [typed, type] = useState(null);
  const end = () => {
    if (typed !== null) take(typed);
    type(null);
  };
  return html`
    <label class="field"><span>${name}</span>
      <input type="number" min="1" max=${max} value=${typed ?? size} onInput=${(event) => type(event.target.value)} onChange=${end} onBlur=${end} />
    </label>`;
}

/** Drop everything beyond the edge of a shrunk board. */
const within = (model) => ({
  ...model,
  of: Object.fromEntries(Object.entries(model.of).filter(([cell]) => {
    const [r, c] = cell.split(",").map(Number);
    return r < model.rows && c < model.columns;
  })),
});

export function DrawHelp() {
  const session = useSession();
  const {game, board, before} = session;
  const draft = draftOf(session);
  const editor = editorOf(game);
  if (!game) return null;
  if (board) {
    return html`
      <p class="quiet">This is ${board.reference ? "a stored board" : "a board of your own"}.</p>
      <button class="button plain" type="button" onClick=${edit}>Edit the board</button>`;
  }
  return html`
    <h2 class="way-title">A board of ${titleOf(game)}</h2>
    <details class="how" open=${matchMedia("(min-width: 48rem)").matches}>
      <summary>How it is drawn</summary>
      <${editor.Help} />
    </details>
    <${Size} model=${draft.model} game=${game} />
    <button class="link" type="button" disabled=${!session.draft} onClick=${clearDraft}>start again</button>
    ${before?.game === game && !session.draft && html`
      <button class="button plain" type="button" onClick=${edit}>Edit the last board</button>`}`;
}
