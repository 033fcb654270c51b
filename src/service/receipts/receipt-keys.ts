// The keys that sign receipts, derived from the master key, one for each epoch. A new key is published for a
// day before it signs, and the last key until its receipts have expired. INVARIANT: every valid receipt is
// signed by a published key.

import { hash } from 'node:crypto';
import { type SigningKeys, signingKeysOf } from '../agents/signing-key.ts';
import type { Directory } from '../people/directory.ts';
import { type Actor, recordName } from '../people/person.ts';
import { createCollection, type ReadDocument } from '../store/contract/collection.ts';

/** A public key as verifiers read it (RFC 7517, RFC 8037). */
export interface PublishedKey {
  readonly kty: 'OKP';
  readonly crv: 'Ed25519';
  readonly x: string;
  /** The key's thumbprint (RFC 7638). */
  readonly kid: string;
  readonly use: 'sig';
  readonly alg: 'EdDSA';
}

export interface ReceiptKey extends Pick<SigningKeys, 'privateKey'> {
  readonly published: PublishedKey;
  readonly signsFromMs: number;
}

export interface ReceiptKeys {
  /** The key that signs now. */
  current(): Promise<ReceiptKey>;
  /** The keys whose receipts may be valid, and the next key, the latest first. */
  published(): Promise<readonly ReceiptKey[]>;
  /** Begins a new epoch. `isAtOnce` also withdraws the present key, for a key that has leaked. */
  rotate(actor: Actor, isAtOnce: boolean): Promise<'rotated' | 'already-under-way' | 'conflict'>;
}

/** How long a receipt is valid at most. */
export const receiptSeconds = 60;
/**
 * How long a key stays published after its successor begins to sign: until its receipts have expired, and
 * five minutes more, since verifiers' clocks differ. Verifiers may keep the list of keys for an hour, so a
 * new key is published much earlier than it signs.
 */
const keptAfterMs = receiptSeconds * 1000 + 5 * 60_000;
const publishedBeforeMs = 24 * 60 * 60_000;

interface Epoch {
  readonly epoch: number;
  readonly signsFromMs: number;
}

interface KeyEpochs {
  readonly id: 'receipts';
  readonly createdAtMs: number;
  /** The epochs whose keys are still published, the earliest first; never empty. */
  readonly epochs: readonly Epoch[];
}

const first: ReadDocument<KeyEpochs> = {
  value: { id: 'receipts', createdAtMs: 0, epochs: [{ epoch: 1, signsFromMs: 0 }] },
  version: 0,
};

export function createReceiptKeys(masterKey: Uint8Array, directory: Directory): ReceiptKeys {
  const collection = createCollection<KeyEpochs>(directory.documents, 'receipt-keys', () => ({}));
  const cache = new Map<number, Omit<ReceiptKey, 'signsFromMs'>>();
  const read = async () => (await collection.find('receipts')) ?? first;
  const keyOf = ({ epoch, signsFromMs }: Epoch): ReceiptKey => {
    const receiptKey = cache.get(epoch) ?? makeKey(masterKey, epoch);
    cache.set(epoch, receiptKey);
    return { ...receiptKey, signsFromMs };
  };

  return {
    async current() {
      const { epochs } = (await read()).value;
      const signing = epochs.findLast(({ signsFromMs }) => signsFromMs <= directory.clock());
      return keyOf(signing ?? (epochs[0] as Epoch));
    },
    async published() {
      return notOver((await read()).value.epochs, directory.clock())
        .map(keyOf)
        .toReversed();
    },
    async rotate(actor, isAtOnce) {
      const { value, version } = await read();
      const nowMs = Math.trunc(directory.clock());
      const last = value.epochs.at(-1) as Epoch;
      if (last.signsFromMs > nowMs && !isAtOnce) return 'already-under-way';
      const next = { epoch: last.epoch + 1, signsFromMs: isAtOnce ? nowMs : nowMs + publishedBeforeMs };
      const epochs = isAtOnce ? [next] : [...notOver(value.epochs, nowMs), next];
      const change = {
        who: recordName(actor.person),
        what: 'receipt-keys-rotated',
        subject: 'receipts',
        before: { epochs: value.epochs.map(({ epoch }) => epoch) },
        after: { epochs: epochs.map(({ epoch }) => epoch), signs_from_ms: next.signsFromMs },
      };
      const put = collection.put({ ...value, createdAtMs: value.createdAtMs || nowMs, epochs }, version);
      const result = await directory.change([put], change);
      return result === 'changed' ? 'rotated' : 'conflict';
    },
  };
}

function notOver(epochs: readonly Epoch[], nowMs: number): readonly Epoch[] {
  return epochs.filter((_, at) => {
    const next = epochs[at + 1];
    return next === undefined || nowMs < next.signsFromMs + keptAfterMs;
  });
}

function makeKey(masterKey: Uint8Array, epoch: number): Omit<ReceiptKey, 'signsFromMs'> {
  const { privateKey, publicText: x } = signingKeysOf(masterKey, `receipts ${epoch}`);
  const kid = hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
  return { privateKey, published: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' } };
}
