// Asks witnesses to cosign a checkpoint (C2SP tlog-witness, `add-checkpoint`). INVARIANT: a cosignature counts only
// when it verifies with the key that was configured for its witness.

import { boundedFetch } from '../fetching/fetch-document.ts';
import type { Store } from '../store/contract/store.ts';
import type { ReadCheckpoint } from './checkpoint-note.ts';
import type { WitnessState } from './log-state.ts';
import { proveConsistency } from './prove.ts';
import {
  checkSignature,
  type NoteSignature,
  noteText,
  readSignatureLines,
  readVerifierKey,
  type VerifierKey,
} from './signed-note.ts';

export interface Witness {
  readonly key: VerifierKey;
  /** `add-checkpoint` is below it. */
  readonly address: string;
}

const witnessesMax = 16;

/** Reads `KEY ADDRESS`, separated by commas; null when a part is not a verifier key of cosignatures and an address. */
export function readWitnesses(text: string): readonly Witness[] | null {
  const witnesses: Witness[] = [];
  for (const part of text.split(',').map((one) => one.trim())) {
    if (part === '') continue;
    const [keyText = '', address = '', ...more] = part.split(/\s+/);
    const key = readVerifierKey(keyText);
    const isWeb = URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
    if (key?.type !== 'cosignature' || !isWeb || more.length > 0) return null;
    if (witnesses.some((one) => one.key.name === key.name)) return null;
    witnesses.push({ key, address: address.replace(/\/+$/, '') });
  }
  return witnesses.length > witnessesMax ? null : witnesses;
}

export interface WitnessAnswer {
  readonly state: WitnessState;
  /** Null when the witness did not cosign. */
  readonly cosignature: NoteSignature | null;
}

export const unaskedWitness: WitnessState = { size: 0, failingSinceMs: null, refusal: null };

const limits = { bytesMax: 64 * 1024, timeoutMs: 10_000 };

interface Question {
  readonly store: Pick<Store, 'tree'>;
  readonly checkpoint: ReadCheckpoint;
  readonly witness: Witness;
  readonly nowMs: number;
}

/** Asks a witness; never rejects. */
export async function askWitness(question: Question, state: WitnessState): Promise<WitnessAnswer> {
  const failed = (refusal: string | null, size = state.size): WitnessAnswer => ({
    state: { size, refusal, failingSinceMs: state.failingSinceMs ?? question.nowMs },
    cosignature: null,
  });
  try {
    const first = await send(question, state.size);
    // A witness that knows another size says so, for example after its state or ours was lost.
    const known = first.status === 409 ? sizeIn(first.text) : null;
    const isAhead = known !== null && known > question.checkpoint.size;
    if (isAhead)
      return failed(
        `it has cosigned a log of ${known} records, and this one has ${question.checkpoint.size}`,
      );
    const { status, text } = known === null || known === state.size ? first : await send(question, known);
    const cosignature = status === 200 ? cosignatureIn(question, text) : null;
    if (cosignature !== null)
      return { state: { size: question.checkpoint.size, failingSinceMs: null, refusal: null }, cosignature };
    return failed(status >= 500 || status === 429 ? null : refusalOf(status), known ?? state.size);
  } catch {
    return failed(null);
  }
}

function refusalOf(status: number): string {
  switch (status) {
    case 200:
      return 'its answer has no valid cosignature of its key';
    case 403:
      return 'it does not know the key of this log';
    case 404:
      return 'it does not know this log';
    case 409:
      return 'it has cosigned another root for this size';
    case 422:
      return 'the log does not continue what it has cosigned';
    default:
      return `it answered ${status}`;
  }
}

async function send({ store, checkpoint, witness }: Question, oldSize: number) {
  const proof = await proveConsistency(store, Math.min(oldSize, checkpoint.size), checkpoint);
  if (proof === 'changed') throw new Error('the hash tree differs from the checkpoint');
  const lines = proof.consistency.map((hash) => `${hash}\n`).join('');
  const reply = await boundedFetch(limits)(`${witness.address}/add-checkpoint`, {
    method: 'POST',
    headers: { 'content-type': 'text/plain; charset=utf-8' },
    body: `old ${proof.old_size}\n${lines}\n${noteText(checkpoint.note)}`,
  });
  return { status: reply.status, text: await reply.text() };
}

function sizeIn(text: string): number | null {
  return /^(0|[1-9]\d{0,15})\n$/.test(text) ? Number(text) : null;
}

function cosignatureIn({ checkpoint, witness }: Question, answer: string): NoteSignature | null {
  const signatures = readSignatureLines(answer) ?? [];
  const own = signatures.filter(({ name, id }) => name === witness.key.name && id === witness.key.id);
  const [only] = own;
  if (only === undefined || own.length > 1) return null;
  const { text } = checkpoint.note;
  return checkSignature({ text, signatures: own }, witness.key) === 'signed' ? only : null;
}

/** Which of the witnesses have cosigned the checkpoint. */
export function cosignedBy({ note }: ReadCheckpoint, witnesses: readonly Witness[]): readonly Witness[] {
  return witnesses.filter(({ key }) => checkSignature(note, key) === 'signed');
}
