// Remembers how far down and at which row the list of requests was left, with its entry in the browser's
// history. A person who goes back finds the list in that place; a person who opens it anew starts at the top.

import { go } from '../../navigation/navigation.ts';

interface ScrollPosition {
  readonly y: number;
  readonly row: string;
}

/** The place in which the list was left last. */
let last: (ScrollPosition & { readonly search: string }) | null = null;
let isGoingBack = false;

export function saveListPosition(row: string): void {
  const left: ScrollPosition = { y: window.scrollY, row };
  window.history.replaceState(left, '');
  last = { ...left, search: window.location.search };
}

/** The place to return to; null when the person is not coming back. */
export function savedListPosition(): ScrollPosition | null {
  if (isGoingBack) return last;
  const state: Partial<ScrollPosition> | null = window.history.state;
  return typeof state?.y === 'number' && typeof state.row === 'string'
    ? { y: state.y, row: state.row }
    : null;
}

/** Returns to the list like the browser's own Back, even if other pages were opened in between. */
export function backToList(): void {
  isGoingBack = true;
  go(`/requests${last?.search ?? ''}`);
  // By then the list has been drawn.
  setTimeout(() => {
    isGoingBack = false;
  });
}
