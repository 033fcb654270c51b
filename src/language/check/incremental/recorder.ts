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
  readonly asked: unknown[];
  readonly said: (Diagnostic | CheckOutcome)[];
  /** Whether several outcomes may have this one as a part, such as a let that several policies read. */
  isShared: boolean;
  readonly used: string[];
  readonly leftOut: Span[];
  /**
   * False after an untracked read: the outcome depends on more than its queries, such as all names that a
   * misspelt name may have meant.
   */
  isLasting: boolean;
  /** The revision in which the outcome was made or last verified; `isSound` is the result. */
  round: number;
  isSound: boolean;
  /** The walk that last visited the outcome. */
  walk: object | null;
}

/** Functions that return the results of this revision, by query. */
export type Tables = Readonly<Record<string, (key: string) => unknown>>;

/** Records the diagnostics and the queries of a check. */
export interface Recorder {
  readonly say: (diagnostic: Diagnostic) => void;
  readonly use: (name: string) => void;
  readonly leaveOut: (span: Span) => void;
  readonly ask: (question: string, key: string) => unknown;
  /** Notes an untracked read: the current check is made again in the next revision. */
  readonly askTooMuch: () => void;
  /**
   * Returns the earlier outcome if it is up to date, else a new one. The outcome becomes a part of the current
   * check.
   */
  readonly keep: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** As `keep`, for an outcome that other checks may have as a part too. */
  readonly share: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /**
   * As `keep`, for a check with many parts. The diagnostics and questions of the parts are merged into one
   * outcome, so that the parts need not be looked at while nothing of them changes. Shared parts stay parts.
   */
  readonly keepWhole: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** Returns a new outcome that is no part of any other. */
  readonly apart: <T>(make: () => T) => CheckOutcome<T>;
}

export function createRecorder(round: number, tables: Tables): Recorder {
  let current: CheckOutcome = emptyOutcome(round);
  const make = <T>(check: () => T): CheckOutcome<T> => {
    const around = current;
    const outcome = emptyOutcome(round) as CheckOutcome<T>;
    current = outcome;
    try {
      outcome.value = check();
    } finally {
      current = around;
    }
    return outcome;
  };
  const isSound = (outcome: CheckOutcome): boolean => {
    if (outcome.round === round) return outcome.isSound;
    outcome.round = round;
    outcome.isSound = outcome.isLasting && hasSameAnswers(outcome, tables) && outcome.said.every(isSoundPart);
    return outcome.isSound;
  };
  const isSoundPart = (part: Diagnostic | CheckOutcome): boolean => 'code' in part || isSound(part);
  const keep = <T>(earlier: CheckOutcome<T> | undefined, check: () => CheckOutcome<T>): CheckOutcome<T> => {
    const outcome = earlier !== undefined && isSound(earlier) ? earlier : check();
    current.said.push(outcome);
    return outcome;
  };
  return {
    say: (diagnostic) => void current.said.push(diagnostic),
    use: (name) => void current.used.push(name),
    leaveOut: (span) => void current.leftOut.push(span),
    ask: (question, key) => {
      const answer = tables[question]!(key);
      current.asked.push(question, key, answer);
      return answer;
    },
    askTooMuch: () => {
      current.isLasting = false;
    },
    keep: (earlier, check) => keep(earlier, () => make(check)),
    share: (earlier, check) => keep(earlier, () => Object.assign(make(check), { isShared: true })),
    keepWhole: (earlier, check) => keep(earlier, () => inOne(make(check))),
    apart: make,
  };
}

function emptyOutcome(round: number): CheckOutcome {
  return {
    value: null,
    asked: [],
    said: [],
    isShared: false,
    used: [],
    leftOut: [],
    isLasting: true,
    round,
    isSound: true,
    walk: null,
  };
}

/**
 * Merges the outcome with the diagnostics and dependencies of its own parts. Each query is kept once: it has
 * one result per revision.
 */
function inOne<T>(outcome: CheckOutcome<T>): CheckOutcome<T> {
  const whole: CheckOutcome<T> = { ...outcome, asked: [], said: [], used: [], leftOut: [] };
  const asked = new Set<string>();
  const add = (part: CheckOutcome): void => {
    for (let at = 0; at < part.asked.length; at += 3) {
      const question = `${part.asked[at]} ${part.asked[at + 1]}`;
      if (asked.has(question)) continue;
      asked.add(question);
      whole.asked.push(part.asked[at], part.asked[at + 1], part.asked[at + 2]);
    }
    for (const name of part.used) if (!whole.used.includes(name)) whole.used.push(name);
    whole.leftOut.push(...part.leftOut);
    whole.isLasting &&= part.isLasting;
    for (const one of part.said) {
      if ('code' in one || one.isShared) whole.said.push(one);
      else add(one);
    }
  };
  add(outcome);
  return whole;
}

function hasSameAnswers({ asked }: CheckOutcome, tables: Tables): boolean {
  for (let at = 0; at < asked.length; at += 3) {
    if (tables[asked[at] as string]!(asked[at + 1] as string) !== asked[at + 2]) return false;
  }
  return true;
}

/** Walks an outcome and its parts in the order in which they were checked; each is visited once in a walk. */
export function walkOutcome(
  outcome: CheckOutcome,
  visit: {
    readonly outcome: (outcome: CheckOutcome) => void;
    readonly said: (diagnostic: Diagnostic) => void;
  },
  walk: object = {},
): void {
  if (outcome.walk === walk) return;
  outcome.walk = walk;
  visit.outcome(outcome);
  for (const part of outcome.said) {
    if ('code' in part) visit.said(part);
    else walkOutcome(part, visit, walk);
  }
}
