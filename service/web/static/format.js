// Numbers, times and dates for people.

/** A number and its unit stay on one line. */
const SPACE = "\u00a0";
const THOUSANDS = /\B(?=(\d{3})+(?!\d))/g;

/** Group the digits of a whole number of any length: "1234567" to "1,234,567". */
export const grouped = (number) => String(number).replace(THOUSANDS, ",");

/** Format a count: "1 solution", "1,204 solutions". */
export const plural = (number, one, many = `${one}s`) =>
  `${grouped(number)} ${String(number) === "1" ? one : many}`;

/** Format seconds with three digits and a suitable unit. */
export function duration(seconds) {
  if (seconds === null || seconds === undefined || Number.isNaN(Number(seconds))) return "–";
  const s = Number(seconds);
  const short = (value) => (value >= 100 ? value.toFixed(0) : value.toPrecision(value >= 10 ? 3 : 2));
  if (s <= 0) return `0${SPACE}s`;
  // Not in microseconds: the fonts of the page have no "µ".
  if (s < 1) return `${short(s * 1e3)}${SPACE}ms`;
  if (s < 60) return `${Number.isInteger(s) ? s : short(s)}${SPACE}s`;
  // Rounded first: 119.7 s are 2 min 0 s, not 1 min 60 s.
  const whole = Math.round(s);
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes}${SPACE}min ${whole % 60}${SPACE}s`;
  return `${Math.floor(minutes / 60)}${SPACE}h ${minutes % 60}${SPACE}min`;
}

/** Format estimated seconds: "about 26 s". */
export const roughly = (seconds) => `about ${duration(Math.max(1, Math.round(seconds)))}`;

const utc = (iso) => new Date(`${iso}T00:00:00Z`);
const told = (options) => new Intl.DateTimeFormat("en-GB", {timeZone: "UTC", ...options});
const LONG = told({weekday: "long", day: "numeric", month: "long", year: "numeric"});
const SHORT = told({day: "numeric", month: "long", year: "numeric"});
const MONTH = told({month: "long", year: "numeric"});

export const longDate = (iso) => LONG.format(utc(iso)).replace(",", "");
export const shortDate = (iso) => SHORT.format(utc(iso)).replaceAll(" ", SPACE);
export const monthName = (month) => MONTH.format(utc(`${month}-01`));

/** Add days to a date, both as YYYY-MM-DD. */
export function dayAfter(iso, days) {
  const date = utc(iso);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** Add months to a month, both as YYYY-MM. */
export function monthAfter(month, months) {
  const date = utc(`${month}-01`);
  date.setUTCMonth(date.getUTCMonth() + months);
  return date.toISOString().slice(0, 7);
}

/** The days of a month in weeks from Monday on; null for days of other months. */
export function weeksOf(month) {
  const first = utc(`${month}-01`);
  const days = new Date(Date.UTC(first.getUTCFullYear(), first.getUTCMonth() + 1, 0)).getUTCDate();
  const before = (first.getUTCDay() + 6) % 7;
  const cells = Array(before).fill(null);
  for (let day = 1; day <= days; day++) cells.push(`${month}-${String(day).padStart(2, "0")}`);
  while (cells.length % 7) cells.push(null);
  return Array.from({length: cells.length / 7}, (_, week) => cells.slice(7 * week, 7 * week + 7));
}
