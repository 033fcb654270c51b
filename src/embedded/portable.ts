// Loads policies out of a bundle, wherever JavaScript runs: Node, Deno, Bun, browsers, edge platforms. The
// module imports nothing of a platform.

import { createFunctionCache } from '../language/emit/cache.ts';
import { link } from '../language/emit/link.ts';
import { platformRun } from '../language/emit/run.ts';
import { unpack } from '../language/program/packed/unpack.ts';
import { readBundle } from '../service/policies/compiled/bundle.ts';
import { type EmbeddedPolicies, embeddedPolicies } from './ask.ts';

export { BundleError } from '../service/policies/compiled/bundle.ts';
export type { DecisionQuestion as AskedDecision, EmbeddedDecision, ExplainedDecision } from './ask.ts';

export interface BundledPolicies extends EmbeddedPolicies {
  /**
   * When the bundle was made, in milliseconds. A program that follows bundles takes none that is older than
   * its own.
   */
  readonly madeMs: number;
  readonly commit: string | null;
}

/**
 * Loads a bundle. `key`, 32 bytes in base64url, is the key that must have signed the bundle. Throws a
 * BundleError for a bundle that is damaged or that the key has not signed.
 */
export async function loadBundle(
  bytes: Uint8Array,
  { key }: { readonly key?: string } = {},
): Promise<BundledPolicies> {
  const { program, madeMs, commit } = await readBundle(bytes, key);
  const engine = link(unpack(program), createFunctionCache(platformRun()));
  return Object.assign(
    embeddedPolicies(() => engine),
    { madeMs, commit },
  );
}
