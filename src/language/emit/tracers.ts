// The tracers of a program's actions, each made at its first use, or in steps before it, and decisions with their traces.

import type { Facts } from '../model/request.ts';
import type { TracedDecision } from '../model/trace.ts';
import type { OpenProgram } from '../program/packed/unpack.ts';
import { BoundedMap, memo } from '../value/memo.ts';
import type { CacheSession } from './cache.ts';
import type { Decider, DecideSome } from './decide/decide.ts';
import type { Run } from './run.ts';
import { createTracer, createTracerInSteps, type Tracer } from './trace.ts';

/** Tracers hold paths of all their rules; so many actions have one at a time. */
const tracersMax = 1_024;

export interface Tracers {
  /** Of an action that is declared. */
  of(action: string): Tracer;
  /** Makes the tracer ready in steps. */
  prepare(action: string): Generator<void>;
}

export function createTracers(program: OpenProgram, run: Run, { lists, run: runOwn }: CacheSession): Tracers {
  // What holds the rows of a table is not kept for the next set.
  const tables = { program, lists, run: runOwn };
  const tracers = new BoundedMap<string, Tracer>(tracersMax);
  const make = (action: string) => createTracer(program.open(action)!, run, tables);
  return {
    of: (action) => memo(tracers, action, make),
    *prepare(action) {
      tracers.set(action, yield* createTracerInSteps(program.open(action)!, run, tables));
    },
  };
}

/** What decides an action. */
interface Deciding {
  readonly decider: Decider;
  /** Where traces name the rules that took part; null where they name all. */
  readonly decideSome: DecideSome | null;
}

export function traceDecision(
  tracer: Tracer,
  { decider, decideSome }: Deciding,
  facts: Facts,
): TracedDecision {
  if (decideSome === null) {
    const all = decider.decideAll(facts);
    return { decision: all.decision, trace: tracer.all(facts, all) };
  }
  const some = decideSome(facts);
  return { decision: some.decision, trace: tracer.some(facts, some) };
}
