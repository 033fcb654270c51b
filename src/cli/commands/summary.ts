// `writ summary`: describes a policy set in plain sentences, for people who read no policies. Each sentence
// is proved of the set, or marked as not confirmed.

import { type Command, Option } from 'commander';
import { summaryOf } from '../../reasoning/summary/summary.ts';
import { digest } from '../../service/policies/digest.ts';
import { type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';
import { isConfirmed, summaryToJson, summaryToMarkdown, summaryToText } from '../support/summary-text.ts';

const formats = ['text', 'json', 'markdown'] as const;

export function defineSummary(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[path]',
      'a policy directory, one file or a bundle (default: ./policies, else the current directory)',
    )
    .addOption(new Option('--format <format>', 'output format').choices(formats).default('text'))
    .addOption(new Option('--json', 'short for --format json').conflicts('format'))
    .option('--strict', 'fail if a sentence is not confirmed')
    .addHelpText(
      'after',
      '\nExamples:\n  writ summary\n  writ summary policies/payments --format markdown\n  writ summary --strict',
    )
    .action(async (path: string | undefined, options: Options) => {
      finish(await summarise(path ?? defaultPath(), options));
    });
}

interface Options {
  readonly json?: boolean;
  readonly strict?: boolean;
  readonly format: (typeof formats)[number];
}

async function summarise(path: string, { json, format, strict }: Options): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const { set, compiled, read } = working;
  const summary = summaryOf({ set, files: compiled.files, sourceOf: read.sourceOf });
  if (json === true || format === 'json')
    printJson({ digest: digest(set), ...summaryToJson(summary, read.sourceOf) });
  else print(format === 'markdown' ? summaryToMarkdown(summary, read) : summaryToText(summary, read));
  return strict === true && !isConfirmed(summary) ? exitCodes.wrong : exitCodes.ok;
}
