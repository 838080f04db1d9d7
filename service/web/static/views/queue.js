// A strip with the load of the service.
import {html} from "../html.js";
import {duration, grouped} from "../format.js";
import {useSession} from "../session.js";

function Figure({name, children}) {
  return html`<div class="figure"><dt>${name}</dt><dd>${children}</dd></div>`;
}

export function QueueStrip() {
  const {queue, away} = useSession();
  const workers = queue?.workers?.reduce((sum, {processes}) => sum + (processes ?? 1), 0);
  const light = !queue ? "off" : workers ? (queue.running ? "busy" : "idle") : "off";
  return html`
    <section class="queue" aria-label="Queue" data-light=${light}>
      <span class="lamp" aria-hidden="true"></span>
      ${queue
        ? html`<dl>
            <${Figure} name="waiting">${grouped(queue.waiting ?? 0)}<//>
            <${Figure} name="running">${grouped(queue.running ?? 0)}<//>
            <${Figure} name="oldest">${queue.oldest_s ? duration(queue.oldest_s) : "–"}<//>
            <${Figure} name=${workers === 1 ? "worker" : "workers"}>${queue.state === "starting" ? "starting" : workers ?? "–"}<//>
          </dl>`
        : html`<p>${away ? "The service does not answer. Retrying…" : queue === undefined ? "Reading the queue…" : "The queue does not answer."}</p>`}
    </section>`;
}
