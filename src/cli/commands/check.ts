// `writ check`: reads and compiles a policy set and shows every diagnostic.

import type { Command } from 'commander';
import { type Diagnostic, hasErrors } from '../../diagnostic/diagnostic.ts';
import { diagnosticToJson, renderDiagnostics } from '../../diagnostic/render.ts';
import { trialRequestsDefault, tryGuarantees } from '../../prove/try.ts';
import { digest } from '../../sources/digest.ts';
import { renderTrials, trialToJson } from '../guarantees.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson, UsageError, useColor } from '../output.ts';
import { defaultPath, type LoadedPolicies, loadPolicies } from '../policies.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .option('--strict', 'take warnings as errors')
    .option('--requests <n>', 'requests on which each guarantee is tried', readCount, trialRequestsDefault)
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ check\n  writ check policies/payments --strict\n  writ check --json | jq .diagnostics',
    )
    .action(async (path: string | undefined, options: Options) => {
      finish(await check(path ?? defaultPath(), options));
    });
}

interface Options {
  readonly strict?: boolean;
  readonly json?: boolean;
  readonly requests: number;
}

async function check(path: string, { strict = false, json = false, requests }: Options): Promise<ExitCode> {
  const loaded = await loadPolicies(path);
  const diagnostics = strict ? loaded.diagnostics.map(asError) : loaded.diagnostics;
  const { set, engine } = loaded.compiled;
  const trials =
    set === null || engine === null ? [] : tryGuarantees(set, { decide: engine.decide, requests });
  const isGood = !hasErrors(diagnostics) && trials.every(({ counterexample }) => counterexample === null);
  if (json) printJson({ ...toJson(loaded, diagnostics), ok: isGood, guarantees: trials.map(trialToJson) });
  else {
    print(renderDiagnostics(diagnostics, loaded.read.sourceOf, { color: useColor() }));
    if (set !== null) print(describe(loaded));
    print(renderTrials(trials, loaded.read.sourceOf));
  }
  return isGood ? exitCodes.ok : exitCodes.wrong;
}

function readCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text))
    throw new UsageError(`--requests takes a whole number from 1, not \`${text}\``);
  return Number(text);
}

function asError(diagnostic: Diagnostic): Diagnostic {
  return { ...diagnostic, severity: 'error' };
}

function toJson({ read, compiled: { set } }: LoadedPolicies, diagnostics: readonly Diagnostic[]): object {
  return {
    ok: !hasErrors(diagnostics),
    digest: set === null ? null : digest(set),
    ...(set === null ? {} : counts(set)),
    files: read.sources.files.map(({ path }) => path),
    diagnostics: diagnostics.map((diagnostic) => diagnosticToJson(diagnostic, read.sourceOf)),
  };
}

type Set = NonNullable<LoadedPolicies['compiled']['set']>;

function counts(set: Set): { actions: number; policies: number; rules: number } {
  const rules = set.policies.reduce((sum, policy) => sum + policy.rules.length, 0);
  return { actions: set.actions.size, policies: set.policies.length, rules };
}

function describe({ path, compiled: { set } }: LoadedPolicies): string {
  const { actions, policies, rules } = counts(set!);
  const marks = createMarks();
  const what = [
    many(actions, 'action', 'actions'),
    many(policies, 'policy', 'policies'),
    many(rules, 'rule', 'rules'),
  ];
  return `${marks.good('✓')} ${path}: ${what.join(', ')} ${marks.faint(`digest ${digest(set!).slice(0, 12)}`)}\n`;
}

function many(count: number, one: string, more: string): string {
  return `${count} ${count === 1 ? one : more}`;
}
