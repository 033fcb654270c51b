// The cases of `writ import cedar`: folders with Cedar policies, their schema, and the files that the import makes of them.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCedarPolicies } from '../../../../src/cli/import/cedar/cedar-policies.ts';
import { readCedarSchema } from '../../../../src/cli/import/cedar/cedar-schema.ts';
import { type Cedar, loadCedar } from '../../../../src/cli/import/cedar/cedar-wasm.ts';
import {
  type Comparison,
  type ComparisonSource,
  compareWithCedar,
} from '../../../../src/cli/import/cedar/compare.ts';
import { environmentsOf } from '../../../../src/cli/import/cedar/environment.ts';
import { type WrittenCedar, writeCedarPolicies } from '../../../../src/cli/import/cedar/write-cedar.ts';

const casesFolder = join(import.meta.dirname, 'cases');
const point = 'gateway';

export interface CedarCase {
  readonly name: string;
  readonly folder: string;
  readonly schemaFile: string;
}

export function cedarCases(): readonly CedarCase[] {
  return readdirSync(casesFolder).map((name) => {
    const folder = join(casesFolder, name);
    const file = readdirSync(folder).find((one) => one.startsWith('schema.'))!;
    return { name, folder, schemaFile: join(folder, file) };
  });
}

export interface CedarSet {
  readonly schema: string;
  readonly policies: string;
}

export interface WrittenSet extends WrittenCedar {
  readonly source: Omit<ComparisonSource, 'policy'>;
}

/** Writes the policies for Cedar policies, without a comparison. */
export async function writeSet({ schema: schemaText, policies: text }: CedarSet): Promise<WrittenSet> {
  const cedar: Cedar = await loadCedar(import.meta.dirname);
  const schema = readCedarSchema(cedar, schemaText);
  const policies = readCedarPolicies(cedar, [{ path: 'a.cedar', text }], schema.text);
  const environments = environmentsOf(schema);
  const written = writeCedarPolicies({ policies, environments, point, principal: null });
  return { ...written, source: { cedar, schema, policies, environments, rules: written.rules, point } };
}

export async function writeCase({ folder, schemaFile }: CedarCase): Promise<WrittenSet> {
  const files = readdirSync(folder).filter((one) => one.endsWith('.cedar'));
  const policies = files.map((one) => readFileSync(join(folder, one), 'utf8')).join('\n');
  return await writeSet({ schema: readFileSync(schemaFile, 'utf8'), policies });
}

/** Compares the written policies, or changed ones, with Cedar. */
export async function compareSet(
  { source, policy }: WrittenSet,
  {
    requests,
    seed,
    changed = policy,
  }: { readonly requests: number; readonly seed: number; readonly changed?: string },
): Promise<Comparison> {
  return await compareWithCedar(
    { ...source, policy: changed },
    { requests, seed, onProgress: () => undefined },
  );
}
