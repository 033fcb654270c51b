// Turns a record's text into what is needed to decide it again. The text is cut into members first. The
// trace, which is most of a record, is not parsed. Members that many records share, such as the agent, are
// parsed once and become the same object. INVARIANT: each member equals what parsing the whole text gives.

import { BoundedMap } from '../../language/value/memo.ts';

/** The members of a record that replay reads. */
const members = ['payload', 'request', 'decision', 'agent', 'meters', 'satisfied', 'policySet'] as const;
export type RecordMembers = Readonly<Record<(typeof members)[number], unknown>>;

type SharedMember = 'request' | 'decision' | 'agent' | 'satisfied' | 'policySet' | 'engine';

/** Longer parts are rarely the same in two records, so they are not remembered. */
const sharedLengthMax = 4_096;
const sharedMax = 2_000;
const newShared = () => new BoundedMap<string, unknown>(sharedMax);

/** A class because it remembers parsed parts of texts. */
export class RecordTexts {
  /** For each member, the parsed values by their text. */
  readonly #shared = {
    request: newShared(),
    decision: newShared(),
    agent: newShared(),
    satisfied: newShared(),
    policySet: newShared(),
    engine: newShared(),
  };

  /** Throws a SyntaxError when the text is not JSON. */
  read(text: string): unknown {
    try {
      return this.#cut(text) ?? JSON.parse(text);
    } catch {
      return JSON.parse(text);
    }
  }

  /**
   * Returns null when the members are not in the order in which `recordJson` writes them. A quote within a
   * text is escaped, so each place found is the name of a member. Each part must be JSON by itself, so that
   * no cut lies deeper inside than the one before. Skipped text lies between two parts, and the last part
   * ends with the whole text.
   */
  #cut(text: string): RecordMembers | null {
    // Few records hold rows or a chain of delegations, which may be anywhere in the text.
    const isRare = text.includes(',"rows":') || text.includes(',"chain":');
    if (!text.startsWith(begins.payload) || isRare) return null;
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
    const cached = shared.get(part);
    if (cached !== undefined) return cached;
    const value: unknown = JSON.parse(part);
    if (part.length > sharedLengthMax) return value;
    // A copy, because a slice would keep the whole text in memory.
    shared.set(Buffer.from(part).toString(), value);
    return value;
  }
}

/** How the parts of a record begin, in the order in which `recordJson` writes them. */
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
