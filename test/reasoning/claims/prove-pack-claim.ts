// Proves or refutes the claims about packs, each with its pack.

import { join } from 'node:path';
import type { PolicySet } from '../../../src/language/model/policy.ts';
import { compileToProgram, type PolicySources } from '../../../src/pipeline.ts';
import { proveAction, type Verdict } from '../../../src/reasoning/prove/prove.ts';
import { readSources } from '../../../src/service/policies/bundles/read-sources.ts';
import { heldOutFalse, heldOutTrue } from './held-out-claims.ts';
import { falseClaims, type PackClaim, trueClaims } from './pack-claims.ts';

export const allTrue = [...trueClaims, ...heldOutTrue];
export const allFalse = [...falseClaims, ...heldOutFalse];

const places = {
  payments: '../../../policies/payments',
  banking: '../../../policies/banking',
  slack: '../../../policies/slack',
  travel: 'travel.policy',
  workspace: 'workspace.policy',
  retail: 'retail.policy',
} satisfies Record<PackClaim['pack'], string>;

const packs = new Map<string, Promise<PolicySources>>();

function sourcesOf(pack: PackClaim['pack']): Promise<PolicySources> {
  const read = async () => (await readSources(join(import.meta.dirname, places[pack]))).sources;
  const known = packs.get(pack) ?? read();
  packs.set(pack, known);
  return known;
}

export interface ProvedPackClaim {
  readonly set: PolicySet;
  readonly claim: PolicySet['guarantees'][number]['claims'][number];
  /** One verdict for each action. */
  readonly verdicts: readonly Verdict[];
  readonly kind: Verdict['kind'];
  /** Time for the whole claim without compiling. */
  readonly milliseconds: number;
}

export async function provePackClaim({ pack, on, claim: text }: PackClaim): Promise<ProvedPackClaim> {
  const sources = await sourcesOf(pack);
  const question = { path: 'question.policy', text: `guarantee question on ${on} {\n  ${text}\n}\n` };
  const { set, diagnostics } = compileToProgram({ ...sources, files: [...sources.files, question] });
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  const { actions, claims } = set.guarantees.find(({ name }) => name === 'question')!;
  const [claim] = claims as readonly [ProvedPackClaim['claim']];
  const start = performance.now();
  const verdicts = actions.map((action) => proveAction(set, action, [claim]).get(claim)!);
  const milliseconds = performance.now() - start;
  const kinds = verdicts.map(({ kind }) => kind);
  const kind = kinds.find((one) => one === 'refuted') ?? kinds.find((one) => one === 'undecided') ?? 'proved';
  return { set, claim, verdicts, kind, milliseconds };
}
