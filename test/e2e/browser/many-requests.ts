// Fills a store with many requests: copies of one decided request, each with an id of its own, a millisecond
// apart up to now.

import { createRequestId } from '../../../src/service/requests/record/id.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';

const atOnce = 5_000;

export async function appendCopies({ requests }: Store, id: string, count: number): Promise<void> {
  const row = await requests.find(id);
  if (row === null) throw new Error('the request to copy is there');
  const firstMs = Date.now() - count;
  for (let from = 0; from < count; from += atOnce) {
    const copies = Array.from({ length: Math.min(atOnce, count - from) }, (_, at) => {
      const createdAtMs = firstMs + from + at;
      return { ...row, id: createRequestId(createdAtMs), createdAtMs };
    });
    await Promise.all(copies.map((copy) => requests.append(copy, { openMax: 1 })));
  }
}
