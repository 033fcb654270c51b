// THE PAGE: from the text of a policy set to the function that decides. Every stage takes the value of the one
// before it and knows nothing of the others; read the folders in this order:
//
//   text --grammar--> tokens, concrete tree --syntax--> tree --check--> model --program--> program --emit--> function
//
// Two more readings start from the model: `spec`, which defines what it means, and `prove`, which reasons about it.

import { check, listFilesOf } from './check/check.ts';
import type { ListFile } from './check/list-files.ts';
import { applySilences } from './check/silences.ts';
import { type Diagnostic, hasErrors } from './diagnostic/diagnostic.ts';
import type { SourceText } from './diagnostic/span.ts';
import { createFunctionCache, type FunctionCache, type Linked, link } from './emit/link.ts';
import type { PolicySet } from './model/policy.ts';
import { plan } from './program/plan.ts';
import type { Program } from './program/program.ts';
import { parse } from './syntax/parse.ts';
import type { PolicyFile } from './syntax/tree.ts';

/** A policy set as text: its files, and the list files that they may name. */
export interface PolicySources {
  readonly files: readonly SourceText[];
  /** By path relative to the policy directory. */
  readonly readListFile: (path: string) => ListFile;
}

/** What became of each stage; `set`, `program` and `engine` are null exactly when a diagnostic is an error. */
export interface Compiled {
  readonly files: readonly PolicyFile[];
  /** Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
  readonly set: PolicySet | null;
  readonly program: Program | null;
  readonly engine: Linked | null;
  /** Paths of the list files that the set names, whether they are there or not. */
  readonly listFiles: readonly string[];
}

/** Never throws for what a policy says. A cache passed from one call to the next keeps the functions of unchanged actions. */
export function compile(sources: PolicySources, cache: FunctionCache = createFunctionCache()): Compiled {
  const parsed = sources.files.map(parse);
  const files = parsed.map(({ file }) => file);
  const checked = check(files, sources.readListFile);
  const syntax = parsed.flatMap((one) => one.diagnostics);
  // What the parser had to skip makes the rest look unused, unconditional and the like: that is worth saying later.
  const meaning = hasErrors(syntax)
    ? checked.diagnostics.filter((one) => hasErrors([one]))
    : checked.diagnostics;
  const { diagnostics } = applySilences(files, sources.files, [...syntax, ...meaning]);
  const set = hasErrors(diagnostics) ? null : checked.set;
  const program = set === null ? null : plan(set);
  const engine = program === null ? null : link(program, cache);
  return { files, diagnostics, set, program, engine, listFiles: listFilesOf(files) };
}

export { canonicalText as digestText } from './model/canonical.ts';
