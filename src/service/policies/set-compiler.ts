// Compiles what was read of a policy directory into all that serving needs of the set, or into what is wrong
// with it.

import { type Diagnostic, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import { diagnosticToJson, renderDiagnostics } from '../../language/diagnostic/render.ts';
import { countRules, type PolicySet } from '../../language/model/policy.ts';
import { compileToProgram, createCompileCache, findErrors } from '../../pipeline.ts';
import type { CompiledSet, CompileFailure } from './compiler-messages.ts';
import { digest } from './digest.ts';
import type { ReadSources } from './read-policies.ts';
import { summaryJson } from './set-summary.ts';
import { packTexts } from './texts.ts';

export interface CompiledContent {
  /** The list files that the set names, whether they exist or not. */
  readonly listFiles: readonly string[];
  readonly result:
    | { readonly kind: 'compiled'; readonly set: Omit<CompiledSet, 'content' | 'commit'> }
    | { readonly kind: 'failed'; readonly failure: CompileFailure };
}

/**
 * Keeps what speeds up compiling the next state of the same directory. Throws only for faults of Writ itself.
 */
export type SetCompiler = (read: ReadSources) => CompiledContent;

export function createSetCompiler(): SetCompiler {
  const cache = createCompileCache();
  return (read) => {
    // Warnings do not stop a set from taking over, and nobody would read them, so only errors are looked for.
    const { diagnostics: meant, set, packed, listFiles } = compileToProgram(read.sources, cache, findErrors);
    const diagnostics = sortDiagnostics([...read.diagnostics, ...meant]);
    if (read.diagnostics.length > 0 || set === null || packed === null)
      return { listFiles, result: { kind: 'failed', failure: failureOf(diagnostics, read, listFiles) } };
    const sent = { program: packed, ...servingFacts(set), texts: packTexts(read, listFiles) };
    return { listFiles, result: { kind: 'compiled', set: sent } };
  };
}

/** The facts that serving needs beside the program. */
export function servingFacts(
  set: PolicySet,
): Pick<CompiledSet, 'digest' | 'actions' | 'rules' | 'titles' | 'about'> {
  return {
    digest: digest(set),
    actions: set.actions.size,
    rules: countRules(set.policies),
    titles: titlesOf(set.actions),
    about: new TextEncoder().encode(summaryJson(set)),
  };
}

function titlesOf(actions: PolicySet['actions']): CompiledSet['titles'] {
  return new Map([...actions].flatMap(([key, { title }]) => (title === null ? [] : [[key, title] as const])));
}

/**
 * Diagnostics that are sent at most: an author fixes no more at once, and the serving thread has other work.
 */
const diagnosticsMax = 100;

function failureOf(
  diagnostics: readonly Diagnostic[],
  read: ReadSources,
  listFiles: readonly string[],
): CompileFailure {
  const { sourceOf } = read;
  // Errors come first, because a warning does not stop a set from taking over.
  const first = diagnostics.toSorted((a, b) => rank(a) - rank(b)).slice(0, diagnosticsMax);
  const more = diagnostics.length - first.length;
  const rendered = renderDiagnostics(sortDiagnostics(first), sourceOf, { color: false });
  return {
    cause: 'policies',
    summary: 'the policies have errors',
    text: more === 0 ? rendered : `${rendered}and ${more} more\n`,
    diagnostics: sortDiagnostics(first).map((diagnostic) => diagnosticToJson(diagnostic, sourceOf)),
    codes: [...new Set(diagnostics.map(({ code }) => code))],
    texts: packTexts(read, listFiles),
  };
}

function rank({ severity }: Diagnostic): number {
  return severity === 'error' ? 0 : 1;
}
