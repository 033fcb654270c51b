// `writ agent`: registers agents and says which of them may ask. Works on the data directory of the service, whether
// the service runs or not; what it changes holds from the next request on.

import { join } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { addAgent } from '../../agents/registry.ts';
import { riskTiers } from '../../model/request.ts';
import { openStore } from '../../store/open.ts';
import type { AgentRow } from '../../store/records.ts';
import type { Store } from '../../store/store.ts';
import { StoreError } from '../../store/store-error.ts';
import { createMarks, type ExitCode, exitCodes, print, printError, printJson } from '../output.ts';
import { commandLineUser } from '../with-store.ts';

export function define(command: Command, finish: (code: ExitCode) => void): void {
  command.addHelpText('after', examples);
  defineAdd(command, finish);
  withCommon(command.command('list').description('list the agents')).action(async (options: Common) => {
    finish(await withStore(options, (store) => list(store, options)));
  });
  defineStatus(
    command,
    { name: 'disable', status: 'disabled', description: 'refuse all requests of an agent' },
    finish,
  );
  defineStatus(
    command,
    { name: 'enable', status: 'active', description: 'let a disabled agent ask again' },
    finish,
  );
}

const examples = `
Examples:
  writ agent add buyer-1 --tier low --owner ops@example.com --tag purchasing
  writ agent list --json
  writ agent disable buyer-1`;

interface Common {
  readonly data: string;
  readonly json?: boolean;
}

interface AddOptions extends Common {
  readonly tier: string;
  readonly owner: string;
  readonly tag: readonly string[];
}

interface StatusCommand {
  readonly name: string;
  readonly status: 'active' | 'disabled';
  readonly description: string;
}

function withCommon(command: Command): Command {
  return command
    .option('--data <directory>', 'the data directory of the service', './var')
    .option('--json', 'print the result as JSON');
}

function defineAdd(command: Command, finish: (code: ExitCode) => void): void {
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

function defineStatus(
  command: Command,
  { name, status, description }: StatusCommand,
  finish: (code: ExitCode) => void,
): void {
  withCommon(command.command(name))
    .description(description)
    .argument('<agent>', 'its name or id')
    .action(async (agent: string, options: Common) => {
      finish(await withStore(options, (store) => setStatus(store, { agent, status, options })));
    });
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
  if (options.json === true) printJson({ agent: describe(agent), api_key: apiKey });
  else {
    print(`${createMarks().good('✓')} ${agent.name} registered, id ${agent.id}\n\n  ${apiKey}\n\n`);
    print('This is the only time the key is shown. The agent sends it as X-Agent-API-Key.\n');
  }
  return exitCodes.ok;
}

const optionNames = { name: 'name', riskTier: '--tier', controlOwner: '--owner', tags: '--tag' } as const;

async function list(store: Store, { json }: Common): Promise<ExitCode> {
  const agents = await store.agents.list();
  if (json === true) printJson(agents.map(describe));
  else if (agents.length === 0) print('no agents yet: `writ agent add NAME --tier TIER --owner PERSON`\n');
  else print(table(agents));
  return exitCodes.ok;
}

interface StatusRequest {
  readonly agent: string;
  readonly status: 'active' | 'disabled';
  readonly options: Common;
}

async function setStatus(
  store: Store,
  { agent: idOrName, status, options }: StatusRequest,
): Promise<ExitCode> {
  const agent = await store.agents.find(idOrName);
  if (agent === null) {
    printError(`error: there is no agent \`${idOrName}\`\n`);
    return exitCodes.wrong;
  }
  const result = await store.agents.setStatus({ agentId: agent.id, status, atMs: Date.now() });
  if (result === 'already-revoked') {
    printError(`error: \`${agent.name}\` is revoked, and that is final\n`);
    return exitCodes.wrong;
  }
  if (options.json === true) printJson({ ...describe(agent), status });
  else print(`${agent.name} is ${result === 'unchanged' ? 'already ' : ''}${status}\n`);
  return exitCodes.ok;
}

/** Without what is secret, sealed or not. */
function describe(agent: AgentRow): object {
  const { id, name, riskTier, controlOwner, tags, status, signing } = agent;
  const created = new Date(agent.createdAtMs).toISOString();
  return {
    id,
    name,
    risk_tier: riskTier,
    control_owner: controlOwner,
    tags,
    status,
    signing,
    created_at: created,
  };
}

function table(agents: readonly AgentRow[]): string {
  const rows = [
    ['NAME', 'TIER', 'OWNER', 'STATUS', 'TAGS', 'ID'],
    ...agents.map(({ name, riskTier, controlOwner, status, tags, id }) => [
      name,
      riskTier,
      controlOwner,
      status,
      tags.join(' ') || '-',
      id,
    ]),
  ];
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  return rows
    .map(
      (row) =>
        `${row
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('');
}
