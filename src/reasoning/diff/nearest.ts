// Moves a request of a finding as close as possible to a given request: each part of the given request is
// taken over if the definition still decides as the finding states.

import type { Facts } from '../../language/model/request.ts';

export interface SampleFacts {
  /** Null for the one request that the comparison is about. */
  readonly name: string | null;
  readonly facts: Facts;
}

export interface NearRequest {
  readonly facts: Facts;
  readonly near: { readonly name: string | null; readonly changed: readonly string[] } | null;
}

const knownMax = 4;

export function nearestTo(
  samples: readonly SampleFacts[],
  facts: Facts,
  isOne: (facts: Facts) => boolean,
): NearRequest {
  const itself = samples.find((one) => isOne(one.facts));
  if (itself !== undefined) return { facts: itself.facts, near: { name: itself.name, changed: [] } };
  const dated = ofOurDays(facts, isOne);
  const made = samples.slice(0, knownMax).map(({ name, facts: base }) => {
    const near = adopted(dated, base, isOne);
    return { facts: near, near: { name, changed: changedIn(base, near) } };
  });
  const best = made.toSorted((a, b) => a.near.changed.length - b.near.changed.length)[0];
  return best ?? { facts: dated, near: null };
}

const weekMs = 7 * 24 * 60 * 60 * 1_000;
const mondayMs = Date.UTC(2026, 2, 2);

/**
 * Moves the request by whole weeks to the week of 2 March 2026, a date that people can imagine, if it still
 * belongs to the finding there.
 */
function ofOurDays(facts: Facts, isOne: (facts: Facts) => boolean): Facts {
  const weeks = Math.floor((facts.nowMs - mondayMs) / weekMs);
  if (weeks === 0) return facts;
  const moved = { ...facts, nowMs: facts.nowMs - weeks * weekMs };
  return isOne(moved) ? moved : facts;
}

const parts = ['payload', 'agent', 'request', 'meters'] as const;

function adopted(facts: Facts, base: Facts, isOne: (facts: Facts) => boolean): Facts {
  let best = facts;
  const attempt = (next: Facts): void => {
    if (isOne(next)) best = next;
  };
  attempt({ ...best, payload: base.payload });
  attempt({ ...best, agent: base.agent, request: base.request, meters: base.meters });
  attempt({ ...best, nowMs: base.nowMs });
  for (const part of parts) {
    for (const key of new Set([...Object.keys(best[part]), ...Object.keys(base[part])]))
      attempt({ ...best, [part]: withEntry(best[part], key, (base[part] as Entries)[key]) });
  }
  return best;
}

type Entries = Readonly<Record<string, unknown>>;

function withEntry(entries: object, key: string, value: unknown): object {
  const others = Object.entries(entries).filter(([name]) => name !== key);
  return Object.fromEntries(value === undefined ? others : [...others, [key, value]]);
}

/** The paths in which the two requests differ. */
function changedIn(base: Facts, facts: Facts): readonly string[] {
  const inParts = parts.flatMap((part) => {
    const [old, now] = [base[part] as Entries, facts[part] as Entries];
    return [...new Set([...Object.keys(old), ...Object.keys(now)])]
      .filter((key) => text(old[key]) !== text(now[key]))
      .map((key) => `${part}.${key}`);
  });
  return base.nowMs === facts.nowMs ? inParts : [...inParts, 'now'];
}

function text(value: unknown): string {
  return String(JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? `${one}n` : one)));
}
