// Finds the facts outside of the payload that an action's rules read, and which of them a request lacks.

import { type Facts, valueAt } from '../../../language/model/request.ts';
import { noTrace } from '../../../language/model/trace.ts';
import type { ReplayCandidate } from './candidate.ts';

/** A class, because it learns the reads of an action from the action's first request. */
export class FactReads {
  readonly #candidate: ReplayCandidate;
  readonly #byAction = new Map<string, readonly FactRead[]>();

  constructor(candidate: ReplayCandidate) {
    this.#candidate = candidate;
  }

  /** Paths of the missing facts, such as `request.session`; empty when a gate refuses the request. */
  unknownTo(facts: Facts, holdsDigests: boolean): readonly string[] {
    const reads = this.#byAction.get(facts.action) ?? this.#learn(facts, holdsDigests);
    const isUnknown = ({ steps }: FactRead): boolean => valueAt(facts, steps) === undefined;
    return reads.some(isUnknown) ? reads.filter(isUnknown).map(({ path }) => path) : none;
  }

  #learn(facts: Facts, holdsDigests: boolean): readonly FactRead[] {
    const { decideRecorded, decideTraced } = this.#candidate;
    const { trace } = holdsDigests ? decideRecorded(facts) : decideTraced(facts);
    if (trace.form === noTrace.form) return none;
    const paths = new Set(trace.form.paths.filter(isFactPath));
    const reads = [...paths].map((path) => ({ path, steps: path.split('.') }));
    this.#byAction.set(facts.action, reads);
    return reads;
  }
}

interface FactRead {
  readonly path: string;
  readonly steps: readonly string[];
}

const none: readonly never[] = [];

function isFactPath(path: string): boolean {
  return /^(?:agent|request|meters)\../.test(path);
}
