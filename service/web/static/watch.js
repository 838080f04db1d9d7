// Whether the service answers, and its load: polled while the page is visible.
import {json} from "./api.js";
import {lookAgain, say, set, state} from "./session.js";

const QUEUE_MS = 3000;
/** The service updates its queue once a second: changes are visible after that. */
const QUEUE_SOON_MS = 1100;
/** Timeout of the service. */
const SILENT_MS = 10_000;

/** Record whether the service answers; announce changes to screen readers. */
export function answers(now) {
  if (state.away === !now) return;
  set({away: !now});
  say(now ? "The service answers again." : "The service does not answer. Retrying.");
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

/** Poll the queue while the page is visible. */
export function watchQueue() {
  lookAtQueue();
  const timer = setInterval(lookAtQueue, QUEUE_MS);
  return () => clearInterval(timer);
}
