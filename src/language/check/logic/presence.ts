// What is known about presence at a point of an expression: which optional fields are present and which
// nullable fields are not null. From left to right, facts are only added. `everything` follows a part that
// could not be checked, so that one mistake is reported once.

/** The known facts; `everything` means all. */
export type Presence = ReadonlySet<string> | 'everything';

export const nothingKnown: Presence = new Set();

type Fact = 'present' | 'not-null';

/**
 * Returns the fact as an entry of a presence set; `root` is `payload`, `result` or a quantifier's variable.
 */
export function presenceFact(fact: Fact, root: string, steps: readonly string[]): string {
  return JSON.stringify([root, fact, ...steps]);
}

export function isKnown(presence: Presence, fact: string): boolean {
  return presence === 'everything' || presence.has(fact);
}

/** Returns the facts when both parts hold: those of either part. */
export function both(a: Presence, b: Presence): Presence {
  if (a === 'everything' || b === 'everything') return 'everything';
  return b.size === 0 ? a : a.size === 0 ? b : new Set([...a, ...b]);
}

/** Returns the facts when at least one part holds: those common to the two. */
export function either(a: Presence, b: Presence): Presence {
  if (a === 'everything') return b;
  if (b === 'everything') return a;
  if (a.size === 0) return a;
  return new Set([...a].filter((fact) => b.has(fact)));
}

/** Returns the facts about the payload, on which a `let` may rely: a let sees no variables. */
export function ofPayload(presence: Presence): Presence {
  if (presence === 'everything') return presence;
  return new Set([...presence].filter((fact) => fact.startsWith('["payload",')));
}

/** Returns the facts in sorted order as one text, to compare sets by. */
export function presenceKey(presence: Presence): string {
  return presence === 'everything' ? 'everything' : [...presence].sort().join('\n');
}
