// Loads the claims that are to be proved: the guarantees of the policies, or a question about them.

import { deciderOf } from '../../analysis/findings/guarantee-results.ts';
import type { Diagnostic } from '../../language/diagnostic/diagnostic.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { checkSources } from '../../pipeline.ts';
import { loadChecked } from './load-policies.ts';

export interface Question {
  readonly on: string;
  readonly claim: string;
}

/** The file of a question, which is none of the policies. */
export const questionFile = 'question';

export interface ClaimQuery {
  /** The set with the guarantees to prove: its own, or the question alone. */
  readonly set: PolicySet;
  readonly decide: ReturnType<typeof deciderOf>;
  readonly sourceOf: SourceOf;
  readonly root: string | null;
}

/** The errors of the policies, or of the question. */
export interface FailedQuery {
  readonly errors: readonly Diagnostic[];
  readonly sourceOf: SourceOf;
  readonly root: string | null;
}

/** Loads the policies, with the question added. */
export async function loadClaims(path: string, question: Question | null): Promise<ClaimQuery | FailedQuery> {
  const { read, compiled, diagnostics } = await loadChecked(path);
  const plain = { read, compiled, diagnostics, sourceOf: read.sourceOf };
  const {
    compiled: made,
    diagnostics: found,
    sourceOf,
  } = question === null ? plain : withQuestion(plain, question);
  const { set } = made;
  if (set === null) return { errors: found, sourceOf, root: read.root };
  const guarantees =
    question === null ? set.guarantees : set.guarantees.filter(({ span }) => span.file === questionFile);
  return { set: { ...set, guarantees }, decide: deciderOf(set), sourceOf, root: read.root };
}

type LoadedPolicies = Pick<Awaited<ReturnType<typeof loadChecked>>, 'read' | 'compiled' | 'diagnostics'>;

function withQuestion({ read, compiled }: LoadedPolicies, { on, claim }: Question) {
  const names = new Set(compiled.set?.guarantees.map(({ name }) => name));
  let name = 'question';
  while (names.has(name)) name += '_';
  const text = `guarantee ${name} on ${on} {\n  ${claim}\n}\n`;
  const { sources } = read;
  const made = checkSources({ ...sources, files: [...sources.files, { path: questionFile, text }] });
  const sourceOf = (path: string): string | null => (path === questionFile ? text : read.sourceOf(path));
  return { compiled: made, diagnostics: made.diagnostics, sourceOf };
}
