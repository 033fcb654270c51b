// `writ agent`: registers agents, changes their keys and signing secrets, and says which of them may ask. Works on the
// data directory of the service, whether the service runs or not: what it changes is in force within a second.

import { join } from 'node:path';
import type { Command } from 'commander';
import { Argument, Option } from 'commander';
import {
  addAgent,
  defaultGraceMs,
  type RotateResult,
  rotateKey,
  type SetSigningResult,
  setSigning,
} from '../../agents/registry.ts';
import { riskTiers } from '../../model/request.ts';
import { openStore } from '../../store/open.ts';
import { type AgentRow, type AgentStatus, type SigningMode, signingModes } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import { agentJson, agentTable, keyJson, keyTable, timeText } from '../agent-text.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output.ts';
import { commandLineUser } from '../with-store.ts';

type Finish = (code: ExitCode) => void;

export function define(command: Command, finish: Finish): void {
  command.addHelpText('after', examples);
  defineAdd(command, finish);
  withCommon(command.command('list').description('list the agents')).action(async (options: Common) => {
    finish(await withStore(options, (store) => list(store, options)));
  });
  defineShow(command, finish);
  for (const change of statusCommands) defineStatus(command, change, finish);
  defineRevoke(command, finish);
  defineRotate(command, finish);
  defineSigning(command, finish);
}

const examples = `
Examples:
  writ agent add buyer-1 --tier low --owner ops@example.com --tag purchasing
  writ agent rotate buyer-1 --grace 48h
  writ agent rotate buyer-1 --grace now
  writ agent signing buyer-1 required
  writ agent signing buyer-1 required --new-secret
  writ agent disable buyer-1
  writ agent revoke buyer-1 --yes`;

interface Common {
  readonly data: string;
  readonly json?: boolean;
}

function withCommon(command: Command): Command {
  return command
    .option('--data <directory>', 'the data directory of the service', './var')
    .option('--json', 'print the result as JSON');
}

