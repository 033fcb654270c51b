// `writ doctor`: examines an installation of the service, and names each fault with what to do about it.

import type { Command } from 'commander';
import { loadConfig } from '../../service/settings/settings.ts';
import { examineInstallation, type NamedFinding } from '../doctor/examine.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson } from '../output/output.ts';
import { settingsGiven, withSettings } from '../support/setting-flags.ts';

export function defineDoctor(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--config <file>', 'configuration file (default: writ.yaml where there is one)')
    .option('--json', 'print what was found as JSON');
  withSettings(command)
    .addHelpText('after', examples)
    .action(async (options: Options) => {
      finish(await doctor(options));
    });
}

const examples = `
Examples:
  writ doctor
  writ doctor --config /etc/writ.yaml --json
  writ doctor --policies /etc/writ/policies --data /var/lib/writ

Run it as the user of the service, with the options and the environment of \`writ serve\`. It changes nothing, and the
service may run meanwhile. The exit code is 1 when something is wrong, and 0 when there are warnings alone.`;

interface Options {
  readonly config?: string;
  readonly json?: boolean;
}

type Shown =
  | NamedFinding
  | { readonly part: 'settings'; readonly state: 'wrong'; readonly what: string; readonly fix: string };

async function doctor({ config: file, json, ...given }: Options): Promise<ExitCode> {
  const loaded = loadConfig({
    directory: process.cwd(),
    file,
    environment: process.env,
    flags: settingsGiven(given),
  });
  const findings: readonly Shown[] = loaded.ok
    ? await examineInstallation(loaded.config)
    : loaded.problems.map((what) => ({
        part: 'settings',
        state: 'wrong',
        what,
        fix: '`writ serve --help` shows every setting and what it takes',
      }));
  const isWrong = findings.some(({ state }) => state === 'wrong');
  if (json === true) printJson({ ok: !isWrong, findings });
  else for (const finding of findings) print(textOf(finding));
  return isWrong ? exitCodes.wrong : exitCodes.ok;
}

const [stateWidth, partWidth] = ['warning'.length, 'packages'.length];

function textOf(finding: Shown): string {
  const { state, part, what } = finding;
  const { good, bad, faint } = createMarks();
  const paint = state === 'ok' ? good : state === 'unused' ? faint : bad;
  const line = `${paint(state.padEnd(stateWidth))}  ${part.padEnd(partWidth)}  ${what}\n`;
  return 'fix' in finding ? `${line}${' '.repeat(stateWidth + partWidth + 4)}fix: ${finding.fix}\n` : line;
}
