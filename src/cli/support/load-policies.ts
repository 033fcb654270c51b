// Reads and compiles the policies at a path, and collects all diagnostics in one sorted list.

import { existsSync } from 'node:fs';
import { type Diagnostic, hasErrors, sortDiagnostics } from '../../language/diagnostic/diagnostic.ts';
import { renderDiagnostics, type SourceOf } from '../../language/diagnostic/render.ts';
import {
  type CheckResult,
  type CompiledProgram,
  type CompileResult,
  checkSources,
  compile,
  compileToProgram,
  type PolicySources,
} from '../../pipeline.ts';
import { readSources } from '../../service/policies/bundles/read-sources.ts';
import type { ReadSources } from '../../service/policies/read-policies.ts';
import { printError, useColor } from '../output/output.ts';

export interface LoadedPolicies<Made extends CheckResult = CompileResult> {
  readonly path: string;
  readonly read: ReadSources;
  readonly compiled: Made;
  /** The diagnostics of reading and compiling together. */
  readonly diagnostics: readonly Diagnostic[];
}

/** Policies that were checked only, without functions that decide. */
export type CheckedPolicies = LoadedPolicies<CheckResult>;

/** Reads and compiles a directory with everything under it, one file, or a bundle. */
export function loadCompiled(path: string): Promise<LoadedPolicies> {
  return load(path, compile);
}

export function loadPacked(path: string): Promise<LoadedPolicies<CompiledProgram>> {
  return load(path, (sources) => compileToProgram(sources));
}

export function loadChecked(path: string): Promise<CheckedPolicies> {
  return load(path, checkSources);
}

async function load<Made extends CheckResult>(
  path: string,
  make: (sources: PolicySources) => Made,
): Promise<LoadedPolicies<Made>> {
  const read = await readSources(path);
  const compiled = make(read.sources);
  return {
    path,
    read,
    compiled,
    diagnostics: sortDiagnostics([...read.diagnostics, ...read.notRead, ...compiled.diagnostics]),
  };
}

/** Policies without an error, with everything compiled from them. */
export interface WorkingPolicies extends LoadedPolicies {
  readonly set: NonNullable<CompileResult['set']>;
  readonly program: NonNullable<CompileResult['program']>;
  readonly engine: NonNullable<CompileResult['engine']>;
}

/** Reads and compiles policies. Null when they have errors, which are printed then. */
export async function loadWorking(path: string): Promise<WorkingPolicies | null> {
  const loaded = await loadCompiled(path);
  const working = workingOf(loaded);
  if (working === null) showErrors(loaded);
  return working;
}

/** Null for policies with errors. */
export function workingOf(loaded: LoadedPolicies): WorkingPolicies | null {
  const { set, program, engine } = loaded.compiled;
  const isWorking = set !== null && program !== null && engine !== null && !hasErrors(loaded.diagnostics);
  return isWorking ? { ...loaded, set, program, engine } : null;
}

/** Prints the errors of policies on standard error. */
export function showErrors({ diagnostics, read }: Pick<LoadedPolicies, 'diagnostics' | 'read'>): void {
  showDiagnostics(
    diagnostics.filter(({ severity }) => severity === 'error'),
    read.sourceOf,
  );
}

/** `policies` if that directory exists, otherwise the current directory. */
export function defaultPath(): string {
  return existsSync('policies') ? 'policies' : '.';
}

/** Prints diagnostics for people on standard error. */
export function showDiagnostics(diagnostics: readonly Diagnostic[], sourceOf: SourceOf): void {
  printError(renderDiagnostics(diagnostics, sourceOf, { color: useColor(process.stderr) }));
}
