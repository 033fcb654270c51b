// Runs generated text: as a function of the platform, or with the interpreter when the platform makes no
// functions from text.

import type { EmittedFunction } from './code/emit.ts';
import { interpret } from './interpret/interpret.ts';

/** Runs a text and returns its result. `T` is what the generator declares that the text returns. */
export type Run = <T>(emitted: EmittedFunction) => T;

/** Runs generated text as a function, with its bindings as arguments. */
export const runText: Run = <T>({ text, bindings }: EmittedFunction): T => {
  const names = bindings.keys.map((_, at) => `c${at}`);
  return new Function(...names, text)(...bindings.values) as T;
};

/**
 * Whether the platform makes functions from text. Browsers with a content security policy and some edge
 * platforms do not.
 */
function makesCode(): boolean {
  try {
    return runText<number>({ text: 'return 1;', bindings: { keys: [], values: [], bind: noBinding } }) === 1;
  } catch {
    return false;
  }
}

function noBinding(): never {
  throw new TypeError('nothing is bound here');
}

/** Returns `runText` when the platform makes functions from text, otherwise the interpreter. */
export function platformRun(): Run {
  return makesCode() ? runText : interpret;
}
