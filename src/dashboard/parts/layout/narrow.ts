// Tells whether the page is as narrow as on a phone.

/** The same width as in layout.css and approval.css. */
export const narrowQuery = '(width < 52rem)';

export function isNarrow(): boolean {
  return window.matchMedia(narrowQuery).matches;
}
