// Checks requests for what may deceive a reader before they are approved together: invisible characters, letters of
// another script within a word, and values that look like one that was granted before. INVARIANT: a request is clear
// only after the service has answered and nothing was found.

import { useEffect, useState } from 'preact/hooks';
import { call } from '../../api/client.ts';
import { aboutJson } from '../../parts/text/json-parts.ts';
import { mayDeceive, type QueueItem } from './queue-table.tsx';

/** `unchecked`: the service could not say. */
export type Deception = 'clear' | 'deceptive' | 'unchecked';

const checkedAtOnce = 4;

/** The results so far, by request id; a request without one is still being checked. */
export function useDeceptionChecks(items: readonly QueueItem[]): ReadonlyMap<string, Deception> {
  const [results, setResults] = useState<ReadonlyMap<string, Deception>>(new Map());
  const ids = items.map(({ request_id }) => request_id).join(' ');
  useEffect(() => {
    const abort = new AbortController();
    const left = [...items];
    const work = async (): Promise<void> => {
      for (let item = left.shift(); item !== undefined; item = left.shift()) {
        const { request_id: id } = item;
        const result = await checkRequest(item, abort.signal);
        if (abort.signal.aborted) return;
        setResults((before) => new Map(before).set(id, result));
      }
    };
    for (let at = 0; at < checkedAtOnce; at += 1) void work();
    return () => abort.abort();
  }, [ids]);
  return results;
}

/** Never rejects. */
async function checkRequest(item: QueueItem, signal: AbortSignal): Promise<Deception> {
  if (mayDeceive(item)) return 'deceptive';
  const options = { params: { id: item.request_id }, signal };
  try {
    const [{ items: confusables }, { payload }] = await Promise.all([
      call('listConfusables', options),
      call('getRequest', options),
    ]);
    const isClear = confusables.length === 0 && aboutJson(payload).invisible.length === 0;
    return isClear ? 'clear' : 'deceptive';
  } catch {
    return 'unchecked';
  }
}
