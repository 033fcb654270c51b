// Chooses the two sides that a revision in Git names, and compares two sides completely.

import { type DiffReport, guaranteeChanges, type SetComparison } from '../../analysis/diff/diff-report.ts';
import type { LoadedSide, SideSource } from '../../analysis/diff/diff-side.ts';
import { mergeBase } from '../../analysis/diff/git-revision.ts';
import { testFileRequests } from '../../analysis/diff/test-file-requests.ts';
import { diffPolicies } from '../../reasoning/diff/diff.ts';
import type { BothSides } from '../../reasoning/diff/joint-set.ts';

type PolicyComparison = Omit<SetComparison, 'sides' | 'log'> & { readonly sides: BothSides<LoadedSide> };

/** Compares two sides completely. Examples are chosen close to the requests of the test files at the path. */
export async function compareSides(
  sides: BothSides<LoadedSide>,
  path: string,
  findingsMax?: number,
): Promise<PolicyComparison> {
  const { before, after } = sides;
  const samples = await testFileRequests(path, after.set);
  const diff = diffPolicies(before.set, after.set, { known: samples, findingsMax });
  return { sides, diff, guarantees: guaranteeChanges(sides, diff) };
}

/** The keys of the changed actions, in the order of the findings. */
export function changedActions({ findings }: DiffReport): readonly string[] {
  return [...new Set(findings.flatMap(({ actions }) => actions))];
}

export interface DiffSides {
  readonly old: SideSource;
  readonly new: SideSource;
}

/** The sides that `OLD`, `OLD..NEW` or `OLD...NEW` names. Without NEW, the files as they are now are one side. */
export async function sidesOfRevisions(revisions: string, path: string): Promise<DiffSides> {
  const [, old = '', dots, now = ''] = /^(.*?)(\.{2,3})(.*)$/s.exec(revisions) ?? [null, revisions, '', ''];
  const from = old === '' ? 'HEAD' : old;
  const side = (revision: string | null, name: string): SideSource => ({ revision, name, path });
  if (dots === '') return { old: side(from, from), new: side(null, 'files') };
  const to = now === '' ? 'HEAD' : now;
  const base = dots === '...' ? await mergeBase(from, to, path) : from;
  return { old: side(base, from), new: side(to, to) };
}
