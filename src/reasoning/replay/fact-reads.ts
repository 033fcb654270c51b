// Which facts the rules of an action read, other than its payload, and which of them a request lacks.

import type { Facts } from '../../language/model/request.ts';
import type { ReplayCandidate } from './candidate.ts';

/** A class because it learns an action's reads from its first request. */
export class FactReads {
  readonly #candidate: ReplayCandidate;
  readonly #byAction = new Map<string, readonly FactPath[]>();

  constructor(candidate: ReplayCandidate) {
    this.#candidate = candidate;
  }

  /** Such as `request.session`; none where the gate refuses the request. */
  unknownTo(facts: Facts, holdsDigests: boolean): readonly string[] {
    const reads = this.#byAction.get(facts.action) ?? this.#learn(facts, holdsDigests);
    if (reads.every(({ part, name }) => facts[part][name as never] !== undefined)) return none;
    return reads
      .filter(({ part, name }) => facts[part][name as never] === undefined)
      .map(({ part, name }) => `${part}.${name}`);
  }

  #learn(facts: Facts, holdsDigests: boolean): readonly FactPath[] {
    const { decideRecorded, decideTraced } = this.#candidate;
    const { trace } = holdsDigests ? decideRecorded(facts) : decideTraced(facts);
    if (trace.form.rules.length === 0) return none;
    const reads = new Map(
      trace.form.paths.flatMap(factPath).map((path) => [`${path.part}.${path.name}`, path]),
    );
    const paths = [...reads.values()];
    this.#byAction.set(facts.action, paths);
    return paths;
  }
}

interface FactPath {
  readonly part: 'agent' | 'request' | 'meters';
  readonly name: string;
}

const none: readonly never[] = [];

function factPath(path: string): readonly FactPath[] {
  const [part, name] = path.split('.');
  if (name === undefined || (part !== 'agent' && part !== 'request' && part !== 'meters')) return none;
  return [{ part, name }];
}
