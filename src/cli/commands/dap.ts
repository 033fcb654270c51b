// `writ dap`: a debugger of decisions for editors, which speaks over standard input and output.

import type { Command } from 'commander';
import { serveDebugger } from '../dap/serve.ts';
import { type ExitCode, exitCodes } from '../output/output.ts';

export function defineDap(command: Command, finish: (code: ExitCode) => void): void {
  command
    .option('--stdio', 'speak over standard input and output, as it does without the option')
    .addHelpText('after', examples)
    .action(async () => {
      await serveDebugger(process.stdin, process.stdout);
      finish(exitCodes.ok);
    });
}

const examples = `
Editors start it: docs/EDITORS.md has the lines for VS Code, Neovim, Helix, Emacs and others. A launch names what to debug:
  { "decide": "request.json", "policies": "policies" }                   a request, as \`writ explain\` takes it
  { "test": "policies/payments/payments.test.yaml", "case": "..." }      a case of a test file, or the one at "line"`;