/** Opens and closes the store; what it says is for the operator, not a fault of ours. */
async function withStore(options: Common, run: (store: Store) => Promise<ExitCode>): Promise<ExitCode> {
  try {
    const store = await openStore({ path: join(options.data, 'writ.db'), actor: commandLineUser() });
    try {
      return await run(store);
    } finally {
      await store.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    printError(`error: ${error.message}\n`);
    return exitCodes.wrong;
  }
}

/** Runs `run` with the agent that is meant. */
function withAgent(
  idOrName: string,
  options: Common,
  run: (store: Store, agent: AgentRow) => Promise<ExitCode>,
): Promise<ExitCode> {
  return withStore(options, async (store) => {
    const agent = await store.agents.find(idOrName);
    return agent === null ? fail(`there is no agent \`${idOrName}\``) : await run(store, agent);
  });
}

function fail(message: string): ExitCode {
  printError(`error: ${message}\n`);
  return exitCodes.wrong;
}

interface AddOptions extends Common {
  readonly tier: string;
  readonly owner: string;
  readonly tag: readonly string[];
}

function defineAdd(command: Command, finish: Finish): void {
  withCommon(command.command('add'))
    .description('register an agent and print its API key, which is shown this once')
    .argument('<name>', 'how people call the agent')
    .addOption(
      new Option('--tier <tier>', 'how much harm it could do').choices(riskTiers).makeOptionMandatory(),
    )
    .requiredOption('--owner <person>', 'who answers for the agent (its control owner)')
    .option('--tag <tag...>', 'words that policies may ask for', [])
    .action(async (name: string, options: AddOptions) => {
      finish(await withStore(options, (store) => add(store, name, options)));
    });
}

async function add(store: Store, name: string, options: AddOptions): Promise<ExitCode> {
  const { tier: riskTier, owner: controlOwner, tag: tags } = options;
  const result = await addAgent(store, { name, riskTier, controlOwner, tags });
  if (result.kind === 'invalid') {
    if (options.json === true) printJson({ problems: result.problems });
    for (const { field, message } of result.problems)
      printError(`error: ${optionNames[field]}: ${message}\n`);
    return exitCodes.wrong;
  }
  const { agent, apiKey } = result;
  if (options.json === true) printJson({ agent: agentJson(agent), api_key: apiKey });
  else {
    print(`${createMarks().good('✓')} ${agent.name} registered, id ${agent.id}\n\n  ${apiKey}\n\n`);
    print('This is the only time the key is shown. The agent sends it as X-Agent-API-Key.\n');
  }
  return exitCodes.ok;
}

const optionNames = { name: 'name', riskTier: '--tier', controlOwner: '--owner', tags: '--tag' } as const;

async function list(store: Store, { json }: Common): Promise<ExitCode> {
  const agents = await store.agents.list();
  if (json === true) printJson(agents.map(agentJson));
  else if (agents.length === 0) print('no agents yet: `writ agent add NAME --tier TIER --owner PERSON`\n');
  else print(agentTable(agents));
  return exitCodes.ok;
}

const agentArgument = ['<agent>', 'its name or id'] as const;

function defineShow(command: Command, finish: Finish): void {
  withCommon(command.command('show'))
    .description('show an agent and its keys: when they were made, last used, and end')
    .argument(...agentArgument)
    .action(async (name: string, options: Common) => {
      finish(await withAgent(name, options, (store, agent) => show(store, agent, options)));
    });
}

async function show(store: Store, agent: AgentRow, { json }: Common): Promise<ExitCode> {
  const keys = await store.agents.keys(agent.id);
  if (json === true) printJson({ ...agentJson(agent), keys: keys.map(keyJson) });
  else print(`${agentTable([agent])}\n${keyTable(keys, Date.now())}`);
  return exitCodes.ok;
}

interface StatusCommand {
  readonly name: string;
  readonly status: AgentStatus;
  readonly description: string;
}

const statusCommands: readonly StatusCommand[] = [
  { name: 'disable', status: 'disabled', description: 'refuse all requests of an agent' },
  { name: 'enable', status: 'active', description: 'let a disabled agent ask again' },
];

function defineStatus(command: Command, { name, status, description }: StatusCommand, finish: Finish): void {
  withCommon(command.command(name))
    .description(description)
    .argument(...agentArgument)
    .action(async (agent: string, options: Common) => {
      finish(await withAgent(agent, options, (store, found) => setStatus(store, found, { status, options })));
    });
}

function defineRevoke(command: Command, finish: Finish): void {
  withCommon(command.command('revoke'))
    .description('refuse all requests of an agent for good: nothing brings it back')
    .argument(...agentArgument)
    .option('--yes', 'say that this is meant, for it is final')
    .action(async (agent: string, options: Common & { readonly yes?: boolean }) => {
      if (options.yes !== true)
        throw new UsageError('a revoked agent can never be enabled again: say --yes if that is meant');
      const revoke = { status: 'revoked', options } as const;
      finish(await withAgent(agent, options, (store, found) => setStatus(store, found, revoke)));
    });
}

async function setStatus(
  store: Store,
  agent: AgentRow,
  { status, options }: { readonly status: AgentStatus; readonly options: Common },
): Promise<ExitCode> {
  const result = await store.agents.setStatus({ agentId: agent.id, status, atMs: Date.now() });
  if (result === 'already-revoked') return fail(`\`${agent.name}\` is revoked, and that is final`);
  if (options.json === true) printJson(agentJson({ ...agent, status }));
  else print(`${agent.name} is ${result === 'unchanged' ? 'already ' : ''}${status}\n`);
  return exitCodes.ok;
}

interface RotateCommandOptions extends Common {
  readonly grace: number;
}

function defineRotate(command: Command, finish: Finish): void {
  withCommon(command.command('rotate'))
    .description('give an agent a new API key, shown this once, and its present one an end')
    .argument(...agentArgument)
    .option(
      '--grace <time>',
      'how long the old key stays good: 30m, 24h, 7d, or now (default: 24h)',
      readGrace,
      defaultGraceMs,
    )
    .action(async (agent: string, options: RotateCommandOptions) => {
      finish(await withAgent(agent, options, (store, found) => rotate(store, found, options)));
    });
}

const unitMs = { m: 60_000, h: 3_600_000, d: 86_400_000 } as const;

function readGrace(text: string): number {
  if (text === 'now') return 0;
  const [, count, unit] = /^(\d{1,4})([mhd])$/.exec(text) ?? [];
  if (count === undefined)
    throw new UsageError(`\`${text}\` is not \`now\` or a time such as 30m, 24h or 7d`);
  return Number(count) * unitMs[unit as keyof typeof unitMs];
}

async function rotate(
  store: Store,
  agent: AgentRow,
  { grace: graceMs, json }: RotateCommandOptions,
): Promise<ExitCode> {
  if (agent.status === 'revoked') return fail(`\`${agent.name}\` is revoked, and that is final`);
  const nowMs = Date.now();
  const result: RotateResult = await rotateKey(store, { agentId: agent.id, graceMs, nowMs });
  switch (result.kind) {
    case 'unknown-agent':
      return fail(`there is no agent \`${agent.name}\``);
    case 'too-many-keys':
      return fail(
        `\`${agent.name}\` has two good keys already: wait for the end of the older one, or end both with --grace now`,
      );
    case 'rotated': {
      const oldEnds = timeText(nowMs + graceMs);
      if (json === true) {
        printJson({ agent: agentJson(agent), api_key: result.apiKey, old_key_not_after: oldEnds });
        return exitCodes.ok;
      }
      print(`${createMarks().good('✓')} ${agent.name} has a new key\n\n  ${result.apiKey}\n\n`);
      const end =
        graceMs === 0 ? 'The old one is refused from now on' : `The old one is good until ${oldEnds}`;
      print(`This is the only time it is shown. ${end}.\n`);
      return exitCodes.ok;
    }
  }
}

interface SigningCommandOptions extends Common {
  readonly newSecret?: boolean;
}

function defineSigning(command: Command, finish: Finish): void {
  withCommon(command.command('signing'))
    .description('say whether an agent signs its requests; a new signing secret is shown this once')
    .argument(...agentArgument)
    .addArgument(new Argument('<mode>', 'off forgets the signing secret').choices(signingModes))
    .option('--new-secret', 'replace the signing secret; without it one is made only where there is none')
    .action(async (agent: string, mode: SigningMode, options: SigningCommandOptions) => {
      finish(await withAgent(agent, options, (store, found) => sign(store, found, { mode, options })));
    });
}

async function sign(
  store: Store,
  agent: AgentRow,
  { mode, options }: { readonly mode: SigningMode; readonly options: SigningCommandOptions },
): Promise<ExitCode> {
  if (agent.status === 'revoked') return fail(`\`${agent.name}\` is revoked, and that is final`);
  const isSecretNew = options.newSecret === true;
  if (mode === 'off' && isSecretNew) throw new UsageError('`off` forgets the secret: leave --new-secret out');
  const result: SetSigningResult = await setSigning(store, {
    ...{ agentId: agent.id, signing: mode, nowMs: Date.now(), isSecretNew },
  });
  if (result.kind === 'unknown-agent') return fail(`there is no agent \`${agent.name}\``);
  const { signingSecret } = result;
  if (options.json === true) {
    printJson({ agent: agentJson({ ...agent, signing: mode }), signing_secret: signingSecret });
    return exitCodes.ok;
  }
  print(`${createMarks().good('✓')} signatures of ${agent.name}: ${mode}\n`);
  if (signingSecret !== null)
    print(`\n  ${signingSecret}\n\nThis is the only time the signing secret is shown.\n`);
  return exitCodes.ok;
}
