// Examines what the service decides by: the policy directory, or the bundle that the service follows in its
// place.

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type Diagnostic, hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { payloadBytesMax } from '../../language/model/limits.ts';
import { countRules } from '../../language/model/policy.ts';
import { isoTime } from '../../language/value/iso-time.ts';
import { compileToProgram } from '../../pipeline.ts';
import { shellWord, writCommand } from '../../service/http/writ-command.ts';
import { bundleSource } from '../../service/policies/bundles/bundle-source.ts';
import { sourcesOf } from '../../service/policies/bundles/read-sources.ts';
import { readBundle } from '../../service/policies/compiled/bundle.ts';
import { firstPolicyHelp } from '../../service/policies/directory-listing.ts';
import type { Config } from '../../service/settings/load.ts';
import { many } from '../output/many.ts';
import { loadPacked } from '../support/load-policies.ts';
import { findingFromError, ok, type PartFinding, unused, warned, wrong } from './finding.ts';

export async function examinePolicies({ policies, bundle, bodyBytesMax }: Config): Promise<PartFinding> {
  if (bundle !== null) return unused('the service follows a bundle');
  const { diagnostics, read, compiled } = await loadPacked(policies);
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const command = errors[0]?.help === firstPolicyHelp ? 'init' : 'check';
  const help = writCommand(`${command} ${shellWord(policies)}`);
  if (errors.length > 0) return wrong(errorText(errors, policies), help);
  if (await mayEverybodyWrite(read.root ?? policies))
    return wrong(`every user of the machine can change ${policies}`, `chmod -R o-w ${policies}`);
  if (bodyBytesMax > payloadBytesMax)
    return warned(
      `proofs of guarantees cover payloads of up to ${payloadBytesMax} bytes, and limits.body_bytes is ${bodyBytesMax}`,
      `set limits.body_bytes to at most ${payloadBytesMax}`,
    );
  return ok(
    `${policies}: ${many(read.files.length, 'file')}, ${many(countRules(compiled.set?.policies ?? []), 'rule')}`,
  );
}

function errorText(errors: readonly Diagnostic[], source: string): string {
  const [first] = errors;
  const count = errors.length === 1 ? 'an error' : `${errors.length} errors`;
  return `the policies of ${source} have ${count}: ${first?.message}`;
}

const everybodyMayWrite = 0o002;

async function mayEverybodyWrite(directory: string): Promise<boolean> {
  if (process.geteuid === undefined) return false;
  return ((await stat(directory)).mode & everybodyMayWrite) !== 0;
}

const waitMs = 10_000;

export async function examineBundle({ bundle, data }: Config): Promise<PartFinding> {
  if (bundle === null) return unused('the service follows the policy directory');
  try {
    const bundleFiles = await bundleSource(bundle.source, bundle)(null, AbortSignal.timeout(waitMs));
    const read = await readBundle(bundleFiles!.bytes, bundle.key ?? undefined);
    const { packed, diagnostics } = compileToProgram(sourcesOf(read).sources);
    if (packed === null || hasErrors(diagnostics))
      return wrong(
        'the policies in the bundle do not compile',
        'create it again: `writ build POLICIES -o FILE`',
      );
    const keptMs = await madeMsOfKept(join(data, 'bundle', 'last.writ'));
    if (read.madeMs < keptMs && !bundle.isOlderAllowed)
      return wrong(
        `the bundle was created at ${isoTime(read.madeMs)}, earlier than the active one (${isoTime(keptMs)})`,
        'publish the newer one again, or set `bundle.allow_older`',
      );
    return bundle.key === null
      ? warned(
          `${bundle.source} is accepted from anyone`,
          'sign it with `writ build --sign`, and set `bundle.key`',
        )
      : ok(`${bundle.source}, created at ${isoTime(read.madeMs)}, signed with the key in the settings`);
  } catch (error) {
    const { what } = findingFromError(error);
    const message = error instanceof Error ? error.message : what;
    return wrong(
      message,
      'publish a bundle from `writ build --sign` with the key of `bundle.key`; check it with `writ verify-bundle`',
    );
  }
}

/** When the kept bundle was made. 0 when no readable bundle is kept: then any bundle may replace it. */
async function madeMsOfKept(path: string): Promise<number> {
  try {
    return (await readBundle(await readFile(path))).madeMs;
  } catch {
    return 0;
  }
}
