// Policies at the edge: a worker that takes a call, decides by a bundle, and passes the call on or refuses it. Nothing in it is of
// Node: it runs in Deno, Bun, Cloudflare-like workers and browsers, also where no text becomes a function.

import { type BundledPolicies, loadBundle } from 'writ/portable';

export interface WorkerSettings {
  readonly bundle: Uint8Array;
  /** Whose signature the bundle must have. */
  readonly key: string;
}

/** Loaded with the first call, and kept; what could not be loaded is tried again with the next. */
let loading: Promise<BundledPolicies> | null = null;

export async function answer(request: Request, { bundle, key }: WorkerSettings): Promise<Response> {
  loading ??= loadBundle(bundle, { key }).catch((error: unknown) => {
    loading = null;
    throw error;
  });
  const policies = await loading;
  const payload = await request.json();
  const { decision, reason, rule } = policies.decide({ action: 'mail.send', payload });
  return Response.json({ decision, reason, rule }, { status: decision === 'ALLOW' ? 200 : 403 });
}
