// A tracing that keeps the `traceparent` of each answered request, and sends nothing.

import type { RequestTracing } from '../../../src/service/http/telemetry/tracing.ts';

export function keepTraces(): { readonly tracing: RequestTracing; readonly parents: readonly unknown[] } {
  const parents: unknown[] = [];
  const tracing: RequestTracing = {
    answered: ({ traceparent }) => void parents.push(traceparent),
    delivering: () => ({ traceparent: '', ended: () => undefined }),
    counts: () => ({ sent: 0, droppedWaiting: 0, droppedUnreachable: 0, droppedRefused: 0 }),
    close: async () => undefined,
  };
  return { tracing, parents };
}
