// Compares two sets and returns which requests they decide differently, as `writ diff` reports it, and each
// example as a request that can be tried at once. The sets are the active one and the same with files laid
// over it, or two sets that were active at some time.

import { diffPolicies } from '../reasoning/diff/diff.ts';
import type { BothSides } from '../reasoning/diff/joint-set.ts';
import { digest } from '../service/policies/digest.ts';
import type { SetTexts } from '../service/policies/texts.ts';
import { type ComparedSide, guaranteeChanges, reportOf } from './diff/diff-report.ts';
import { locateDiagnostics } from './located-diagnostics.ts';
import type { ComparedSets, DiffResult, PlaygroundInputs } from './playground-questions.ts';
import { givenRequestOf } from './request-input.ts';
import { createWorkspace, type EditedPolicies, type Workspace } from './workspace.ts';

export function compareWithActive(workspace: Workspace, { files }: PlaygroundInputs['compare']): DiffResult {
  const active = workspace.compileWith([]);
  const laid = workspace.compileWith(files);
  const diagnostics = locateDiagnostics(laid.diagnostics, laid.sourceOf);
  if (laid.policies === null) return { diagnostics, diff: null, requests: [] };
  const before = comparedSideOf('active', active);
  return { diagnostics, ...compareSides({ before, after: comparedSideOf('files', laid) }) };
}

export function compareSets({ old, new: now }: PlaygroundInputs['compare sets']): ComparedSets {
  const [before, after] = [setOf(old), setOf(now)];
  const failed = before.policies === null ? 'old' : after.policies === null ? 'new' : null;
  if (failed !== null) {
    const { diagnostics, sourceOf } = failed === 'old' ? before : after;
    return {
      failed,
      diagnostics: locateDiagnostics(diagnostics, sourceOf),
      diff: null,
      requests: [],
    };
  }
  const sides = { before: comparedSideOf('old', before), after: comparedSideOf('new', after) };
  return { failed, diagnostics: [], ...compareSides(sides) };
}

function setOf(texts: SetTexts): EditedPolicies {
  const workspace = createWorkspace();
  workspace.take(texts);
  return workspace.compileWith([]);
}

function compareSides(sides: BothSides<ComparedSide>): Pick<DiffResult, 'diff' | 'requests'> {
  const { before, after } = sides;
  const diff = diffPolicies(before.set, after.set);
  const requests = diff.findings.map(({ example }) =>
    example === null ? null : givenRequestOf(example.facts.after, after.set),
  );
  const guarantees = guaranteeChanges(sides, diff);
  return { diff: reportOf({ sides, diff, guarantees, log: null }), requests };
}

export function comparedSideOf(name: string, { policies, sourceOf }: EditedPolicies): ComparedSide {
  if (policies === null) throw new Error('the policies to compare do not compile');
  const { set } = policies;
  return { name, digest: digest(set), set, sourceOf, shown: (file) => file };
}
