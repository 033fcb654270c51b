// A record's text into what deciding it again needs. It is cut into members first: the trace, which is most of it, is not
// parsed, and what many records have in common, such as the agent, is parsed once and is then the very same object.
// INVARIANT: each member is what parsing the whole gives.

import { BoundedMap } from '../../language/value/memo.ts';

/** What replay reads of a record. */
const members = ['payload', 'request', 'decision', 'agent', 'meters', 'satisfied', 'policySet'] as const;
export type RecordMembers = Readonly<Record<(typeof members)[number], unknown>>;

type SharedMember = 'request' | 'decision' | 'agent' | 'satisfied' | 'policySet' | 'engine';

/** Longer parts are hardly the same twice. */
const sharedLengthMax = 4_096;
const sharedMax = 2_000;
const newShared = () => new BoundedMap<string, unknown>(sharedMax);

/** A class because it remembers parts of the texts that it has read. */
export class RecordTexts {
  /** By member, values by their text. */
  readonly #shared = {
    request: newShared(),
    decision: newShared(),
    agent: newShared(),
    satisfied: newShared(),
    policySet: newShared(),
    engine: newShared(),
  };

  /** Throws a SyntaxError where it is not JSON. */
  read(text: string): unknown {
    try {
      return this.#cut(text) ?? JSON.parse(text);
    } catch {
      return JSON.parse(text);
    }
  }

  /**
   * Null where the members do not stand as they are written. A quote in a text is escaped, so each of the places looked for
   * is the name of a member. Each part must be JSON by itself, so that no cut is further inside than the one before; what
   * is skipped lies between two parts, and with the last of them the whole text ends.
   */
  #cut(text: string): RecordMembers | null {
    // Few records hold rows, which may be anywhere.
    if (!text.startsWith(begins.payload) || text.includes(',"rows":')) return null;
    const request = text.indexOf(begins.request, begins.payload.length);
    const key = text.indexOf(begins.key, request);
    const decision = text.indexOf(begins.decision, key);
    const agent = text.indexOf(begins.agent, decision);
    const meters = text.indexOf(begins.meters, agent);
    const satisfied = text.indexOf(begins.satisfied, meters);
    const policySet = text.indexOf(begins.policySet, satisfied);
    const engine = text.indexOf(begins.engine, policySet);
    if (Math.min(request, key, decision, agent, meters, satisfied, policySet, engine) < 0) return null;
    this.#parseShared('engine', `{${text.slice(engine + 1)}`);
    return {
      payload: JSON.parse(text.slice(begins.payload.length, request)),
      request: this.#parseShared('request', text.slice(request + begins.request.length, key)),
      decision: this.#parseShared('decision', text.slice(decision + begins.decision.length, agent)),
      agent: this.#parseShared('agent', text.slice(agent + begins.agent.length, meters)),
      meters: JSON.parse(text.slice(meters + begins.meters.length, satisfied)),
      satisfied: this.#parseShared('satisfied', text.slice(satisfied + begins.satisfied.length, policySet)),
      policySet: this.#parseShared('policySet', text.slice(policySet + begins.policySet.length, engine)),
    };
  }

  #parseShared(member: SharedMember, part: string): unknown {
    const shared = this.#shared[member];
    const known = shared.get(part);
    if (known !== undefined) return known;
    const value: unknown = JSON.parse(part);
    if (part.length > sharedLengthMax) return value;
    // A copy: a part of a text would keep the whole.
    shared.set(Buffer.from(part).toString(), value);
    return value;
  }
}

/** How the parts of a record begin, as `recordJson` writes them, in this order. */
const begins = {
  payload: '{"payload":',
  request: ',"request":',
  key: ',"key":',
  decision: ',"decision":',
  agent: ',"agent":',
  meters: ',"meters":',
  satisfied: ',"satisfied":',
  policySet: ',"policySet":',
  engine: ',"engine":',
} as const;
