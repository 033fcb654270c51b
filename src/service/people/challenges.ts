// Random questions that a passkey answers by signing. Each carries its end and a code of this service over that and its purpose, so
// that any process with the same master key knows it again. INVARIANT: a question is good once, for one purpose, for a few
// minutes; nothing is kept of those that nobody answers.

import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { deriveKey } from '../agents/sealing.ts';
import { type Collection, createCollection } from '../store/contract/collection.ts';
import type { DocumentPut, DocumentStore } from '../store/contract/documents.ts';
import { digestOf } from './secrets.ts';

const goodForMs = 5 * 60_000;
/** Longer than the clocks of two processes differ: what one forgets, no other takes for good. */
const rememberedMs = goodForMs + 10 * 60_000;
const [randomLength, endLength, codeLength] = [16, 6, 32];
const headLength = randomLength + endLength;

/** A new question, in base64url. `purpose` says for what and for whom an answer counts. */
export function createChallenge(masterKey: Uint8Array, purpose: string, nowMs: number): string {
  const head = Buffer.alloc(headLength);
  randomBytes(randomLength).copy(head);
  head.writeUIntBE(Math.trunc(nowMs) + goodForMs, randomLength, endLength);
  return Buffer.concat([head, codeOf(masterKey, head, purpose)]).toString('base64url');
}

/** Whether the question was asked for this purpose and is not over. Whether it has been answered, `answeredOnce` says. */
export function isChallenge(
  masterKey: Uint8Array,
  question: string,
  { purpose, nowMs }: { readonly purpose: string; readonly nowMs: number },
): boolean {
  const bytes = Buffer.from(question, 'base64url');
  // One text for each question: as another text, it could be answered again.
  if (bytes.length !== headLength + codeLength || bytes.toString('base64url') !== question) return false;
  const head = bytes.subarray(0, headLength);
  if (!timingSafeEqual(bytes.subarray(headLength), codeOf(masterKey, head, purpose))) return false;
  return nowMs < head.readUIntBE(randomLength, endLength);
}

/** To be written together with what the answer allows: a conflict where the question has been answered. */
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
