// Generated text into what it returns: as a function of the platform, or read and carried out where the platform makes none.

import type { Emitted } from './code/emit.ts';
import { interpret } from './interpret/interpret.ts';

/** `T` is what the generator says the text returns. */
export type Run = <T>(emitted: Emitted) => T;

/** Runs generated text with what is bound to its identifiers. */
export const runText: Run = <T>({ text, bindings }: Emitted): T => {
  const names = bindings.keys.map((_, at) => `c${at}`);
  return new Function(...names, text)(...bindings.values) as T;
};

/** Whether this place makes functions of text. Browsers with a content security policy and some edge platforms do not. */
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

/** Functions where the place makes them, the interpreter where it does not. */
export function runOfPlace(): Run {
  return makesCode() ? runText : interpret;
}
