// Turns the texts of a set, with files laid over them, into policies that decide. Each compilation reuses
// results of the one before, so that a file being typed costs little more than itself. INVARIANT: nothing is
// read from disk; a list file that is not among the texts is missing.

import type { ListFile } from '../language/check/messages/list-files.ts';
import type { Diagnostic } from '../language/diagnostic/diagnostic.ts';
import type { SourceOf } from '../language/diagnostic/render.ts';
import type { SourceText } from '../language/diagnostic/span.ts';
import type { LinkedFunctions } from '../language/emit/link.ts';
import { countRules, type PolicySet } from '../language/model/policy.ts';
import type { PolicyFile } from '../language/syntax/tree/tree.ts';
import { type CompileResult, compile, createCompileCache, type PolicySources } from '../pipeline.ts';
import { withLints } from '../reasoning/lints/lint.ts';
import { entriesOf, type SetTexts, textOfFile } from '../service/policies/texts.ts';

const lintedRulesMax = 300;

export interface EditedPolicies {
  readonly trees: readonly PolicyFile[];
  /** Paths of the list files that the set names, and of `owners.yaml`. */
  readonly listFiles: readonly string[];
  /** Errors and warnings, sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  /** Null exactly when a diagnostic is an error. */
  readonly policies: { readonly set: PolicySet; readonly engine: LinkedFunctions } | null;
  /** Returns the text of a policy file by its path. */
  readonly sourceOf: SourceOf;
}

export interface Workspace {
  /** Sets the texts of the active policies. */
  take(texts: SetTexts): void;
  /** Returns the active policies with these files in place of theirs. */
  compileWith(files: readonly LaidFile[]): EditedPolicies;
  /** The texts of the active policies, with these files in place of theirs. */
  sources(files?: readonly LaidFile[]): PolicySources;
}

/** A file that is laid over the active policies; without a text, theirs is left out. */
interface LaidFile {
  readonly path: string;
  readonly text: string | null;
}

export function createWorkspace(): Workspace {
  const cache = createCompileCache();
  let policies = new Map<string, SourceText>();
  let lists = new Map<string, ListFile>();
  /** The files that were laid last, with the result. */
  let last: { readonly files: readonly LaidFile[]; readonly laid: EditedPolicies } | null = null;

  function laidTexts(files: readonly LaidFile[]) {
    const texts = new Map(policies);
    const listTexts = new Map(lists);
    for (const { path, text } of files) {
      if (text === null) (isPolicyFile(path) ? texts : listTexts).delete(path);
      else if (isPolicyFile(path)) texts.set(path, { path, text });
      else listTexts.set(path, { text });
    }
    return { texts, sources: sourcesOf(texts, listTexts) };
  }

  function compileLaid(files: readonly LaidFile[]): EditedPolicies {
    const { texts, sources } = laidTexts(files);
    const compiled = compile(sources, cache);
    const { set, engine, files: trees, listFiles } = compiled;
    return {
      trees,
      listFiles,
      diagnostics: diagnosticsOf(compiled, sources),
      policies: set === null || engine === null ? null : { set, engine },
      sourceOf: (path) => texts.get(path)?.text ?? null,
    };
  }

  return {
    sources: (files = []) => laidTexts(files).sources,
    take(given) {
      const entries = entriesOf(given);
      const textsOf = (kind: 'policy' | 'list') => entries.filter((entry) => entry.kind === kind);
      policies = new Map(
        textsOf('policy').map((entry) => {
          const text = textOfFile(given, entry);
          const cached = policies.get(entry.path);
          return [entry.path, cached?.text === text ? cached : { path: entry.path, text }];
        }),
      );
      lists = new Map(textsOf('list').map((entry) => [entry.path, { text: textOfFile(given, entry) }]));
      last = null;
    },
    compileWith(files) {
      if (last !== null && areSame(last.files, files)) return last.laid;
      // If compiling throws, only a cached result is lost.
      last = null;
      last = { files, laid: compileLaid(files) };
      return last.laid;
    },
  };
}

function sourcesOf(
  texts: ReadonlyMap<string, SourceText>,
  lists: ReadonlyMap<string, ListFile>,
): PolicySources {
  return {
    files: [...texts.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1)),
    readListFile: (path) => lists.get(path) ?? missing(path),
  };
}

/**
 * Adds warnings about parts that are proved to be needless, when the set is small enough to prove that while
 * somebody types.
 */
function diagnosticsOf({ set, files, diagnostics, silenced }: CompileResult, sources: PolicySources) {
  if (set === null || countRules(set.policies) > lintedRulesMax) return diagnostics;
  return withLints({ set, files, diagnostics, silenced, texts: sources.files }).diagnostics;
}

function isPolicyFile(path: string): boolean {
  return path.endsWith('.policy');
}

function areSame(a: readonly LaidFile[], b: readonly LaidFile[]): boolean {
  return (
    a.length === b.length && a.every(({ path, text }, at) => b[at]?.path === path && b[at]?.text === text)
  );
}

function missing(path: string): ListFile {
  return { code: 'list-file-missing', message: `\`${path}\` does not exist` };
}
