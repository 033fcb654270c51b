// How the stream of a destination stands: how many records it lacks, since when, and what is wrong. Read from the store,
// so that every process that serves it says the same.

import { timeOf } from '../audit/export.ts';
import type { Store } from '../store/contract/store.ts';
import { type Cursor, cursorsIn } from './cursor.ts';
import type { SiemFormat, SiemSettings } from './siem-settings.ts';

export interface SiemStatus {
  readonly name: string;
  /** The host and the port of the receiver. */
  readonly receiver: string;
  readonly format: SiemFormat;
  /** The number of the last record that the receiver has; null before the stream has begun. */
  readonly sequence: number | null;
  readonly lastSequence: number;
  /** How many records the receiver lacks, at most. */
  readonly lacking: number;
  /** When the first of these was made; null when there are none. */
  readonly lackingSinceMs: number | null;
  readonly deliveredAtMs: number | null;
  readonly failure: Cursor['failure'];
  readonly refused: Cursor['refused'];
  readonly gap: Cursor['gap'];
}

/** Numbers may be missing between two records. */
const numbersRead = 25;

export type ReadSiemStatus = () => Promise<SiemStatus>;

export function createSiemStatus(
  store: Pick<Store, 'chain' | 'documents'>,
  { name, url, format }: Pick<SiemSettings, 'name' | 'url' | 'format'>,
): ReadSiemStatus {
  return async () => {
    const cursor = (await cursorsIn(store).find(name))?.value ?? null;
    const after = cursor?.sequence ?? null;
    const { records, lastSequence } = await store.chain.segment(after ?? 0, numbersRead);
    const [next] = records;
    const lacking = after === null ? 0 : Math.max(0, lastSequence - after);
    return {
      name,
      receiver: new URL(url).host,
      format,
      sequence: after,
      lastSequence,
      lacking,
      lackingSinceMs: lacking === 0 || next === undefined ? null : timeOf(next.entry),
      deliveredAtMs: cursor?.deliveredAtMs ?? null,
      failure: cursor?.failure ?? null,
      refused: cursor?.refused ?? null,
      gap: cursor?.gap ?? null,
    };
  };
}
