// `writ types`: prints TypeScript types for the payloads of the declared actions, for users of the client.

import type { Command } from 'commander';
import { type ExitCode, exitCodes, print } from '../output/output.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';
import { typesText } from '../support/types-text.ts';

export function defineTypes(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .addHelpText('after', '\nExamples:\n  writ types > src/actions.ts\n  writ types policies/payments | less')
    .action(async (path: string | undefined) => {
      finish(await types(path ?? defaultPath()));
    });
}

async function types(path: string): Promise<ExitCode> {
  const working = await loadWorking(path);
  if (working === null) return exitCodes.wrong;
  const actions = [...working.set.actions.values()];
  print(typesText(actions.toSorted((a, b) => (a.key < b.key ? -1 : 1))));
  return exitCodes.ok;
}
