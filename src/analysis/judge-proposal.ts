// Judges a proposed change of the active policies: it applies, compiles, and is compared, proved, tested and
// classified. INVARIANT: the digests in a judgement are those of the two sets that were compared.

import { gitPatch } from '../language/assist/git-patch.ts';
import { ownersFile } from '../language/check/owners/owners-file.ts';
import { diffPolicies } from '../reasoning/diff/diff.ts';
import { type SentenceChange, sentenceChanges } from '../reasoning/summary/summary-diff.ts';
import type { FileChange } from '../service/policies/change-files.ts';
import { testEnding } from '../testing/find-test-files.ts';
import { comparedSideOf } from './compare-with-active.ts';
import { type DiffReport, guaranteeChanges, reportOf } from './diff/diff-report.ts';
import { locateDiagnostics } from './located-diagnostics.ts';
import type { GivenRequest, LocatedDiagnostic } from './playground-questions.ts';
import { type ClassifiedChange, classify } from './proposals/classify.ts';
import { type ProposalTests, runProposalTests, testTextIn } from './proposals/proposal-tests.ts';
import { applyChange, type ProposedChange } from './proposals/proposed-change.ts';
import { givenRequestOf } from './request-input.ts';
import type { EditedPolicies, Workspace } from './workspace.ts';

export interface ProposalQuestion {
  readonly change: ProposedChange;
  /** Where the tests of the policies are; null when they have none at hand. */
  readonly directory: string | null;
  /** The path of the policy directory in its Git repository, for the patch; null outside of one. */
  readonly repositoryPath: string | null;
}

export type ProposalAnswer = RefusedChange | JudgedChange;

/** The change does not apply, or its policies have errors. */
export interface RefusedChange {
  readonly kind: 'refused';
  /** The digest of the active set. */
  readonly active: string;
  /** Why the change does not apply; null when its policies have errors. */
  readonly problem: string | null;
  readonly diagnostics: readonly LocatedDiagnostic[];
}

export interface JudgedChange extends ClassifiedChange {
  readonly kind: 'judged';
  /** The digests of the two sets. */
  readonly active: string;
  readonly proposed: string;
  readonly files: readonly FileChange[];
  /** For `git apply`. */
  readonly patch: string;
  readonly diff: DiffReport;
  /** The example of each finding as it can be tried, as `DiffResult` has them. */
  readonly requests: readonly (GivenRequest | null)[];
  readonly sentences: readonly SentenceChange[];
  /** Warnings of the changed files. */
  readonly diagnostics: readonly LocatedDiagnostic[];
  /** Null when there are no tests at hand, or too many. */
  readonly tests: ProposalTests | null;
}

export async function judgeProposal(
  workspace: Workspace,
  { change, directory, repositoryPath }: ProposalQuestion,
): Promise<ProposalAnswer> {
  const active = workspace.compileWith([]);
  const before = comparedSideOf('active', active);
  const refused = { kind: 'refused', active: before.digest, problem: null, diagnostics: [] } as const;
  const applied = await applyChange(change, textReader(workspace, directory));
  if ('problem' in applied) return { ...refused, problem: applied.problem };
  const { files } = applied;
  const laid = files
    .filter(({ path }) => !path.endsWith(testEnding))
    .map(({ path, after }) => ({ path, text: after }));
  if (workspace.sources(laid).files.length === 0) return { ...refused, problem: 'it leaves no policy file' };
  const proposed = workspace.compileWith(laid);
  const diagnostics = locateDiagnostics(proposed.diagnostics, proposed.sourceOf);
  if (proposed.policies === null) return { ...refused, diagnostics };
  const other = strayFile(files, [active, proposed]);
  if (other !== null)
    return { ...refused, problem: `\`${other}\` is no file of the policies or their tests` };
  return {
    kind: 'judged',
    active: before.digest,
    proposed: comparedSideOf('proposed', proposed).digest,
    files,
    patch: gitPatch(files, repositoryPath),
    diagnostics: diagnostics.filter(({ file }) => files.some(({ path }) => path === file)),
    ...compare({ active, proposed, files }),
    tests:
      directory === null
        ? null
        : await runProposalTests({
            directory,
            files,
            before: workspace.sources(),
            after: workspace.sources(laid),
          }),
  };
}

/** A file that neither side reads; null when there is none. */
function strayFile(files: readonly FileChange[], sides: readonly EditedPolicies[]): string | null {
  const read = new Set(sides.flatMap(({ listFiles }) => listFiles));
  const isKnown = (path: string): boolean =>
    path.endsWith('.policy') || path.endsWith(testEnding) || read.has(path);
  return files.find(({ path }) => !isKnown(path))?.path ?? null;
}

interface ComparedChange {
  readonly active: EditedPolicies;
  readonly proposed: EditedPolicies;
  readonly files: readonly FileChange[];
}

/** Sentences take proofs, so only the first actions are described. */
const sentenceActionsMax = 5;
const findingsMax = 200;

function compare({ active, proposed, files }: ComparedChange) {
  const sides = { before: comparedSideOf('active', active), after: comparedSideOf('proposed', proposed) };
  const diff = diffPolicies(sides.before.set, sides.after.set);
  const guarantees = guaranteeChanges(sides, diff);
  const report = reportOf({ sides, diff, guarantees, log: null });
  const sets = { before: sides.before.set, after: sides.after.set };
  const described = {
    before: { ...sides.before, files: active.trees },
    after: { ...sides.after, files: proposed.trees },
  };
  const classified = classify({
    sets,
    diff,
    guarantees,
    areOwnersOther: files.some(({ path }) => path === ownersFile),
  });
  const notes = files.some(({ path }) => path.endsWith(testEnding)) ? ['tests change'] : [];
  return {
    ...classified,
    notes: [...classified.notes, ...notes],
    diff: { ...report, findings: report.findings.slice(0, findingsMax) },
    requests: diff.findings
      .slice(0, findingsMax)
      .map(({ example }) => (example === null ? null : givenRequestOf(example.facts.after, sets.after))),
    sentences: sentenceChanges(described, diff.compared.slice(0, sentenceActionsMax)),
  };
}

/** Reads the text of a file of the active set, or of a test beside it; null when there is none. */
function textReader(workspace: Workspace, directory: string | null) {
  const { files, readListFile } = workspace.sources();
  const policies = new Map(files.map(({ path, text }) => [path, text]));
  return async (path: string): Promise<string | null> => {
    if (path.endsWith(testEnding)) return await testTextIn(directory, path);
    if (path.endsWith('.policy')) return policies.get(path) ?? null;
    const list = readListFile(path);
    return 'text' in list ? list.text : null;
  };
}
