// Compares the inferred policies with the existing ones, or with none, by the proved comparison of `writ diff`.
// INVARIANT: files that may only narrow contain guards alone, and the comparison finds nothing loosened.

import type { PolicySet } from '../../language/model/policy.ts';
import { isGuard } from '../../language/model/policy.ts';
import { diffPolicies } from '../../reasoning/diff/diff.ts';
import { type DiffReport, guaranteeChanges, reportOf } from '../diff/diff-report.ts';
import { type LoadedSide, sideOf } from '../diff/diff-side.ts';
import type { CombinedSet } from './combine.ts';

/** A set without any declaration: it denies every request. */
export const noPolicies: PolicySet = {
  actions: new Map(),
  lists: new Map(),
  tables: new Map(),
  hours: new Map(),
  lets: new Map(),
  meters: new Map(),
  approvers: new Map(),
  policies: [],
  guarantees: [],
};

export interface CompareInput {
  /** The existing policies; null if there are none. */
  readonly before: LoadedSide | null;
  readonly combined: CombinedSet;
  /** The folder of the existing policies, or of the new ones. */
  readonly path: string;
  /** Whether the inferred files may allow what was denied. */
  readonly mayWiden: boolean;
}

/** Throws for a result that allows more than it may, which would be a bug of this folder. */
export function compareInferred({ before, combined, path, mayWiden }: CompareInput): DiffReport {
  const none = { name: 'no policies', path, sourceOf: () => null };
  const sourceOf = (file: string): string | null =>
    combined.sources.files.find((one) => one.path === file)?.text ?? null;
  const sides = {
    before: before ?? sideOf({ set: noPolicies, files: [] }, none),
    after: sideOf({ set: combined.set, files: combined.trees }, { name: 'inferred', path, sourceOf }),
  };
  const diff = diffPolicies(sides.before.set, sides.after.set);
  const report = reportOf({ sides, diff, guarantees: guaranteeChanges(sides, diff), log: null });
  if (!mayWiden) checkNarrow(combined, report);
  return report;
}

function checkNarrow({ set, texts }: CombinedSet, { loosened }: DiffReport): void {
  const inferred = new Set(texts.actions.map(({ policy }) => policy));
  const rules = set.policies.filter(({ name }) => inferred.has(name)).flatMap((policy) => policy.rules);
  if (loosened > 0 || !rules.every(isGuard))
    throw new Error('the inferred policies allow what the existing policies deny');
}
