// Checkpoints of the transparency log (C2SP tlog-checkpoint): the log's name, the size of its tree and its root
// hash, signed as a note. The key is derived from the service's master key.

import { signingKeysOf } from '../agents/signing-key.ts';
import type { TreeHead } from './merkle-tree.ts';
import {
  isKeyName,
  type NoteSigner,
  noteSignerOf,
  noteText,
  readNote,
  type SignedNote,
  signNote,
} from './signed-note.ts';

export interface Checkpoint extends TreeHead {
  /** The log's name. */
  readonly origin: string;
}

export interface ReadCheckpoint extends Checkpoint {
  readonly note: SignedNote;
}

/** The signer of a log's checkpoints; a log of another name has another key id. */
export function logSigner(masterKey: Uint8Array, origin: string): NoteSigner {
  return noteSignerOf(origin, 'note', signingKeysOf(masterKey, 'transparency log'));
}

export function signCheckpoint({ size, root }: TreeHead, signer: NoteSigner): SignedNote {
  const text = `${signer.key.name}\n${size}\n${Buffer.from(root).toString('base64')}\n`;
  return { text, signatures: [signNote(text, signer)] };
}

/** Reads a checkpoint; null when the text is not one. Verifies no signature. */
export function readCheckpointNote(text: string): ReadCheckpoint | null {
  const note = readNote(text);
  if (note === null) return null;
  const [origin = '', size = '', root = '', ...extensions] = note.text.split('\n').slice(0, -1);
  const hash = Buffer.from(root, 'base64');
  const isForm = isKeyName(origin) && /^(0|[1-9]\d{0,15})$/.test(size) && hash.length === 32;
  if (!isForm || hash.toString('base64') !== root || extensions.some((line) => line === '')) return null;
  return { origin, size: Number(size), root: hash, note };
}

export function checkpointNoteText({ note }: ReadCheckpoint): string {
  return noteText(note);
}
