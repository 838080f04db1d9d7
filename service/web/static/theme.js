// Dark or light: as the system, unless chosen.
const CHOSEN = "nightgrid-theme";
const dark = matchMedia("(prefers-color-scheme: dark)");

const chosen = () => localStorage.getItem(CHOSEN);
export const isDark = () => (chosen() ?? (dark.matches ? "dark" : "light")) === "dark";

export function applyTheme() {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
  // The class that Swagger UI goes by.
  document.documentElement.classList.toggle("dark-mode", isDark());
}

export function toggleTheme() {
  const wanted = isDark() ? "light" : "dark";
  // A choice equal to the system's is not stored, so that the page keeps following the system.
  if ((wanted === "dark") === dark.matches) localStorage.removeItem(CHOSEN);
  else localStorage.setItem(CHOSEN, wanted);
  applyTheme();
}

export function watchTheme(changed) {
  const follow = () => { applyTheme(); changed(); };
  dark.addEventListener("change", follow);
  return () => dark.removeEventListener("change", follow);
}
