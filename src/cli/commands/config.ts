// `writ config`: prints every setting that `writ serve` would use in the current directory, and where its
// value comes from. Secrets are masked.

import type { Command } from 'commander';
import { loadConfig } from '../../service/settings/load.ts';
import { createMarks, type ExitCode, exitCodes, print, printError, printJson } from '../output/output.ts';

interface Options {
  readonly config?: string;
  readonly json?: boolean;
}

export function defineConfig(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--config <file>', 'configuration file (default: writ.yaml, if present)')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', examples)
    .action((options: Options) => finish(show(options)));
}

const examples = `
Examples:
  writ config
  WRIT_PORT=9000 writ config --json
  writ config --config /etc/writ.yaml

If settings are invalid, their errors are printed instead, and the exit code is 2.`;

function show({ config, json }: Options): ExitCode {
  const loaded = loadConfig({
    directory: process.cwd(),
    file: config,
    environment: process.env,
    flags: {},
  });
  if (!loaded.ok) {
    for (const problem of loaded.problems) printError(`writ: ${problem}\n`);
    return exitCodes.usage;
  }
  for (const line of loaded.config.ignoredVariables) printError(`writ: ignored: ${line}\n`);
  if (json === true) {
    printJson({
      settings: loaded.settings.map(({ name, shown, origin }) => ({ name, value: shown, origin })),
    });
    return exitCodes.ok;
  }
  const { faint } = createMarks();
  const nameWidth = Math.max(...loaded.settings.map(({ name }) => name.length));
  const valueWidth = Math.max(...loaded.settings.map(({ shown }) => shown.length));
  for (const { name, shown, origin } of loaded.settings) {
    print(`${name.padEnd(nameWidth)}  ${shown.padEnd(valueWidth)}  ${faint(origin)}\n`);
  }
  return exitCodes.ok;
}
