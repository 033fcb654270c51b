// Times into request ids: UUID version 7 (RFC 9562). INVARIANT: ids of one source rise as text in the order in which
// they are made, also within a millisecond and when the clock steps back.

import { randomFillSync } from 'node:crypto';

const counterMax = 0xfff;
const randomBytesPerId = 10;

/** The id of a new request; `nowMs` is milliseconds since 1970-01-01T00:00Z. */
export const createRequestId: (nowMs: number) => string = createIdSource();

/** A source of ids of its own, with its own last moment. */
export function createIdSource(): (nowMs: number) => string {
  const pool = Buffer.alloc(randomBytesPerId * 400);
  let used = pool.length;
  let lastMs = -1;
  let counter = 0;
  const takeRandom = () => {
    if (used === pool.length) {
      randomFillSync(pool);
      used = 0;
    }
    used += randomBytesPerId;
    return pool.subarray(used - randomBytesPerId, used);
  };
  return (nowMs) => {
    const random = takeRandom();
    counter += 1;
    const ms = Math.trunc(nowMs);
    if (ms > lastMs || counter > counterMax) {
      lastMs = Math.max(ms, lastMs + 1);
      // Half of the range is left to count on within the millisecond.
      counter = random.readUInt16BE(8) & 0x7ff;
    }
    return formatId(lastMs, counter, random);
  };
}

function formatId(ms: number, counter: number, random: Buffer): string {
  const time = ms.toString(16).padStart(12, '0');
  const count = counter.toString(16).padStart(3, '0');
  const variant = (0x8 | ((random[8] ?? 0) >> 6)).toString(16);
  const rest = random.toString('hex', 0, 8);
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${variant}${rest.slice(0, 3)}-${rest.slice(3, 15)}`;
}
