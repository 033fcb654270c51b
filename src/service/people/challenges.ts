// Random questions that a passkey answers by signing. INVARIANT: a question is good once, for one purpose, for a few
// minutes, and what is kept is bounded: questions that nobody answers are dropped, the oldest first.

import { createSecret } from './secrets.ts';

export interface Challenges {
  /** A new question, in base64url. `purpose` says for what and for whom an answer counts. */
  ask(purpose: string, nowMs: number): string;
  /** Whether the question was asked for this purpose and has not been answered; it cannot be answered again. */
  take(question: string, purpose: string, nowMs: number): boolean;
}

const goodForMs = 5 * 60_000;
const openMax = 10_000;

export function createChallenges(): Challenges {
  const open = new Map<string, { readonly purpose: string; readonly endsAtMs: number }>();
  return {
    ask: (purpose, nowMs) => {
      const question = createSecret();
      open.set(question, { purpose, endsAtMs: nowMs + goodForMs });
      for (const oldest of open.keys()) {
        if (open.size <= openMax) break;
        open.delete(oldest);
      }
      return question;
    },
    take: (question, purpose, nowMs) => {
      const asked = open.get(question);
      open.delete(question);
      return asked !== undefined && asked.purpose === purpose && nowMs < asked.endsAtMs;
    },
  };
}
