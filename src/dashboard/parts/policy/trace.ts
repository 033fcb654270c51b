// Turns the trace of a request into what people read: rules by policy, the values each read, what added to
// the risk, what was unknown. INVARIANT: nothing of the trace is dropped; parts of an unexpected form are
// shown as they are.

export type TraceEntry = Readonly<Record<string, unknown>>;

export type Truth = 'true' | 'false' | 'unknown';

/** A value that a condition can read; `missing` tells why there is none. */
export interface TraceRead {
  readonly path: string;
  readonly value: unknown;
  readonly missing: string | null;
}

export interface TraceRule {
  /** `policy/rule`. */
  readonly id: string;
  readonly policy: string;
  readonly name: string;
  readonly effect: string;
  readonly truth: Truth;
  readonly points: number;
  readonly isShadow: boolean;
  readonly isSatisfied: boolean;
  readonly reads: readonly TraceRead[];
}

export interface TracePolicy {
  readonly name: string;
  readonly rules: readonly TraceRule[];
}

export function traceRules(trace: readonly TraceEntry[]): readonly TraceRule[] {
  return trace.map((entry) => {
    const id = textOf(entry.rule);
    const cut = id.indexOf('/');
    return {
      id,
      policy: cut === -1 ? '' : id.slice(0, cut),
      name: id.slice(cut + 1),
      effect: textOf(entry.effect),
      truth: truthOf(entry.truth),
      points: typeof entry.points === 'number' ? entry.points : 0,
      isShadow: entry.isShadow === true,
      isSatisfied: entry.isSatisfied === true,
      reads: readsOf(entry.reads),
    };
  });
}

const rank: Readonly<Record<Truth, number>> = { true: 0, unknown: 1, false: 2 };

/** Rules grouped by policy, those that hold first; the policy of `decidedBy` comes before the others. */
export function tracePolicies(
  rules: readonly TraceRule[],
  decidedBy: string | null = null,
): readonly TracePolicy[] {
  const rankOf = ({ id, truth }: TraceRule): number => (id === decidedBy ? -1 : rank[truth]);
  const byPolicy = Map.groupBy(rules, ({ policy }) => policy);
  const first = (own: readonly TraceRule[]): number => Math.min(...own.map(rankOf));
  return [...byPolicy]
    .map(([name, own]) => ({ name, rules: own.toSorted((a, b) => rankOf(a) - rankOf(b)) }))
    .toSorted((a, b) => first(a.rules) - first(b.rules));
}

/** The rules that added, or may have added, to the risk. */
export function riskContributions(rules: readonly TraceRule[]): readonly TraceRule[] {
  return rules
    .filter(({ points, truth, isShadow }) => points !== 0 && truth !== 'false' && !isShadow)
    .toSorted((a, b) => Math.abs(b.points) - Math.abs(a.points));
}

/** Each path that was read and had no value, with the rules that read it. */
export function unknownReads(
  rules: readonly TraceRule[],
): readonly { readonly read: TraceRead; readonly rules: readonly TraceRule[] }[] {
  const byRead = new Map<string, { read: TraceRead; rules: TraceRule[] }>();
  for (const rule of rules) {
    for (const read of rule.reads) {
      // A field that is absent is known to be absent, so it counts only when the rule is unknown.
      if (read.missing === null || (read.missing === 'absent' && rule.truth !== 'unknown')) continue;
      const cached = byRead.get(read.path);
      if (cached === undefined) byRead.set(read.path, { read, rules: [rule] });
      else cached.rules.push(rule);
    }
  }
  return [...byRead.values()].toSorted((a, b) => (a.read.path < b.read.path ? -1 : 1));
}

const effectsOf: Readonly<Record<string, string>> = {
  ALLOW: 'allow',
  DENY: 'deny',
  ESCALATE: 'escalate',
  REAUTH_REQUIRED: 'reauth',
};

/** Id of the rule that decided, if the trace leaves no doubt; else null. */
export function decidingRule(
  rules: readonly TraceRule[],
  { decision, policy }: { readonly decision: string; readonly policy: string },
): string | null {
  const effect = effectsOf[decision];
  const candidates = rules.filter((rule) => {
    const takesPart = !rule.isShadow && !rule.isSatisfied && rule.policy === policy;
    const holds = rule.effect === 'allow' ? rule.truth === 'true' : rule.truth !== 'false';
    return takesPart && holds && rule.effect === effect;
  });
  return candidates.length === 1 ? (candidates[0]?.id ?? null) : null;
}

/** Why there is no value, in words. */
export function missingText(missing: string): string {
  const words: Readonly<Record<string, string>> = {
    absent: 'not in the payload',
    unknown: 'not known',
    secret: 'secret',
    unsigned: 'not signed, so not known',
  };
  return words[missing] ?? missing;
}

function readsOf(reads: unknown): readonly TraceRead[] {
  if (typeof reads !== 'object' || reads === null) return [];
  return Object.entries(reads as Readonly<Record<string, unknown>>).map(([path, read]) => {
    const facts =
      typeof read === 'object' && read !== null ? (read as Readonly<Record<string, unknown>>) : {};
    const missing = typeof facts.missing === 'string' ? facts.missing : null;
    return { path, missing, value: 'value' in facts || missing !== null ? facts.value : read };
  });
}

function truthOf(value: unknown): Truth {
  return value === 'true' || value === 'false' ? value : 'unknown';
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
