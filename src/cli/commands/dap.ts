// `writ dap`: a debugger of decisions for editors, which speaks over standard input and output.

import type { Command } from 'commander';
import { serveDebugger } from '../dap/serve.ts';
import { type ExitCode, exitCodes } from '../output/output.ts';

export function defineDap(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--stdio', 'use standard input and output (the default)')
    .addHelpText('after', examples)
    .action(async () => {
      await serveDebugger(process.stdin, process.stdout);
      finish(exitCodes.ok);
    });
}

const examples = `
Editors start it: docs/EDITORS.md has the configuration for VS Code, Neovim, Helix, Emacs and others. A launch names a
request, as for \`writ explain\`, or a case of a test file, by its name or as the one at "line":
  { "decide": "request.json", "policies": "policies" }
  { "test": "policies/payments/payments.test.yaml", "case": "..." }`;
