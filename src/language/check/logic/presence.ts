// What is known about presence at a point of an expression: which optional fields are there and which nullable ones
// are not null. Facts only ever grow from left to right; `everything` follows a part that could not be checked, so
// that one mistake is reported once.

/** Facts, or all of them. */
export type Presence = ReadonlySet<string> | 'everything';

export const nothingKnown: Presence = new Set();

type Fact = 'present' | 'not-null';

/** The fact as an entry of a presence set; `root` is `payload` or a quantifier's variable. */
export function presenceFact(fact: Fact, root: string, steps: readonly string[]): string {
  return JSON.stringify([root, fact, ...steps]);
}

export function isKnown(presence: Presence, fact: string): boolean {
  return presence === 'everything' || presence.has(fact);
}

/** Facts of either: both hold. */
export function both(a: Presence, b: Presence): Presence {
  if (a === 'everything' || b === 'everything') return 'everything';
  return b.size === 0 ? a : a.size === 0 ? b : new Set([...a, ...b]);
}

/** Facts of each: one of them holds. */
export function either(a: Presence, b: Presence): Presence {
  if (a === 'everything') return b;
  if (b === 'everything') return a;
  if (a.size === 0) return a;
  return new Set([...a].filter((fact) => b.has(fact)));
}

/** The facts about the payload alone: what a `let`, which sees no variables, may rely on. */
export function ofPayload(presence: Presence): Presence {
  if (presence === 'everything') return presence;
  return new Set([...presence].filter((fact) => fact.startsWith('["payload",')));
}

/** Facts in one order, to compare sets by. */
export function presenceKey(presence: Presence): string {
  return presence === 'everything' ? 'everything' : [...presence].sort().join('\n');
}
