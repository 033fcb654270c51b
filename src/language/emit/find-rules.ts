// Finds the rules of an action that a request has to try: all of them, or those that the index names. Reads
// their heads when they take part.

import type { Facts } from '../model/request.ts';
import { applyPrefilter } from '../program/index/prefilter.ts';
import { createIndex, keysBy, type RuleIndex, select } from '../program/index/rule-index.ts';
import { type OpenAction, type OpenProgram, wholeAction } from '../program/packed/unpack.ts';
import type { RuleHead } from '../program/program.ts';
import { BoundedMap, memo } from '../value/memo.ts';
import type { CacheSession } from './cache.ts';
import { emitSubjects } from './code/emit.ts';
import type { IndexedCode, RuleHeads } from './decide/indexed.ts';
import type { Run } from './run.ts';
import type { State } from './runtime/state.ts';

/**
 * The most rule heads that are kept because they took part recently. Agents influence which rules take part,
 * so the number is bounded.
 */
const headsKeptMax = 4_096;

export function createRuleHeads(action: OpenAction): RuleHeads {
  const heads = new BoundedMap<number, RuleHead>(headsKeptMax);
  const read = (index: number) => action.head(index);
  return { length: action.ruleCount, at: (place) => memo(heads, place, read) };
}

/** Finds every rule, without an index. */
export function findAll({ ruleCount }: OpenAction): IndexedCode['find'] {
  return (_facts, _state, matched) => {
    for (let index = 0; index < ruleCount; index += 1) matched[index] = index;
    return ruleCount;
  };
}

interface IndexContext {
  readonly program: OpenProgram;
  readonly session: CacheSession;
  readonly run: Run;
  readonly indexOf: IndexOf;
}

/** Returns the index of an action's rules. */
export type IndexOf = (action: string) => RuleIndex;

/** Each index is read from the program once, or made if the program has none. */
export function createIndexes(program: OpenProgram): IndexOf {
  const indexes = new Map<string, RuleIndex>();
  const read = (action: string) =>
    program.index(action) ?? createIndex(wholeAction(program.open(action)!).rules, keysBy(program.lists));
  return (action) => memo(indexes, action, read);
}

type ReadSubjects = (facts: Facts, state: State, values: unknown[]) => void;

/** Finds the rules whose index keys fit the values that the request has for the subjects of the index. */
export function findByIndex(
  action: OpenAction,
  { program, session, run, indexOf }: IndexContext,
): IndexedCode['find'] {
  const index = indexOf(action.action);
  const make = () => run<ReadSubjects>(emitSubjects(program, index.subjects, session.lists));
  const read = session.reuse({ action, part: 'subjects' }, make);
  const values: unknown[] = index.subjects.map(() => undefined);
  return (facts, state, matched) => {
    read(facts, state, values);
    return applyPrefilter(index.prefilter, values, { found: matched, count: select(index, values, matched) });
  };
}
