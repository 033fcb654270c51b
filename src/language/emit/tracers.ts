// Keeps the tracers of a program's actions and makes decisions with their traces. A tracer is made at its
// first use, or before it in steps with pauses.

import type { Facts } from '../model/request.ts';
import type { TracedDecision } from '../model/trace.ts';
import type { OpenProgram } from '../program/packed/unpack.ts';
import { BoundedMap, memo } from '../value/memo.ts';
import type { CacheSession } from './cache.ts';
import type { Decider, DecideSome } from './decide/decide.ts';
import type { Run } from './run.ts';
import { createTracer, createTracerWithPauses, type Tracer } from './trace.ts';

/** The most actions that have a tracer at a time, because a tracer holds the paths of all of its rules. */
const tracersMax = 1_024;

export interface Tracers {
  /** Returns the tracer of an action, which must be declared. */
  of(action: string): Tracer;
  /** Makes the tracer of an action ready, in steps. */
  prepare(action: string): Generator<void>;
}

export function createTracers(program: OpenProgram, run: Run, { lists, run: runOwn }: CacheSession): Tracers {
  // Code that holds the rows of a table is not kept for the next set, so it runs outside of the shared texts.
  const tables = { program, lists, run: runOwn };
  const tracers = new BoundedMap<string, Tracer>(tracersMax);
  const make = (action: string) => createTracer(program.open(action)!, run, tables);
  return {
    of: (action) => memo(tracers, action, make),
    *prepare(action) {
      tracers.set(action, yield* createTracerWithPauses(program.open(action)!, run, tables));
    },
  };
}

/** The functions that decide an action. */
interface ActionDeciders {
  readonly decider: Decider;
  /** Makes decisions for traces that name only the rules that took part; null when traces name all rules. */
  readonly decideSome: DecideSome | null;
}

export function traceDecision(
  tracer: Tracer,
  { decider, decideSome }: ActionDeciders,
  facts: Facts,
): TracedDecision {
  if (decideSome === null) {
    const all = decider.decideAll(facts);
    return { decision: all.decision, trace: tracer.all(facts, all) };
  }
  const some = decideSome(facts);
  return { decision: some.decision, trace: tracer.some(facts, some) };
}
