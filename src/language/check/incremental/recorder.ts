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
    keep: (earlier, check) => {
      const outcome = earlier !== undefined && isSound(earlier) ? earlier : make(check);
      current.said.push(outcome);
      return outcome;
    },
    apart: make,
  };
}

function emptyOutcome(round: number): CheckOutcome {
  return {
    value: null,
    asked: [],
    said: [],
    used: [],
    leftOut: [],
    isLasting: true,
    round,
    isSound: true,
    walk: null,
  };
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
