// Challenges for passkeys: random questions that a passkey answers by signing. Each carries its end, and a
// code of this service over that and its purpose, so that any process with the same master key recognises the
// question. INVARIANT: a question is good once, for one purpose, for a few minutes; nothing is stored for
// questions that nobody answers.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import { type Collection, createCollection } from '../store/contract/collection.ts';
import type { DocumentPut, DocumentStore } from '../store/contract/documents.ts';
import { digestOf } from './secrets.ts';

const goodForMs = 5 * 60_000;
/**
 * Longer than the clocks of two processes differ, so that no process accepts a question that another one has
 * already forgotten.
 */
const rememberedMs = goodForMs + 10 * 60_000;
const [randomLength, endLength, codeLength] = [16, 6, 32];
const headLength = randomLength + endLength;

/** Returns a new question, in base64url. `purpose` names what, and for which person, an answer counts. */
export function createChallenge(masterKey: Uint8Array, purpose: string, nowMs: number): string {
  const head = Buffer.alloc(headLength);
  randomBytes(randomLength).copy(head);
  head.writeUIntBE(Math.trunc(nowMs) + goodForMs, randomLength, endLength);
  return Buffer.concat([head, codeOf(masterKey, head, purpose)]).toString('base64url');
}

/**
 * Whether the question was made for this purpose and has not ended. `answeredOnce` prevents a second answer.
 */
export function isChallenge(
  masterKey: Uint8Array,
  question: string,
  { purpose, nowMs }: { readonly purpose: string; readonly nowMs: number },
): boolean {
  const bytes = Buffer.from(question, 'base64url');
  // Only one text is accepted for each question; under another text, the question could be answered again.
  if (bytes.length !== headLength + codeLength || bytes.toString('base64url') !== question) return false;
  const head = bytes.subarray(0, headLength);
  if (!timingSafeEqual(bytes.subarray(headLength), codeOf(masterKey, head, purpose))) return false;
  return nowMs < head.readUIntBE(randomLength, endLength);
}

/**
 * Returns a write that goes together with what the answer allows; it conflicts when the question has been
 * answered before.
 */
export function answeredOnce(documents: DocumentStore, question: string, nowMs: number): DocumentPut {
  const createdAtMs = Math.trunc(nowMs);
  return answersIn(documents).put(
    { id: digestOf(question), createdAtMs, endsAtMs: createdAtMs + rememberedMs },
    0,
  );
}

interface AnsweredQuestion {
  readonly id: string;
  readonly createdAtMs: number;
  readonly endsAtMs: number;
}

function answersIn(documents: DocumentStore): Collection<AnsweredQuestion> {
  return createCollection<AnsweredQuestion>(documents, 'answered-question', ({ endsAtMs }) => ({ endsAtMs }));
}

function codeOf(masterKey: Uint8Array, head: Uint8Array, purpose: string): Buffer {
  return createHmac('sha256', deriveKey(masterKey, 'passkey questions'))
    .update(head)
    .update(purpose)
    .digest();
}
