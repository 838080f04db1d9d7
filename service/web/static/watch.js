// Whether the service answers, and how busy it is: looked at again and again while the page is seen.
import {json} from "./api.js";
import {lookAgain, say, set, state} from "./session.js";

const QUEUE_MS = 3000;
/** The service looks at its queue once a second: what has changed is seen after that. */
const QUEUE_SOON_MS = 1100;
/** A service that says nothing for so long does not answer. */
const SILENT_MS = 10_000;

/** Take note whether the service answers; a change is said to screen readers. */
export function answers(now) {
  if (state.away === !now) return;
  set({away: !now});
  say(now ? "The service answers again." : "The service does not answer. It is asked again.");
}

async function lookAtQueue() {
  if (document.visibilityState !== "visible") return;
  try {
    const queue = await json("/v1/queue", {signal: AbortSignal.timeout(SILENT_MS)});
    answers(true);
    set({queue});
    lookAgain();
  } catch (error) {
    if (error.status === 401) return;
    set({queue: null});
    answers(Boolean(error.status));
  }
}

export const lookSoon = () => setTimeout(lookAtQueue, QUEUE_SOON_MS);

/** Look at the queue again and again while the page is seen. */
export function watchQueue() {
  lookAtQueue();
  const timer = setInterval(lookAtQueue, QUEUE_MS);
  return () => clearInterval(timer);
}
