// Times into request ids: UUID version 7 (RFC 9562). INVARIANT: as texts, the ids of one source rise in the
// order in which they are made, also within a millisecond and when the clock steps back.

import { randomFillSync } from 'node:crypto';

const counterMax = 0xfff;
const randomBytesPerId = 10;

/** Returns the id of a new request; `nowMs` is milliseconds since 1970-01-01T00:00Z. */
export const createRequestId: (nowMs: number) => string = createIdSource();

/** Creates a separate source of ids, with its own last moment. */
export function createIdSource(): (nowMs: number) => string {
  const pool = Buffer.alloc(randomBytesPerId * 400);
  let poolText = '';
  let used = pool.length;
  let lastMs = -1;
  let timeText = '';
  let counter = 0;
  return (nowMs) => {
    if (used === pool.length) {
      randomFillSync(pool);
      poolText = pool.toString('hex');
      used = 0;
    }
    const from = used;
    used += randomBytesPerId;
    counter += 1;
    const ms = Math.trunc(nowMs);
    if (ms > lastMs || counter > counterMax) {
      lastMs = Math.max(ms, lastMs + 1);
      const time = lastMs.toString(16).padStart(12, '0');
      timeText = `${time.slice(0, 8)}-${time.slice(8)}`;
      // The counter starts in the lower half of its range, which leaves the upper half to count on within the
      // millisecond.
      counter = pool.readUInt16BE(from + 8) & 0x7ff;
    }
    const count = counter.toString(16).padStart(3, '0');
    // Two random bits follow the two bits of the variant.
    const variant = '89ab'[pool[from]! >> 6];
    const rest = poolText.slice(2 * from + 1, 2 * from + 16);
    return `${timeText}-7${count}-${variant}${rest.slice(0, 3)}-${rest.slice(3)}`;
  };
}
