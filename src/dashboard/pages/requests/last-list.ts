// Where the list of requests was left: how far down, and at which row, kept with its step in the browser's history. Who
// goes back finds it so; who opens the list again starts at its top.

import { go } from '../../navigation/navigation.ts';

interface Left {
  readonly y: number;
  readonly row: string;
}

/** The list that was left last. */
let last: (Left & { readonly search: string }) | null = null;
let isGoingBack = false;

export function noteLeft(row: string): void {
  const left: Left = { y: window.scrollY, row };
  window.history.replaceState(left, '');
  last = { ...left, search: window.location.search };
}

/** Where to stand again, if one is coming back. */
export function leftHere(): Left | null {
  if (isGoingBack) return last;
  const state: Partial<Left> | null = window.history.state;
  return typeof state?.y === 'number' && typeof state.row === 'string'
    ? { y: state.y, row: state.row }
    : null;
}

/** As the browser's own step would, also where another page was opened in between. */
export function backToList(): void {
  isGoingBack = true;
  go(`/requests${last?.search ?? ''}`);
  // By then the list is there.
  setTimeout(() => {
    isGoingBack = false;
  });
}
