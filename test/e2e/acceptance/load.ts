// A load of requests from a fixed number of clients; each waits for its reply before it sends the next
// request.

import { ask, type Reply } from './service.ts';

export interface Answered {
  readonly index: number;
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  readonly reply: Reply;
}

export interface LoadOptions {
  readonly url: string;
  readonly key: string;
  readonly total: number;
  readonly clients: number;
  readonly request: (index: number) => { action_key: string; payload: unknown };
  /** Called after each reply, with the number of replies so far. */
  readonly onReply?: (answered: number) => void;
}

/** Runs the load; returns the replies. A client whose connection breaks stops asking. */
export async function runLoad({
  url,
  key,
  total,
  clients,
  request,
  onReply,
}: LoadOptions): Promise<readonly Answered[]> {
  const answered: Answered[] = [];
  let next = 0;
  const client = async (): Promise<void> => {
    while (next < total) {
      const index = next++;
      const sentAtMs = performance.now();
      const reply = await ask(url, key, request(index)).catch(() => null);
      if (reply === null) return;
      answered.push({ index, sentAtMs, answeredAtMs: performance.now(), reply });
      onReply?.(answered.length);
    }
  };
  await Promise.all(Array.from({ length: clients }, client));
  return answered;
}
