// THE PAGE: from the text of a policy set to the function that decides. Every stage takes the value of the one
// before it and knows nothing of the others; read the folders in this order:
//
//   text --grammar--> tokens, concrete tree --syntax--> tree --check--> model --program--> program --emit--> function
//
// Two more readings start from the model: `spec`, which defines what it means, and `prove`, which reasons about it.

import { check, listFilesOf } from './check/check.ts';
import type { ListFile } from './check/list-files.ts';
import { type CheckMemory, createCheckMemory } from './check/memory.ts';
import { applySilences } from './check/silences.ts';
import { type Diagnostic, hasErrors } from './diagnostic/diagnostic.ts';
import type { SourceText } from './diagnostic/span.ts';
import { createFunctionCache, type FunctionCache, type Linked, link } from './emit/link.ts';
import type { PolicySet } from './model/policy.ts';
import { createPlanMemory, type PlanMemory, planPacked } from './program/incremental.ts';
import type { Program } from './program/program.ts';
import { unpack } from './program/unpack.ts';
import { type ParsedFile, parse } from './syntax/parse.ts';
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

/**
 * What one compilation leaves for the next, so that only what has changed goes through the stages again. A memory
 * serves one policy directory and one compilation at a time.
 */
export interface CompileMemory {
  /** By path, the text of a file and what became of it. */
  readonly parsed: Map<string, ParsedText>;
  readonly checked: CheckMemory;
  readonly planned: PlanMemory;
  readonly functions: FunctionCache;
}

interface ParsedText {
  readonly text: string;
  readonly parsed: ParsedFile;
}

export function createCompileMemory(): CompileMemory {
  return {
    parsed: new Map(),
    checked: createCheckMemory(),
    planned: createPlanMemory(),
    functions: createFunctionCache(),
  };
}

/** Never throws for what a policy says. What comes out does not depend on the memory, how fast it comes does. */
export function compile(sources: PolicySources, memory: CompileMemory = createCompileMemory()): Compiled {
  const checked = checkSources(sources, memory);
  const packed = checked.set === null ? null : planPacked(checked.set, memory.planned);
  const program = packed === null ? null : unpack(packed);
  const engine = packed === null ? null : link(packed, memory.functions);
  return { ...checked, program, engine };
}

/** What the texts mean and what is wrong with them, without a program. */
export function checkSources(
  sources: PolicySources,
  memory: CompileMemory = createCompileMemory(),
): Omit<Compiled, 'program' | 'engine'> {
  const parsed = parseFiles(sources.files, memory);
  const files = parsed.map(({ file }) => file);
  const checked = check(files, sources.readListFile, memory.checked);
  const syntax = parsed.flatMap((one) => one.diagnostics);
  // What the parser had to skip makes the rest look unused, unconditional and the like: that is worth saying later.
  const meaning = hasErrors(syntax)
    ? checked.diagnostics.filter((one) => hasErrors([one]))
    : checked.diagnostics;
  const { diagnostics } = applySilences(files, sources.files, [...syntax, ...meaning]);
  const set = hasErrors(diagnostics) ? null : checked.set;
  return { files, diagnostics, set, listFiles: listFilesOf(files) };
}

/** A file whose text is as it was keeps its tree. */
function parseFiles(files: readonly SourceText[], { parsed }: CompileMemory): readonly ParsedFile[] {
  const known = new Map(parsed);
  parsed.clear();
  return files.map((source) => {
    const before = known.get(source.path);
    const one = before?.text === source.text ? before.parsed : parse(source);
    parsed.set(source.path, { text: source.text, parsed: one });
    return one;
  });
}
