// `writ lsp`: runs the language server for editors, over standard input and output.

import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { serveStreams } from '../../lsp/server.ts';
import { type ExitCode, exitCodes } from '../output/output.ts';

export function defineLsp(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--stdio', 'speak over standard input and output, as it does without the option')
    .addHelpText('after', examples)
    .action(async () => {
      await serveStreams(process.stdin, process.stdout, manifest.version);
      finish(exitCodes.ok);
    });
}

const examples = `
Editors start it: docs/EDITORS.md has the lines for VS Code, Neovim, Helix, Zed, Emacs and JetBrains. The policies are those of the
folder \`policies\` of the workspace, or of the workspace itself.`;
