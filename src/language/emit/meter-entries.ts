// Makes the function that creates an action's entries in meters. The function is generated from text, once
// for all actions that have the same text.

import type { MeterUse } from '../model/metering.ts';
import type { Facts } from '../model/request.ts';
import type { OpenAction, OpenProgram } from '../program/packed/unpack.ts';
import type { CacheSession } from './cache.ts';
import { type EmittedFunction, emitEntries } from './code/emit.ts';
import { clearLets, createState, type State } from './runtime/state.ts';
import { clearTextCaches } from './runtime/text-cache.ts';

/** Returns what a request adds to meters. The payload must have the action's shape. */
export type EntriesFunction = (facts: Facts) => readonly MeterUse[];

/** The function that the generated text returns. */
export type EntriesCode = (facts: Facts, state: State) => readonly MeterUse[];

export interface EntriesSource {
  readonly program: OpenProgram;
  readonly session: CacheSession;
  /** Turns generated text into a function. */
  readonly run: (emitted: EmittedFunction) => EntriesCode;
}

/** Returns the function for an action; null when no meter counts or reads the action's requests. */
export function createEntries({ metering }: OpenAction, source: EntriesSource): EntriesFunction | null {
  if (metering === null) return null;
  const { program, session, run } = source;
  const emitted = emitEntries(program, metering, session.lists);
  // Most actions of a set enter the same meters.
  const key = `entries ${emitted.bindings.keys.join(' ')} ${emitted.text}`;
  const code = session.shared(key, () => run(emitted));
  const state = createState(metering);
  return (facts) => {
    clearTextCaches();
    clearLets(state);
    return code(facts, state);
  };
}
