// Which facts the rules of an action read, other than its payload, and which of them a request lacks.

import { type Facts, factAt } from '../../language/model/request.ts';
import { noTrace } from '../../language/model/trace.ts';
import type { ReplayCandidate } from './candidate.ts';

/** A class because it learns an action's reads from its first request. */
export class FactReads {
  readonly #candidate: ReplayCandidate;
  /** Paths of facts. */
  readonly #byAction = new Map<string, readonly string[]>();

  constructor(candidate: ReplayCandidate) {
    this.#candidate = candidate;
  }

  /** Such as `request.session`; none where the gate refuses the request. */
  unknownTo(facts: Facts, holdsDigests: boolean): readonly string[] {
    const reads = this.#byAction.get(facts.action) ?? this.#learn(facts, holdsDigests);
    if (reads.every((path) => factAt(facts, path) !== undefined)) return none;
    return reads.filter((path) => factAt(facts, path) === undefined);
  }

  #learn(facts: Facts, holdsDigests: boolean): readonly string[] {
    const { decideRecorded, decideTraced } = this.#candidate;
    const { trace } = holdsDigests ? decideRecorded(facts) : decideTraced(facts);
    if (trace.form === noTrace.form) return none;
    const paths = [...new Set(trace.form.paths.filter(isFactPath))];
    this.#byAction.set(facts.action, paths);
    return paths;
  }
}

const none: readonly never[] = [];

function isFactPath(path: string): boolean {
  return /^(?:agent|request|meters)\../.test(path);
}
