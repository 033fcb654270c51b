// `writ agent`: registers agents, changes their keys, signing secrets and rates, and enables, disables and revokes them.

import { Argument, type Command, Option } from 'commander';
import { riskTiers } from '../../language/model/request.ts';
import { writCommand } from '../../service/http/writ-command.ts';
import { type AgentStatus, type SigningMode, signingModes } from '../../service/store/contract/records.ts';
import { type AgentOptions, withAgentAdmin, withAgentOptions } from '../agents/admin.ts';
import type { AgentAdmin } from '../agents/agent-admin.ts';
import { defineDelegations } from '../agents/delegations.ts';
import { defineIdentities } from '../agents/identities.ts';
import { agentTable, keyTable, rateText } from '../agents/text.ts';
import { show as showResult } from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { createMarks, type ExitCode, print, UsageError } from '../output/output.ts';
import { printable } from '../output/table.ts';
import { type GraceOptions, graceMsOf, withGrace } from '../support/grace-period.ts';
import { addExamples } from '../support/help-layout.ts';

type Finish = (code: ExitCode) => void;

export function defineAgent(command: Command, finish: Finish): void {
  addExamples(command, examples);
  defineAdd(command, finish);
  withAgentOptions(command.command('list').description('list the agents')).action(
    async (options: AgentOptions) => {
      finish(await withAgentAdmin(options, (admin) => list(admin, options)));
    },
  );
  defineShow(command, finish);
  for (const change of statusCommands) defineStatus(command, change, finish);
  defineRevoke(command, finish);
  defineRotate(command, finish);
  defineSigning(command, finish);
  defineRate(command, finish);
  defineTelling(command, finish);
  defineDelegations(command, finish);
  defineIdentities(command, finish);
}

const examples = `
Examples:
  writ agent add buyer-1 --tier low --owner ops@example.com --tag purchasing
  writ agent show buyer-1
  writ agent rotate buyer-1 --grace 48h
  writ agent rotate buyer-1 --leaked
  writ agent signing buyer-1 required
  writ agent signing buyer-1 required --new-secret
  writ agent rate buyer-1 --per-minute 600 --burst 100
  writ agent rate buyer-1 --per-minute default --burst default
  writ agent refusal-hints buyer-1 on
  writ agent delegations list buyer-1
  writ agent delegations revoke Ab3dEf7h
  writ agent identity list buyer-1
  writ agent disable buyer-1
  writ agent enable buyer-1
  writ agent revoke buyer-1 --yes
  writ agent list --url https://writ.example.com

Works on the data directory of the service, even while the service runs: a change takes effect within
a second. With --url it calls the running service, as the person whose token is in WRIT_TOKEN.`;

interface AddOptions extends AgentOptions {
  readonly tier: string;
  readonly owner: string;
  readonly tag: readonly string[];
}

function defineAdd(command: Command, finish: Finish): void {
  withAgentOptions(command.command('add'))
    .description('register an agent and print its API key, which is shown only once')
    .argument('<name>', 'the displayed name')
    .addOption(
      new Option('--tier <tier>', 'the harm that it could do').choices(riskTiers).makeOptionMandatory(),
    )
    .requiredOption('--owner <person>', 'the person responsible for the agent (its control owner)')
    .option('--tag <tag...>', 'tags for conditions in policies', [])
    .action(async (name: string, options: AddOptions) => {
      finish(await withAgentAdmin({ ...options, missing: 'create' }, (admin) => add(admin, name, options)));
    });
}

async function add(admin: AgentAdmin, name: string, options: AddOptions): Promise<void> {
  const { tier: riskTier, owner: controlOwner, tag: tags } = options;
  const { agent, apiKey } = await admin.add({ name, riskTier, controlOwner, tags });
  showResult(options, { agent, api_key: apiKey }, () => {
    print(
      `${createMarks().good('✓')} ${printable(agent.name)} registered, id ${agent.id}\n\n  ${apiKey}\n\n`,
    );
    print('This is the only time the key is shown. The agent sends it as X-Agent-API-Key.\n');
  });
}

async function list(admin: AgentAdmin, options: AgentOptions): Promise<void> {
  const killSwitches = await admin.killSwitches();
  showResult(options, await admin.list(), (agents) => {
    if (agents.length === 0)
      print(`no agents yet: ${writCommand('agent add NAME --tier TIER --owner PERSON')}\n`);
    else print(agentTable(agents, killSwitches));
  });
}

const agentArgument = ['<agent>', 'its name or id'] as const;

function defineShow(command: Command, finish: Finish): void {
  withAgentOptions(command.command('show'))
    .description('show an agent and the creation, last use and expiry of its keys')
    .argument(...agentArgument)
    .action(async (name: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const { agent, keys } = await admin.show(name);
          const killSwitches = await admin.killSwitches();
          showResult(options, { ...agent, keys }, () =>
            print(`${agentTable([agent], killSwitches)}\n${keyTable(keys, Date.now())}`),
          );
        }),
      );
    });
}

interface StatusCommand {
  readonly name: string;
  readonly status: AgentStatus;
  readonly description: string;
}

const statusCommands: readonly StatusCommand[] = [
  { name: 'disable', status: 'disabled', description: 'refuse all requests of an agent' },
  { name: 'enable', status: 'active', description: 'resume a disabled agent' },
];

function defineStatus(command: Command, { name, status, description }: StatusCommand, finish: Finish): void {
  withAgentOptions(command.command(name))
    .description(description)
    .argument(...agentArgument)
    .action(async (agent: string, options: AgentOptions) => {
      finish(await withAgentAdmin(options, (admin) => setStatus(admin, agent, { status, options })));
    });
}

