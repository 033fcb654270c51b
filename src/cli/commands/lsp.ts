// `writ lsp`: runs the language server for editors, over standard input and output.

import type { Command } from 'commander';
import manifest from '../../../package.json' with { type: 'json' };
import { serveStreams } from '../../lsp/server.ts';
import { type ExitCode, exitCodes } from '../output/output.ts';

export function defineLsp(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--stdio', 'use standard input and output (the default)')
    .addHelpText('after', examples)
    .action(async () => {
      await serveStreams(process.stdin, process.stdout, manifest.version);
      finish(exitCodes.ok);
    });
}

const examples = `
Editors start it: docs/EDITORS.md has the configuration for VS Code, Neovim, Helix, Zed, Emacs and JetBrains. It reads the
policies in the folder \`policies\` of the workspace, or in the workspace itself.`;
