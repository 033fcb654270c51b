// Reads and compiles the policies at a path, and collects all diagnostics in one sorted list.

import { existsSync, statSync } from 'node:fs';
import { type Diagnostic, sortDiagnostics } from '../../../language/diagnostic/diagnostic.ts';
import { renderDiagnostics, type SourceOf } from '../../../language/diagnostic/render.ts';
import { type Compiled, compile } from '../../../pipeline.ts';
import { type ReadSources, readPaths, readPolicies } from '../../../service/policies/read.ts';
import { printError, useColor } from '../output/output.ts';

export interface LoadedPolicies {
  readonly path: string;
  readonly read: ReadSources;
  readonly compiled: Compiled;
  /** The diagnostics of reading and compiling together. */
  readonly diagnostics: readonly Diagnostic[];
}

/** A directory with all that is under it, or one file. */
export async function loadPolicies(path: string): Promise<LoadedPolicies> {
  const read = await readSources(path);
  const compiled = compile(read.sources);
  return {
    path,
    read,
    compiled,
    diagnostics: sortDiagnostics([...read.diagnostics, ...compiled.diagnostics]),
  };
}

export function readSources(path: string): Promise<ReadSources> {
  const isFile = statSync(path, { throwIfNoEntry: false })?.isFile() === true;
  return isFile ? readPaths([path]) : readPolicies(path);
}

/** `policies` if that directory exists, otherwise the current directory. */
export function defaultPath(): string {
  return existsSync('policies') ? 'policies' : '.';
}

/** Prints diagnostics for people on standard error. */
export function showDiagnostics(diagnostics: readonly Diagnostic[], sourceOf: SourceOf): void {
  printError(renderDiagnostics(diagnostics, sourceOf, { color: useColor(process.stderr) }));
}
