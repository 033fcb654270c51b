// The theme: light, dark, or the same as the system. It is kept in this browser and set before the first
// paint by public/theme-early.js.

export const themes = ['system', 'light', 'dark'] as const;
export type Theme = (typeof themes)[number];

const key = 'writ.theme';

export function themeNow(): Theme {
  return themes.find((theme) => theme === document.documentElement.dataset.theme) ?? 'system';
}

export function setTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  try {
    window.localStorage.setItem(key, theme);
  } catch {
    // If storage is not available, the choice lasts until the page is reloaded.
  }
}
