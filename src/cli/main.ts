// The command line: from arguments to one command, which alone is loaded, and to an exit code.

import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { type ExitCode, exitCodes, printError, UsageError, whenReaderLeaves } from './output.ts';

/** A command's module: how it is described to the parser, and what it does. */
interface CommandModule {
  /** Adds arguments, options, examples and the action; the action hands its exit code to `finish`. */
  readonly define: (command: Command, finish: (code: ExitCode) => void) => void;
}

interface Entry {
  readonly summary: string;
  /** Another name that people try: most commands over many things are plural. */
  readonly alias?: string;
  /** It goes on when nobody reads what it prints. */
  readonly isService?: true;
  readonly load: () => Promise<CommandModule>;
}

/** One line a command, in the order in which people meet them. */
const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: 'make a directory with a first policy and its tests',
    load: () => import('./commands/init.ts'),
  },
  serve: { summary: 'start the service', isService: true, load: () => import('./commands/serve.ts') },
  config: {
    summary: 'show the settings in force and where they come from',
    load: () => import('./commands/config.ts'),
  },
  check: { summary: 'check policies and show what is wrong', load: () => import('./commands/check.ts') },
  prove: {
    summary: 'prove or refute guarantees, or a question of your own',
    load: () => import('./commands/prove.ts'),
  },
  fmt: { summary: 'put policy files into their canonical form', load: () => import('./commands/fmt.ts') },
  test: { summary: 'run the tests of policies', load: () => import('./commands/test.ts') },
  decide: { summary: 'decide one request and show why', load: () => import('./commands/decide.ts') },
  explain: {
    summary: 'explain a decision and what would change it',
    load: () => import('./commands/explain.ts'),
  },
  matrix: { summary: 'show which rules can meet each action', load: () => import('./commands/matrix.ts') },
  bench: {
    summary: 'measure what decisions cost on your own requests',
    load: () => import('./commands/bench.ts'),
  },
  agent: {
    alias: 'agents',
    summary: 'register agents, change their keys and state',
    load: () => import('./commands/agent.ts'),
  },
  requests: {
    summary: 'list and show what agents asked a running service for',
    load: () => import('./commands/requests.ts'),
  },
  approve: { summary: 'approve a request that waits', load: () => import('./commands/approve.ts') },
  reject: { summary: 'reject a request that waits', load: () => import('./commands/reject.ts') },
  people: { summary: 'who has access to a running service', load: () => import('./commands/people.ts') },
  switch: { summary: 'the kill switch of a running service', load: () => import('./commands/switch.ts') },
  audit: {
    summary: 'check, export, sign, delete and replay the records',
    load: () => import('./commands/audit.ts'),
  },
  backup: {
    summary: 'copy the records while the service runs',
    load: () => import('./commands/backup.ts'),
  },
  dump: { summary: 'print what a stage of the compiler made', load: () => import('./commands/dump.ts') },
};

/** Runs one command line, without the program's name. Never rejects. */
export async function main(args: readonly string[]): Promise<ExitCode> {
  let code: ExitCode = exitCodes.ok;
  try {
    const program = await createProgram(args, (result) => {
      code = result;
    });
    await program.parseAsync([...args], { from: 'user' });
    return code;
  } catch (error) {
    return reportError(error);
  }
}

async function createProgram(args: readonly string[], finish: (code: ExitCode) => void): Promise<Command> {
  const program = new Command('writ')
    .description('Policy as code for what autonomous agents may do')
    .version(manifest.version)
    .exitOverride()
    .helpCommand('help [command]', 'show help for a command')
    .addHelpText(
      'after',
      '\nExit codes: 0 well, 1 something is wrong with what was asked about, 2 usage, 70 internal error',
    );
  const wanted = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  whenReaderLeaves(wanted !== undefined && commands[wanted]?.isService === true ? 'go on' : 'end');
  for (const [name, { summary, alias, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(summary).exitOverride();
    if (alias !== undefined) command.alias(alias);
    // Only the command that runs is loaded; of the others the help shows a line.
    if (wanted !== undefined && (name === wanted || alias === wanted)) (await load()).define(command, finish);
  }
  return program;
}

function reportError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError) {
    printError(`error: ${error.message}\n`);
    return exitCodes.usage;
  }
  printError(
    `writ: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return exitCodes.internal;
}
