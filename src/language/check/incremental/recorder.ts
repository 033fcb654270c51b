// Incremental checking by the red-green algorithm of Salsa, the framework of rust-analyzer: a check records
// its dependencies, which are queries about the rest of the set with their results, and its diagnostics. In
// a later revision an outcome is reused if all its dependencies are unchanged, and made again otherwise. A
// check with an untracked read is not cacheable. INVARIANT: an outcome is reused only when each of its
// queries returns the same result as before.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';

/** The outcome of checking one thing: its value, and its diagnostics in order. */
export interface CheckOutcome<T = unknown> {
  value: T;
  /** Query, key and result, in alternation. */
  readonly dependencies: unknown[];
  readonly diagnostics: (Diagnostic | CheckOutcome)[];
  /** Whether several outcomes may have this one as a part, such as a let that several policies read. */
  isShared: boolean;
  readonly used: string[];
  readonly leftOut: Span[];
  /**
   * False after an untracked read: the outcome depends on more than its queries, such as all names that a
   * misspelt name may have meant.
   */
  isCacheable: boolean;
  /** The revision in which the outcome was made or last verified; `verify` is the result. */
  verifiedAt: number;
  isUpToDate: boolean;
  /** The walk that last visited the outcome. */
  walk: object | null;
}

/** Functions that return the results of this revision, by query. */
export type Queries = Readonly<Record<string, (key: string) => unknown>>;

/** Records the diagnostics and the queries of a check. */
export interface Recorder {
  readonly report: (diagnostic: Diagnostic) => void;
  readonly use: (name: string) => void;
  readonly leaveOut: (span: Span) => void;
  readonly query: (question: string, key: string) => unknown;
  /** Notes an untracked read: the current check is made again in the next revision. */
  readonly readUntracked: () => void;
  /**
   * Returns the earlier outcome if it is up to date, else a new one. The outcome becomes a part of the current
   * check.
   */
  readonly memoize: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** As `memoize`, for an outcome that other checks may have as a part too. */
  readonly memoizeShared: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /**
   * As `memoize`, for a check with many parts. The diagnostics and questions of the parts are merged into one
   * outcome, so that the parts need not be looked at while nothing of them changes. Shared parts stay parts.
   */
  readonly memoizeMerged: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** Returns a new outcome that is no part of any other. */
  readonly detached: <T>(make: () => T) => CheckOutcome<T>;
}

export function createRecorder(revision: number, queries: Queries): Recorder {
  let current: CheckOutcome = emptyOutcome(revision);
  const make = <T>(check: () => T): CheckOutcome<T> => {
    const outer = current;
    const outcome = emptyOutcome(revision) as CheckOutcome<T>;
    current = outcome;
    try {
      outcome.value = check();
    } finally {
      current = outer;
    }
    return outcome;
  };
  const verify = (outcome: CheckOutcome): boolean => {
    if (outcome.verifiedAt === revision) return outcome.isUpToDate;
    outcome.verifiedAt = revision;
    outcome.isUpToDate =
      outcome.isCacheable &&
      areDependenciesUnchanged(outcome, queries) &&
      outcome.diagnostics.every(verifyPart);
    return outcome.isUpToDate;
  };
  const verifyPart = (part: Diagnostic | CheckOutcome): boolean => 'code' in part || verify(part);
  const keep = <T>(earlier: CheckOutcome<T> | undefined, check: () => CheckOutcome<T>): CheckOutcome<T> => {
    const outcome = earlier !== undefined && verify(earlier) ? earlier : check();
    current.diagnostics.push(outcome);
    return outcome;
  };
  return {
    report: (diagnostic) => void current.diagnostics.push(diagnostic),
    use: (name) => void current.used.push(name),
    leaveOut: (span) => void current.leftOut.push(span),
    query: (question, key) => {
      const answer = queries[question]!(key);
      current.dependencies.push(question, key, answer);
      return answer;
    },
    readUntracked: () => {
      current.isCacheable = false;
    },
    memoize: (earlier, check) => keep(earlier, () => make(check)),
    memoizeShared: (earlier, check) => keep(earlier, () => Object.assign(make(check), { isShared: true })),
    memoizeMerged: (earlier, check) => keep(earlier, () => mergeParts(make(check))),
    detached: make,
  };
}

function emptyOutcome(revision: number): CheckOutcome {
  return {
    value: null,
    dependencies: [],
    diagnostics: [],
    isShared: false,
    used: [],
    leftOut: [],
    isCacheable: true,
    verifiedAt: revision,
    isUpToDate: true,
    walk: null,
  };
}

/**
 * Merges the outcome with the diagnostics and dependencies of its own parts. Each query is kept once: it has
 * one result per revision.
 */
function mergeParts<T>(outcome: CheckOutcome<T>): CheckOutcome<T> {
  const whole: CheckOutcome<T> = { ...outcome, dependencies: [], diagnostics: [], used: [], leftOut: [] };
  const dependencies = new Set<string>();
  const add = (part: CheckOutcome): void => {
    for (let at = 0; at < part.dependencies.length; at += 3) {
      const question = `${part.dependencies[at]} ${part.dependencies[at + 1]}`;
      if (dependencies.has(question)) continue;
      dependencies.add(question);
      whole.dependencies.push(part.dependencies[at], part.dependencies[at + 1], part.dependencies[at + 2]);
    }
    for (const name of part.used) if (!whole.used.includes(name)) whole.used.push(name);
    whole.leftOut.push(...part.leftOut);
    whole.isCacheable &&= part.isCacheable;
    for (const one of part.diagnostics) {
      if ('code' in one || one.isShared) whole.diagnostics.push(one);
      else add(one);
    }
  };
  add(outcome);
  return whole;
}

function areDependenciesUnchanged({ dependencies }: CheckOutcome, queries: Queries): boolean {
  for (let at = 0; at < dependencies.length; at += 3) {
    if (queries[dependencies[at] as string]!(dependencies[at + 1] as string) !== dependencies[at + 2])
      return false;
  }
  return true;
}

/** Walks an outcome and its parts in the order in which they were checked; each is visited once in a walk. */
export function walkOutcome(
  outcome: CheckOutcome,
  visit: {
    readonly outcome: (outcome: CheckOutcome) => void;
    readonly diagnostic: (diagnostic: Diagnostic) => void;
  },
  walk: object = {},
): void {
  if (outcome.walk === walk) return;
  outcome.walk = walk;
  visit.outcome(outcome);
  for (const part of outcome.diagnostics) {
    if ('code' in part) visit.diagnostic(part);
    else walkOutcome(part, visit, walk);
  }
}
