// The command line: finds the command that the arguments name, loads only that command, and turns its result
// into an exit code.

import { setFlagsFromString } from 'node:v8';
import { Command, CommanderError } from 'commander';
import manifest from '../../package.json' with { type: 'json' };
import { RevisionError } from '../analysis/diff/git-revision.ts';
import { installCommand } from './install-hint.ts';
import {
  type ExitCode,
  exitCodes,
  print,
  printError,
  UsageError,
  whenReaderLeaves,
} from './output/output.ts';

/** Adds arguments, options, examples and the action of a command; the action hands its exit code to `finish`. */
type DefineCommand = (command: Command, finish: (code: ExitCode) => void) => void;

interface Entry {
  readonly summary: string;
  /** The plural of the command's name, which people also try. */
  readonly alias?: string;
  /**
   * How long the command runs; absent when it ends in a moment. A command that runs until it is stopped goes
   * on when nobody reads its output.
   */
  readonly runs?: 'until it is stopped' | 'through many records';
  readonly load: () => Promise<DefineCommand>;
}

/** All commands, in the order in which people meet them. */
const commands: Readonly<Record<string, Entry>> = {
  init: {
    summary: 'make a directory with a first policy and its tests',
    load: async () => (await import('./commands/init.ts')).defineInit,
  },
  serve: {
    summary: 'start the service',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/serve.ts')).defineServe,
  },
  config: {
    summary: 'show the settings and their sources',
    load: async () => (await import('./commands/config.ts')).defineConfig,
  },
  doctor: {
    summary: 'find faults of an installation and suggest fixes',
    load: async () => (await import('./commands/doctor.ts')).defineDoctor,
  },
  check: {
    summary: 'check policies and show every error and warning',
    load: async () => (await import('./commands/check.ts')).defineCheck,
  },
  prove: {
    summary: 'prove or refute guarantees, or your own question',
    load: async () => (await import('./commands/prove.ts')).defineProve,
  },
  diff: {
    summary: 'show the requests that two policy revisions decide differently',
    load: async () => (await import('./commands/diff.ts')).defineDiff,
  },
  fmt: {
    summary: 'format policy files',
    load: async () => (await import('./commands/fmt.ts')).defineFmt,
  },
  lsp: {
    summary: 'start the language server for editors',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/lsp.ts')).defineLsp,
  },
  dap: {
    summary: 'start the debugger for editors (Debug Adapter Protocol)',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/dap.ts')).defineDap,
  },
  test: {
    summary: 'run the tests of policies',
    load: async () => (await import('./commands/test.ts')).defineTest,
  },
  decide: {
    summary: 'decide one request and show why',
    load: async () => (await import('./commands/decide.ts')).defineDecide,
  },
  explain: {
    summary: 'explain a recorded decision and what would change it',
    load: async () => (await import('./commands/explain.ts')).defineExplain,
  },
  build: {
    summary: 'build a bundle: compiled policies in one file, optionally signed',
    load: async () => (await import('./commands/build.ts')).defineBuild,
  },
  'verify-bundle': {
    summary: 'verify the contents and the signature of a bundle',
    load: async () => (await import('./commands/verify-bundle.ts')).defineVerifyBundle,
  },
  matrix: {
    summary: 'show which rules can apply to each action',
    load: async () => (await import('./commands/matrix.ts')).defineMatrix,
  },
  summary: {
    summary: 'describe policies in plain sentences, each proved',
    load: async () => (await import('./commands/summary.ts')).defineSummary,
  },
  replay: {
    summary: 'try policies on past requests',
    runs: 'through many records',
    load: async () => (await import('./commands/replay.ts')).defineReplayOfLog,
  },
  types: {
    summary: "print TypeScript types for the actions' payloads",
    load: async () => (await import('./commands/types.ts')).defineTypes,
  },
  bench: {
    summary: 'measure the cost of decisions on your own requests',
    runs: 'through many records',
    load: async () => (await import('./commands/bench.ts')).defineBench,
  },
  agent: {
    alias: 'agents',
    summary: 'register agents and manage their keys and state',
    load: async () => (await import('./commands/agent.ts')).defineAgent,
  },
  point: {
    alias: 'points',
    summary: 'register enforcement points of a running service and assign agents',
    load: async () => (await import('./commands/point.ts')).definePoint,
  },
  hook: {
    summary: "decide a coding agent's tool call, as its hook",
    load: async () => (await import('./commands/hook.ts')).defineHook,
  },
  mcp: {
    summary: 'run a proxy for an MCP server, which asks before each call',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/mcp.ts')).defineMcp,
  },
  requests: {
    summary: 'list and show the requests of a running service',
    load: async () => (await import('./commands/requests.ts')).defineRequests,
  },
  approve: {
    summary: 'approve a pending request',
    load: async () => (await import('./commands/approve.ts')).defineApprove,
  },
  reject: {
    summary: 'reject a pending request',
    load: async () => (await import('./commands/reject.ts')).defineReject,
  },
  people: {
    summary: 'manage who has access to a running service',
    load: async () => (await import('./commands/people.ts')).definePeople,
  },
  alerts: {
    summary: 'show alerts of a running service and change alert rules',
    load: async () => (await import('./commands/alerts.ts')).defineAlerts,
  },
  tables: {
    summary: 'show, set and remove rows of pushed tables of a running service',
    load: async () => (await import('./commands/tables.ts')).defineTables,
  },
  'kill-switch': {
    summary: 'stop agents immediately with the kill switch of a running service',
    load: async () => (await import('./commands/kill-switch.ts')).defineKillSwitch,
  },
  keys: {
    summary: 'list and rotate the receipt keys of a running service',
    load: async () => (await import('./commands/keys.ts')).defineKeys,
  },
  audit: {
    summary: 'verify, export, sign, delete and replay the records',
    runs: 'through many records',
    load: async () => (await import('./commands/audit.ts')).defineAudit,
  },
  backup: {
    summary: 'back up the records while the service runs',
    runs: 'through many records',
    load: async () => (await import('./commands/backup.ts')).defineBackup,
  },
  restore: {
    summary: 'put a backup in the place of the records, safely',
    runs: 'through many records',
    load: async () => (await import('./commands/restore.ts')).defineRestore,
  },
  replicas: {
    summary: 'show the replicas of a running service',
    load: async () => (await import('./commands/replicas.ts')).defineReplicas,
  },
  store: {
    summary: 'move the records into a database, or upgrade their schema',
    runs: 'through many records',
    load: async () => (await import('./commands/store.ts')).defineStore,
  },
  completion: {
    summary: 'print a completion script for a shell',
    load: async () => (await import('./commands/completion.ts')).defineCompletion,
  },
  dump: {
    summary: 'print the output of a compiler stage',
    load: async () => (await import('./commands/dump.ts')).defineDump,
  },
};