function defineRevoke(command: Command, finish: Finish): void {
  withAgentOptions(command.command('revoke'))
    .description('permanently refuse all requests of an agent; you cannot undo this')
    .argument(...agentArgument)
    .option('--yes', 'confirm: this is permanent')
    .action(async (agent: string, options: AgentOptions & { readonly yes?: boolean }) => {
      if (options.yes !== true)
        throw new UsageError('a revoked agent can never be enabled again: add --yes to confirm');
      const revoke = { status: 'revoked', options } as const;
      finish(await withAgentAdmin(options, (admin) => setStatus(admin, agent, revoke)));
    });
}

async function setStatus(
  admin: AgentAdmin,
  name: string,
  { status, options }: { readonly status: AgentStatus; readonly options: AgentOptions },
): Promise<void> {
  const { agent, isChanged } = await admin.setStatus(name, status);
  showResult(options, agent, () =>
    print(`${printable(agent.name)} is ${isChanged ? '' : 'already '}${status}\n`),
  );
}

type RotateOptions = AgentOptions & GraceOptions;

function defineRotate(command: Command, finish: Finish): void {
  withGrace(withAgentOptions(command.command('rotate')))
    .description('create a new API key, shown only once, and end the current one')
    .argument(...agentArgument)
    .action(async (agent: string, options: RotateOptions) => {
      finish(await withAgentAdmin(options, (admin) => rotate(admin, agent, options)));
    });
}

async function rotate(admin: AgentAdmin, name: string, options: RotateOptions): Promise<void> {
  const graceMs = graceMsOf(options);
  const { agent, apiKey, oldKeyNotAfter } = await admin.rotate(name, graceMs);
  showResult(options, { agent, api_key: apiKey, old_key_not_after: oldKeyNotAfter }, () => {
    print(`${createMarks().good('✓')} ${printable(agent.name)} has a new key\n\n  ${apiKey}\n\n`);
    const end =
      graceMs === 0
        ? 'The old key no longer works'
        : `The old key works until ${localTime(oldKeyNotAfter ?? '')}; if it has leaked, add --leaked to end it now`;
    print(`This is the only time the key is shown. ${end}.\n`);
  });
}

interface SigningOptions extends AgentOptions {
  readonly newSecret?: boolean;
}

function defineSigning(command: Command, finish: Finish): void {
  withAgentOptions(command.command('signing'))
    .description('set whether an agent signs its requests; a new signing secret is shown only once')
    .argument(...agentArgument)
    .addArgument(new Argument('<mode>', 'off deletes the signing secret').choices(signingModes))
    .option(
      '--new-secret',
      'replace the signing secret; without this option, only an agent without a secret gets one',
    )
    .action(async (agent: string, mode: SigningMode, options: SigningOptions) => {
      const isSecretNew = options.newSecret === true;
      if (mode === 'off' && isSecretNew) throw new UsageError('`off` deletes the secret: omit --new-secret');
      finish(
        await withAgentAdmin(options, async (admin) => {
          const signed = await admin.sign(agent, { mode, isSecretNew });
          const { signingSecret } = signed;
          showResult(options, { agent: signed.agent, signing_secret: signingSecret }, () => {
            print(`${createMarks().good('✓')} signatures of ${printable(signed.agent.name)}: ${mode}\n`);
            if (signingSecret !== null)
              print(`\n  ${signingSecret}\n\nThis is the only time the signing secret is shown.\n`);
          });
        }),
      );
    });
}

interface RateOptions extends AgentOptions {
  readonly perMinute?: Count;
  readonly burst?: Count;
}

function defineRate(command: Command, finish: Finish): void {
  withAgentOptions(command.command('rate'))
    .description("set an agent's rate limits; `default` restores the service's limits")
    .argument(...agentArgument)
    .option('--per-minute <count>', 'requests per minute, or default', readCount)
    .option('--burst <count>', 'requests at once, or default', readCount)
    .action(async (agent: string, options: RateOptions) => {
      const [ratePerMinute, burst] = [countOf(options.perMinute), countOf(options.burst)];
      if (ratePerMinute === undefined && burst === undefined)
        throw new UsageError('nothing to change: use --per-minute or --burst');
      finish(
        await withAgentAdmin(options, async (admin) => {
          const changed = await admin.setRate(agent, { ratePerMinute, burst });
          const rate = rateText(changed) === '-' ? "the service's default" : rateText(changed);
          showResult(options, changed, () => print(`the rate of ${printable(changed.name)}: ${rate}\n`));
        }),
      );
    });
}

function defineTelling(command: Command, finish: Finish): void {
  withAgentOptions(command.command('refusal-hints'))
    .description(
      'set whether refusals include what would pass; hints reveal limits to anyone who controls the agent',
    )
    .argument(...agentArgument)
    .addArgument(new Argument('<state>', 'on or off').choices(['on', 'off']))
    .action(async (agent: string, state: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const changed = await admin.setTelling(agent, state === 'on');
          const text = changed.refusal_hints ? 'include what would pass' : 'include only the reason';
          showResult(options, changed, () => print(`refusals of ${printable(changed.name)} ${text}\n`));
        }),
      );
    });
}

/** An option of commander cannot have the value null, so `default` stands for null. */
type Count = number | 'default';

function countOf(count: Count | undefined): number | null | undefined {
  return count === 'default' ? null : count;
}

function readCount(text: string): Count {
  if (text === 'default') return text;
  if (/^[1-9]\d{0,9}$/.test(text)) return Number(text);
  throw new UsageError(`\`${text}\` is neither \`default\` nor a whole number of at least 1`);
}
