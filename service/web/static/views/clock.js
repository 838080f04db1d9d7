// The time that passes while one waits.
import {useEffect, useState} from "../html.js";

/** The current time in milliseconds, updated every second. */
export function useNow() {
  const [now, tick] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => tick(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}