const completion = 'completion';

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
    .addHelpText('after', '\nExit codes: 0 success, 1 problems found, 2 wrong usage, 70 internal error');
  const wanted = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  const runs = wanted === undefined ? undefined : commands[wanted]?.runs;
  whenReaderLeaves(runs === 'until it is stopped' ? 'go on' : 'end');
  for (const [name, { summary, alias, load }] of Object.entries(commands)) {
    const command = program.command(name).summary(summary).description(summary).exitOverride();
    if (alias !== undefined) command.alias(alias);
    // Only the command that runs is loaded; the help shows one line for each other command. `completion`
    // needs all of them.
    const isWanted = wanted !== undefined && (wanted === completion || name === wanted || alias === wanted);
    if (isWanted) (await load())(command, finish);
  }
  // By now the memory has grown to its full size by loading the command.
  if (runs === undefined) keepYoungObjectsTogether();
  // People try the word `version` before the flag.
  program.command('version', { hidden: true }).action(() => print(`${manifest.version}\n`));
  return program;
}

/**
 * Stops the space for young objects from growing. Using memory for the first time may cost a short command
 * more than looking through the same few megabytes again: on a virtual machine `writ diff` of 1,000 rules
 * takes a sixth less time.
 */
function keepYoungObjectsTogether(): void {
  setFlagsFromString('--semi-space-growth-factor=1');
}

function reportError(error: unknown): ExitCode {
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.ok : exitCodes.usage;
  if (error instanceof UsageError || error instanceof RevisionError) {
    printError(`error: ${error.message}\n`);
    return exitCodes.usage;
  }
  const missing = missingPackage(error);
  if (missing !== null) {
    printError(`error: this command needs the package ${missing}: ${installCommand(missing)}\n`);
    return exitCodes.usage;
  }
  printError(
    `writ: internal error, please report it: ${error instanceof Error ? error.stack : String(error)}\n`,
  );
  return exitCodes.internal;
}

/**
 * The package that an error names as not installed; null for other errors. People who only check policies
 * have not installed what a service needs.
 */
function missingPackage(error: unknown): string | null {
  if (!(error instanceof Error) || !('code' in error) || error.code !== 'ERR_MODULE_NOT_FOUND') return null;
  return /^Cannot find package '([^']+)'/.exec(error.message)?.[1] ?? null;
}
