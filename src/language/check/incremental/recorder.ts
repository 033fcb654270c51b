// Writes down, while something is checked, what is said and every question that is asked about the rest of the set.
// INVARIANT: an outcome is used again only where each of its questions would be answered by the same value as before.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';

/** What came of checking one thing: its value, and what it said, in order. */
export interface CheckOutcome<T = unknown> {
  value: T;
  /** Question, key and answer by turns. */
  readonly asked: unknown[];
  readonly said: (Diagnostic | CheckOutcome)[];
  /** A part of several others, such as a let that is read in several policies. */
  isShared: boolean;
  readonly used: string[];
  readonly leftOut: Span[];
  /** False where it rests on more than it has asked, such as all names that a misspelt one may have meant. */
  isLasting: boolean;
  /** The round in which it was made or last looked at, and whether it held then. */
  round: number;
  isSound: boolean;
  /** The walk that went through it last. */
  walk: object | null;
}

/** Answers of this round; the keys are the questions that may be asked. */
export type Tables = Readonly<Record<string, (key: string) => unknown>>;

/** Writes down what is said and asked while something is checked. */
export interface Recorder {
  readonly say: (diagnostic: Diagnostic) => void;
  readonly use: (name: string) => void;
  readonly leaveOut: (span: Span) => void;
  readonly ask: (question: string, key: string) => unknown;
  /** What is checked now rests on more than it asks, and is checked again next time. */
  readonly askTooMuch: () => void;
  /** The earlier outcome where it still holds, else what is made now; a part of what is checked around it. */
  readonly keep: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** As `keep`, for what others may have as a part too. */
  readonly share: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /**
   * As `keep`, for what has many parts: what these say and ask is written down once for all of them, so that nobody has to
   * look at them while nothing of it changes. Shared parts stay parts.
   */
  readonly keepWhole: <T>(earlier: CheckOutcome<T> | undefined, make: () => T) => CheckOutcome<T>;
  /** What is made now, no part of anything. */
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

/** The outcome with what its own parts say and ask, each question once: in one round each has one answer. */
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

/** Goes through an outcome and its parts, each once in a walk, in the order in which they were checked. */
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
