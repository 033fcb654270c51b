// `writ author`: an MCP server for whoever writes policies, over standard input and output. It answers until its
// client closes the input, and writes no file.

import { Argument, type Command, Option } from 'commander';
import { readLines } from '../../../integrations/mcp/protocol/lines.ts';
import { writeMessage } from '../../../integrations/mcp/protocol/messages.ts';
import { type ClientName, clientNames } from '../author/clients.ts';
import { type InstallOptions, installAuthor } from '../author/install.ts';
import { createAuthorServer } from '../author/server.ts';
import { openWorkspace } from '../author/tool/workspace.ts';
import { startToolThread } from '../author/tool-thread.ts';
import { type ExitCode, exitCodes, print, UsageError } from '../output/output.ts';
import { addExamples } from '../support/help-layout.ts';

type Finish = (code: ExitCode) => void;

export function defineAuthor(command: Command, finish: Finish): void {
  command
    .command('run', { isDefault: true })
    .description('run the server (the default)')
    .argument('[directory]', 'the directory in which policies are written', '.')
    .addOption(
      new Option('--timeout <seconds>', 'how long one call may take').argParser(readSeconds).default(60),
    )
    .addHelpText('after', examples)
    .action(async (directory: string, { timeout }: RunOptions) => {
      finish(await run(directory, timeout));
    });
  command
    .command('install')
    .description("add the server to a client's configuration in this folder")
    .addArgument(new Argument('<client>', 'the coding agent').choices(clientNames))
    .option('--workspace <directory>', 'the directory of the server', '.')
    .option('--skill', 'also write the skill that teaches how a policy is written')
    .option('--dry-run', 'print the configuration, write nothing')
    .addOption(new Option('--print').implies({ dryRun: true }).hideHelp())
    .action(async (client: ClientName, options: InstallOptions) => {
      finish(await installAuthor(client, options));
    });
  addExamples(command, examples);
}

const examples = `
Examples:
  writ author install claude-code
  writ author install vscode --workspace policies --dry-run
  writ author policies`;

interface RunOptions {
  readonly timeout: number;
}

function readSeconds(text: string): number {
  if (!/^[1-9]\d{0,4}$/.test(text)) throw new UsageError(`--timeout takes seconds, not \`${text}\``);
  return Number(text);
}

const progressMs = 1_000;

async function run(directory: string, timeoutSeconds: number): Promise<ExitCode> {
  process.chdir(openWorkspace(directory));
  const tools = startToolThread({ timeoutMs: timeoutSeconds * 1_000 });
  const server = createAuthorServer({
    tools,
    progressMs,
    send: (message) => print(`${writeMessage(message)}\n`),
  });
  const answers = new Set<Promise<void>>();
  await new Promise<void>((resolve) => {
    readLines(process.stdin, {
      onLine: (line) => {
        const answer = server.receive(line).finally(() => answers.delete(answer));
        answers.add(answer);
      },
      onEnd: resolve,
    });
  });
  // Whoever writes requests into a pipe and closes it still wants the answers.
  await Promise.all(answers);
  await tools.close();
  return exitCodes.ok;
}
