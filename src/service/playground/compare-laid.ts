// The set in force compared with the files that are laid over it: which requests are decided otherwise, as `writ diff` says
// it, and each example as a request that can be tried at once.

import { diffPolicies } from '../../reasoning/diff/diff.ts';
import { type ComparedSide, guaranteeChanges, reportOf } from '../../reasoning/diff/report.ts';
import { digest } from '../policies/digest.ts';
import { givenRequestOf } from './given-request.ts';
import { placeDiagnostics } from './place-diagnostics.ts';
import type { Compared, PlaygroundAsk } from './questions.ts';
import type { LaidOver, Workspace } from './workspace.ts';

export function compareLaid(workspace: Workspace, { files }: PlaygroundAsk['compare']): Compared {
  const inForce = workspace.lay([]);
  const laid = workspace.lay(files);
  const diagnostics = placeDiagnostics(laid.diagnostics, laid.sourceOf);
  if (laid.policies === null) return { diagnostics, comparison: null, requests: [] };
  const before = comparedSideOf('active', inForce);
  const after = comparedSideOf('files', laid);
  const diff = diffPolicies(before.set, after.set);
  const requests = diff.findings.map(({ example }) =>
    example === null ? null : givenRequestOf(example.facts.after, after.set),
  );
  const sides = { before, after };
  const guarantees = guaranteeChanges(sides);
  return { diagnostics, comparison: reportOf({ sides, diff, guarantees, log: null }), requests };
}

export function comparedSideOf(name: string, { policies, sourceOf }: LaidOver): ComparedSide {
  if (policies === null) throw new Error('the set in force compiles');
  const { set } = policies;
  return { name, digest: digest(set), set, sourceOf, shown: (file) => file };
}
