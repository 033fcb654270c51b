// `writ dump`: prints the result of one compiler stage for a policy file or directory. It serves people who
// work on the compiler or want to see how the compiler understood a text.

import { type Command, Option } from 'commander';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { position } from '../../language/diagnostic/render.ts';
import type { SourceText } from '../../language/diagnostic/span.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { printProgram } from '../../language/program/print.ts';
import { readSources } from '../../service/policies/bundles/read-sources.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import { loadCompiled, showDiagnostics } from '../support/load-policies.ts';

export function defineDump(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('<path>', 'a policy file or directory')
    .addOption(new Option('--stage <stage>', 'the stage').choices(stages).makeOptionMandatory())
    .option('--action <key>', 'limit the model, program or function to this action')
    .addHelpText(
      'after',
      '\nExamples:\n  writ dump --stage tokens policies/payments/payments.policy\n  writ dump --stage function policies/payments --action payment.create',
    )
    .action(async (path: string, options: Options) => {
      finish(await dump(path, options));
    });
}

const stages = ['tokens', 'tree', 'model', 'program', 'function'] as const;

interface Options {
  readonly stage: (typeof stages)[number];
  readonly action?: string;
}

async function dump(path: string, { stage, action }: Options): Promise<ExitCode> {
  switch (stage) {
    case 'tokens':
      return dumpTokens(path);
    case 'tree':
      return dumpTree(path);
    case 'model':
    case 'program':
    case 'function':
      return dumpCompiled(path, stage, action ?? null);
  }
}

async function dumpTokens(path: string): Promise<ExitCode> {
  const { tokenize } = await import('../../language/syntax/parse/tokens.ts');
  const { sources, diagnostics, sourceOf } = await readSources(path);
  for (const { path: file, text } of sources.files) {
    for (const token of tokenize(text).tokens) {
      const { line, column } = position(text, token.startOffset);
      print(`${file}:${line}:${column}\t${token.tokenType.name}\t${JSON.stringify(token.image)}\n`);
    }
  }
  showDiagnostics(diagnostics, sourceOf);
  return diagnostics.length === 0 ? exitCodes.ok : exitCodes.wrong;
}

/** Prints the syntax trees. The parser makes a tree even of a text with errors. */
async function dumpTree(path: string): Promise<ExitCode> {
  const { parse } = await import('../../language/syntax/parse.ts');
  const read = await readSources(path);
  const parsed = read.sources.files.map((source: SourceText) => parse(source));
  printJson(parsed.map(({ file }) => file));
  const diagnostics = [...read.diagnostics, ...parsed.flatMap((one) => one.diagnostics)];
  showDiagnostics(diagnostics, read.sourceOf);
  return hasErrors(diagnostics) ? exitCodes.wrong : exitCodes.ok;
}

async function dumpCompiled(
  path: string,
  stage: 'model' | 'program' | 'function',
  action: string | null,
): Promise<ExitCode> {
  const { compiled, read, diagnostics } = await loadCompiled(path);
  const { set, program, engine } = compiled;
  if (set === null || program === null || engine === null || hasErrors(diagnostics)) {
    showDiagnostics(diagnostics, read.sourceOf);
    return exitCodes.wrong;
  }
  if (action !== null && !set.actions.has(action))
    throw new UsageError(`no policy declares the action \`${action}\``);
  const keys = action === null ? [...set.actions.keys()] : [action];
  if (stage === 'model') printJson(action === null ? set : narrow(set, action));
  else if (stage === 'program') {
    const actions = new Map([...program.actions].filter(([key]) => keys.includes(key)));
    print(printProgram({ ...program, actions }));
  } else print(keys.map((key) => `// ${key}\n${engine.source(key) ?? ''}\n`).join('\n'));
  return exitCodes.ok;
}

/** The parts of the model for one action. */
function narrow(set: PolicySet, action: string): object {
  return {
    action: set.actions.get(action),
    policies: set.policies.filter((policy) => policy.actions.includes(action)),
    guarantees: set.guarantees.filter((guarantee) => guarantee.actions.includes(action)),
    meters: [...set.meters.values()].filter((meter) => meter.actions.includes(action)),
  };
}
