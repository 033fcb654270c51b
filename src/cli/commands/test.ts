// `writ test`: runs the test files beside the policies, on the compiled function and on the definition.

import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { reportJunit } from '../../testing/junit.ts';
import { countRun, reportCoverage, reportRun, runToJson } from '../../testing/report.ts';
import { runTestFiles, type TestRun } from '../../testing/run.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output.ts';
import { defaultPath } from '../policies.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument(
      '[path...]',
      'test files, or directories with *.test.yaml (default: ./policies, else the current one)',
    )
    .option('-t, --filter <text>', 'run only the cases whose name contains the text')
    .option('--coverage', 'show how often each rule came out true, false and unknown')
    .option('--coverage-min <percent>', 'fail when less than this is covered', readPercent)
    .option('--junit <file>', 'also write JUnit XML; - is standard output, in place of the report')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      '\nExamples:\n  writ test\n  writ test policies/payments -t boundaries\n  writ test --coverage --coverage-min 90 --junit report.xml',
    )
    .action(async (paths: string[], options: Options) => {
      finish(await test(paths.length === 0 ? [defaultPath()] : paths, options));
    });
}

interface Options {
  readonly filter?: string;
  readonly coverage?: boolean;
  readonly coverageMin?: number;
  readonly junit?: string;
  readonly json?: boolean;
}

async function test(paths: readonly string[], options: Options): Promise<ExitCode> {
  const { filter, coverageMin = 0 } = options;
  if (options.json === true && options.junit === '-')
    throw new UsageError('--json and --junit - both want standard output');
  const run = await runTestFiles(paths, filter === undefined ? {} : { filter });
  await report(run, options);
  const { passed, failed, broken } = countRun(run);
  if (passed + failed + broken === 0) {
    printError(
      filter === undefined
        ? `no *.test.yaml under ${paths.join(', ')}\n`
        : `no case is called like \`${filter}\`\n`,
    );
    return exitCodes.wrong;
  }
  const isCovered = run.coverage.percent >= coverageMin;
  if (!isCovered) printError(`coverage is ${run.coverage.percent} %, less than ${coverageMin} %\n`);
  return failed + broken === 0 && isCovered ? exitCodes.ok : exitCodes.wrong;
}

async function report(run: TestRun, { json, junit, coverage }: Options): Promise<void> {
  const marks = createMarks();
  if (junit === '-') print(reportJunit(run));
  else if (junit !== undefined) await writeReport(junit, reportJunit(run));
  if (json === true) printJson(runToJson(run));
  else if (junit !== '-') {
    print(reportRun(run, marks));
    if (coverage === true) print(reportCoverage(run.coverage, marks));
  }
}

async function writeReport(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text);
  } catch (error) {
    throw new UsageError(`cannot write ${path}: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function readPercent(text: string): number {
  const percent = Number(text);
  if (!/^\d+(\.\d+)?$/.test(text) || percent > 100)
    throw new UsageError('--coverage-min takes a number from 0 to 100');
  return percent;
}
