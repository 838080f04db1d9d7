// The API as the page uses it: requests with the key, problems as errors, events by fetch.
import {headInWords, problemInWords} from "./words.js";

const KEY = "nightgrid-key";
const RETRY_MS = [500, 1000, 2000, 4000, 8000];
/** The service sends a keep-alive at least every 15 s. */
const SILENT_MS = 40_000;
const LONGEST_PROBLEM = 400;

/** An error of the service (RFC 9457). */
export class Problem extends Error {
  constructor(status, body = {}, retryAfter = null) {
    const title = headInWords(body) || (status ? `The service answers ${status}.` : "The service does not answer.");
    super(problemInWords({...body, title}).slice(0, LONGEST_PROBLEM));
    this.status = status;
    this.title = title;
    this.errors = Array.isArray(body.errors) ? body.errors : [];
    this.retryAfter = retryAfter;
  }
}

export const key = () => sessionStorage.getItem(KEY) || "";

export function keepKey(text) {
  if (text) sessionStorage.setItem(KEY, text);
  else sessionStorage.removeItem(KEY);
}

function headersWith(headers) {
  return key() ? {...headers, Authorization: `Bearer ${key()}`} : headers;
}

async function problemOf(response) {
  const body = await response.json().catch(() => ({}));
  if (response.status === 401) dispatchEvent(new CustomEvent("nightgrid:key-wanted"));
  return new Problem(response.status, body, Number(response.headers.get("Retry-After")) || null);
}

/** Send a request; raises Problem unless it succeeds. */
export async function call(path, {method = "GET", headers = {}, body, signal} = {}) {
  const options = {method, headers: headersWith(headers), signal, credentials: "omit"};
  if (body !== undefined) {
    options.body = typeof body === "string" ? body : JSON.stringify(body);
    options.headers["Content-Type"] = "application/json";
  }
  let response;
  try {
    response = await fetch(path, options);
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(0);
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

export const json = async (path, options) => (await call(path, options)).json();
export const text = async (path, options) => (await call(path, options)).text();

const wait = (ms, signal) =>
  new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal?.addEventListener("abort", () => { clearTimeout(timer); resolve(); }, {once: true});
  });

/** Read server-sent events from a response: yields {id, event, data}. */
async function* eventsOf(response) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  try {
    yield* eventsIn(reader);
  } finally {
    reader.cancel().catch(() => {});
  }
}

/** Read the next piece; raises Problem if nothing arrives for too long. */
function readOn(reader) {
  let timer;
  const silence = new Promise((_, reject) => { timer = setTimeout(() => reject(new Problem(0)), SILENT_MS); });
  return Promise.race([reader.read(), silence]).finally(() => clearTimeout(timer));
}

async function* eventsIn(reader) {
  let rest = "";
  for (;;) {
    const {value, done} = await readOn(reader);
    if (done) return;
    rest += value;
    // The second half of a line end may come with the next piece.
    const held = rest.endsWith("\r") ? "\r" : "";
    const whole = rest.slice(0, rest.length - held.length).replaceAll("\r\n", "\n").replaceAll("\r", "\n");
    const blocks = whole.split("\n\n");
    rest = blocks.pop() + held;
    for (const block of blocks) {
      const found = {id: null, event: "message", data: ""};
      for (const line of block.split("\n")) {
        const [, name, told] = /^([a-z]+): ?(.*)$/.exec(line) || [];
        if (name === "data") found.data += (found.data && "\n") + told;
        else if (name in found) found[name] = told;
      }
      if (found.data) yield found;
    }
  }
}

/**
 * Follow a solve until it ends: calls `on(event, data)`. A lost connection is resumed
 * after the last event; without events the solve is polled. `isAway` is
 * called when the service does not answer.
 */
export async function follow(solve, on, signal, isAway = () => {}) {
  let last = null;
  let lost = 0;
  while (!signal.aborted) {
    try {
      const headers = {Accept: "text/event-stream", ...(last && {"Last-Event-ID": last})};
      const response = await call(solve.links.events, {headers, signal});
      for await (const {id, event, data} of eventsOf(response)) {
        last = id ?? last;
        lost = 0;
        on(event, JSON.parse(data));
        if (event === "end") return;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof Problem && [401, 403, 404].includes(error.status)) throw error;
      if (error instanceof Problem && !error.status) isAway();
    }
    await wait(RETRY_MS[Math.min(lost++, RETRY_MS.length - 1)], signal);
    if (signal.aborted || lost < 2) continue;
    const now = await json(solve.links.self, {signal}).catch(() => null);
    if (now) on(isOver(now) ? "end" : "state", now);
    if (now && isOver(now)) return;
  }
}

export const isOver = (solve) => !["queued", "running"].includes(solve.state);
