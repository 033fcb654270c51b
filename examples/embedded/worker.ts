// Policies at the edge: a worker that receives a call, decides by a bundle, and grants or refuses the call.
// It uses nothing of Node: it runs in Deno, Bun, Cloudflare-like workers and browsers, even when no text may
// become a function.

import { type BundledPolicies, loadBundle } from 'writ/portable';

export interface WorkerSettings {
  readonly bundle: Uint8Array;
  /** The public key, 32 bytes in base64url, that must have signed the bundle. */
  readonly key: string;
}

/** The bundle, loaded by the first call and kept; after a failure the next call loads again. */
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
