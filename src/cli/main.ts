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
import { layOutHelp } from './support/help-layout.ts';

/** Adds arguments, options, examples and the action of a command; the action hands its exit code to `finish`. */
type DefineCommand = (command: Command, finish: (code: ExitCode) => void) => void;

/** The headings of the help, in its order. */
const groups = {
  policies: 'Write and check policies:',
  service: 'Run a service:',
  agents: 'Connect agents:',
  people: 'Work with a running service:',
  tools: 'Editors and shells:',
} as const;

interface Entry {
  readonly group: (typeof groups)[keyof typeof groups];
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

/** All commands, in the order in which people meet those of a group. */
const commands: Readonly<Record<string, Entry>> = {
  init: {
    group: groups.policies,
    summary: 'make a directory with a first policy and its tests',
    load: async () => (await import('./commands/init.ts')).defineInit,
  },
  serve: {
    group: groups.service,
    summary: 'start the service',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/serve.ts')).defineServe,
  },
  config: {
    group: groups.service,
    summary: 'show the settings and their sources',
    load: async () => (await import('./commands/config.ts')).defineConfig,
  },
  doctor: {
    group: groups.service,
    summary: 'find faults of an installation and suggest fixes',
    load: async () => (await import('./commands/doctor.ts')).defineDoctor,
  },
  check: {
    group: groups.policies,
    summary: 'check policies and show every error and warning',
    load: async () => (await import('./commands/check.ts')).defineCheck,
  },
  prove: {
    group: groups.policies,
    summary: 'prove or refute guarantees, or your own claim',
    load: async () => (await import('./commands/prove.ts')).defineProve,
  },
  owners: {
    group: groups.policies,
    summary: 'show which files may decide about which actions',
    load: async () => (await import('./commands/owners.ts')).defineOwners,
  },
  suggest: {
    group: groups.policies,
    summary: 'suggest the smallest changes that would allow a request',
    runs: 'through many records',
    load: async () => (await import('./commands/suggest.ts')).defineSuggest,
  },
  propose: {
    group: groups.policies,
    summary: 'propose a change of the active policies to a running service',
    load: async () => (await import('./commands/propose.ts')).definePropose,
  },
  diff: {
    group: groups.policies,
    summary: 'show the requests that two policy revisions decide differently',
    load: async () => (await import('./commands/diff.ts')).defineDiff,
  },
  fmt: {
    group: groups.policies,
    summary: 'format policy files',
    load: async () => (await import('./commands/fmt.ts')).defineFmt,
  },
  import: {
    group: groups.policies,
    summary: 'turn the permissions of a coding agent, or Cedar policies, into policies',
    load: async () => (await import('./commands/import.ts')).defineImport,
  },
  author: {
    group: groups.tools,
    summary: 'start the MCP server with which coding agents write policies',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/author.ts')).defineAuthor,
  },
  lsp: {
    group: groups.tools,
    summary: 'start the language server for editors (LSP)',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/lsp.ts')).defineLsp,
  },
  dap: {
    group: groups.tools,
    summary: 'start the debugger for editors (Debug Adapter Protocol)',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/dap.ts')).defineDap,
  },
  test: {
    group: groups.policies,
    summary: 'run the tests of policies',
    load: async () => (await import('./commands/test.ts')).defineTest,
  },
  decide: {
    group: groups.policies,
    summary: 'decide one request and show why',
    load: async () => (await import('./commands/decide.ts')).defineDecide,
  },
  explain: {
    group: groups.policies,
    summary: 'explain a recorded decision and what would change it',
    load: async () => (await import('./commands/explain.ts')).defineExplain,
  },
  build: {
    group: groups.policies,
    summary: 'build a bundle: compiled policies in one file, optionally signed',
    load: async () => (await import('./commands/build.ts')).defineBuild,
  },
  'verify-bundle': {
    group: groups.policies,
    summary: 'verify the contents and the signature of a bundle',
    load: async () => (await import('./commands/verify-bundle.ts')).defineVerifyBundle,
  },
  matrix: {
    group: groups.policies,
    summary: 'show which rules can apply to each action',
    load: async () => (await import('./commands/matrix.ts')).defineMatrix,
  },
  summary: {
    group: groups.policies,
    summary: 'describe policies in plain sentences, each proved',
    load: async () => (await import('./commands/summary.ts')).defineSummary,
  },
  replay: {
    group: groups.policies,
    summary: 'try policies on past requests',
    runs: 'through many records',
    load: async () => (await import('./commands/replay.ts')).defineReplayOfLog,
  },
  infer: {
    group: groups.policies,
    summary: 'write policies from recorded requests',
    runs: 'through many records',
    load: async () => (await import('./commands/infer.ts')).defineInfer,
  },
  types: {
    group: groups.policies,
    summary: "print TypeScript types for the actions' payloads",
    load: async () => (await import('./commands/types.ts')).defineTypes,
  },
  bench: {
    group: groups.policies,
    summary: 'measure the cost of decisions on your own requests',
    runs: 'through many records',
    load: async () => (await import('./commands/bench.ts')).defineBench,
  },
  agent: {
    group: groups.agents,
    alias: 'agents',
    summary: 'register agents and manage their keys and state',
    load: async () => (await import('./commands/agent.ts')).defineAgent,
  },
  point: {
    group: groups.agents,
    alias: 'points',
    summary: 'register enforcement points of a running service and assign agents',
    load: async () => (await import('./commands/point.ts')).definePoint,
  },
  hook: {
    group: groups.agents,
    summary: "decide a coding agent's tool call, as its hook",
    load: async () => (await import('./commands/hook.ts')).defineHook,
  },
  mcp: {
    group: groups.agents,
    summary: 'run a proxy for an MCP server, which asks before each call',
    runs: 'until it is stopped',
    load: async () => (await import('./commands/mcp.ts')).defineMcp,
  },
  requests: {
    group: groups.people,
    summary: 'list and show the requests of a running service',
    load: async () => (await import('./commands/requests.ts')).defineRequests,
  },
  approve: {
    group: groups.people,
    summary: 'approve a pending request',
    load: async () => (await import('./commands/approve.ts')).defineApprove,
  },
  reject: {
    group: groups.people,
    summary: 'reject a pending request',
    load: async () => (await import('./commands/reject.ts')).defineReject,
  },
  standing: {
    group: groups.people,
    summary: 'list and revoke the standing approvals of a running service',
    load: async () => (await import('./commands/standing.ts')).defineStanding,
  },
  people: {
    group: groups.people,
    summary: 'manage who has access to a running service',
    load: async () => (await import('./commands/people.ts')).definePeople,
  },
  alerts: {
    group: groups.people,
    summary: 'show alerts of a running service and change alert rules',
    load: async () => (await import('./commands/alerts.ts')).defineAlerts,
  },
  tables: {
    group: groups.people,
    summary: 'show, set and remove rows of pushed tables of a running service',
    load: async () => (await import('./commands/tables.ts')).defineTables,
  },
  'kill-switch': {
    group: groups.people,
    summary: 'stop agents immediately with the kill switch of a running service',
    load: async () => (await import('./commands/kill-switch.ts')).defineKillSwitch,
  },
  keys: {
    group: groups.service,
    summary: 'list and rotate the receipt keys of a running service',
    load: async () => (await import('./commands/keys.ts')).defineKeys,
  },
  audit: {
    group: groups.service,
    summary: 'verify, export, sign, delete and replay the records',
    runs: 'through many records',
    load: async () => (await import('./commands/audit.ts')).defineAudit,
  },
  backup: {
    group: groups.service,
    summary: 'back up the records while the service runs',
    runs: 'through many records',
    load: async () => (await import('./commands/backup.ts')).defineBackup,
  },
  restore: {
    group: groups.service,
    summary: 'replace the records with a backup',
    runs: 'through many records',
    load: async () => (await import('./commands/restore.ts')).defineRestore,
  },
  replicas: {
    group: groups.service,
    summary: 'show the replicas of a running service',
    load: async () => (await import('./commands/replicas.ts')).defineReplicas,
  },
  store: {
    group: groups.service,
    summary: 'move the records into a database, or upgrade their schema',
    runs: 'through many records',
    load: async () => (await import('./commands/store.ts')).defineStore,
  },
  completion: {
    group: groups.tools,
    summary: 'print a completion script for a shell',
    load: async () => (await import('./commands/completion.ts')).defineCompletion,
  },
  dump: {
    group: groups.tools,
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

const helpCommand = ['help [command]', 'show help for a command'] as const;

async function createProgram(args: readonly string[], finish: (code: ExitCode) => void): Promise<Command> {
  const program = new Command('writ')
    .description('Policy as code for what autonomous agents may do')
    .version(manifest.version)
    .exitOverride()
    .helpCommand(...helpCommand)
    .addHelpText('after', '\nExit codes: 0 success, 1 problems found, 2 wrong usage, 70 internal error');
  layOutHelp(program);
  const commandName = args.find((arg) => !arg.startsWith('-') && arg !== 'help');
  const runs = commandName === undefined ? undefined : commands[commandName]?.runs;
  whenReaderLeaves(runs === 'until it is stopped' ? 'go on' : 'end');
  for (const [name, { group, summary, alias, load }] of inGroups()) {
    const command = program
      .command(name)
      .summary(summary)
      .description(summary)
      .helpGroup(group)
      .exitOverride();
    if (alias !== undefined) command.alias(alias);
    // Only the command that runs is loaded; the help shows one line for each other command. `completion`
    // needs all of them.
    const isWanted =
      commandName !== undefined &&
      (commandName === completion || name === commandName || alias === commandName);
    if (isWanted) (await load())(command, finish);
  }
  // Only now, because the commands above take over the group of `help`, too.
  program.commandsGroup(groups.tools).helpCommand(...helpCommand);
  // By now the memory has grown to its full size by loading the command.
  if (runs === undefined) keepYoungObjectsTogether();
  // People try the word `version` before the flag.
  program.command('version', { hidden: true }).action(() => print(`${manifest.version}\n`));
  return program;
}

function inGroups(): readonly (readonly [string, Entry])[] {
  const order: readonly string[] = Object.values(groups);
  return Object.entries(commands).toSorted(
    ([, one], [, other]) => order.indexOf(one.group) - order.indexOf(other.group),
  );
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
