// `writ agent identity`: maps the tokens of workloads to an agent, lists and removes what is mapped, and says why a
// token is refused.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { IdentityDraft } from '../../service/agents/identities/change-identity.ts';
import type { IdentityView } from '../../service/agents/identities/identity-view.ts';
import { loadConfig } from '../../service/settings/load.ts';
import type { WorkloadIssuer } from '../../service/workloads/read-token.ts';
import { show as showResult } from '../client/api-client.ts';
import { fileError } from '../output/file-error.ts';
import { localTime } from '../output/local-time.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import { printable, table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';
import { type AgentOptions, withAgentAdmin, withAgentOptions } from './admin.ts';
import { tryToken } from './try-token.ts';

type Finish = (code: ExitCode) => void;

export function defineIdentities(command: Command, finish: Finish): void {
  const identities = command
    .command('identity')
    .description('map tokens of workloads to an agent, list and remove mappings, try a token');
  addExamples(identities, examples);
  defineMap(identities, finish);
  withAgentOptions(identities.command('list'))
    .description('list the identities of an agent, newest first')
    .argument(...agentArgument)
    .action(async (agent: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const items = await admin.identities(agent);
          showResult(options, items, () => print(identityTable(items)));
        }),
      );
    });
  withAgentOptions(identities.command('remove'))
    .description('end an identity of an agent; its tokens are refused at once')
    .argument(...agentArgument)
    .argument('<id>', 'the id in the list')
    .action(async (agent: string, id: string, options: AgentOptions) => {
      finish(
        await withAgentAdmin(options, async (admin) => {
          const identity = await admin.removeIdentity(agent, id);
          showResult(options, identity, () => print(`identity ${printable(identity.id)} is removed\n`));
        }),
      );
    });
  defineTry(identities, finish);
}

const agentArgument = ['<agent>', 'its name or id'] as const;

const examples = `
Examples:
  writ agent identity map buyer --issuer https://kubernetes.default.svc.cluster.local \\
    --require sub=system:serviceaccount:payments:buyer
  writ agent identity map deployer --issuer https://token.actions.githubusercontent.com \\
    --require repository_id=123456789 --require ref=refs/heads/main
  writ agent identity list buyer
  writ agent identity try buyer /var/run/secrets/writ/token
  writ agent identity remove buyer Ab3dEf7h`;

interface MapOptions extends AgentOptions {
  readonly issuer: string;
  readonly require: readonly string[];
  readonly actor: readonly string[];
  readonly actorActions: readonly string[];
}

function defineMap(command: Command, finish: Finish): void {
  withAgentOptions(command.command('map'))
    .description('identify an agent by the tokens of an issuer that have these claims')
    .argument(...agentArgument)
    .requiredOption('--issuer <address>', 'the issuer, as its tokens and `agents.issuers` name it')
    .requiredOption('--require <name=value...>', 'a required claim; the same name again adds a value')
    .option(
      '--actor <name=subject...>',
      'an actor that may ask by the claim `act`, with its name in rules',
      [],
    )
    .option('--actor-actions <name=actions...>', 'the only actions of an actor, separated by commas', [])
    .action(async (agent: string, options: MapOptions) => {
      const draft = draftOf(options);
      finish(
        await withAgentAdmin(options, async (admin) => {
          const identity = await admin.mapIdentity(agent, draft);
          showResult(options, identity, () =>
            print(
              `${createMarks().good('✓')} tokens with these claims are ${printable(agent)}, id ${identity.id}\n`,
            ),
          );
        }),
      );
    });
}

function draftOf({ issuer, require, actor, actorActions }: MapOptions): IdentityDraft {
  const actions = new Map(actorActions.map((text) => pairIn(text, '--actor-actions')));
  const actors = actor.map((text) => {
    const [name, subject] = text.includes('=') ? pairIn(text, '--actor') : [text, text];
    return { subject, name, actions: actions.get(name)?.split(',') ?? ['*'] };
  });
  const stray = [...actions.keys()].find((name) => !actors.some((one) => one.name === name));
  if (stray !== undefined) throw new UsageError(`--actor-actions names \`${stray}\`, which no --actor has`);
  const claims = Object.groupBy(
    require.map((text) => pairIn(text, '--require')),
    ([name]) => name,
  );
  return {
    issuer,
    claims: Object.fromEntries(
      Object.entries(claims).map(([name, pairs = []]) => [name, pairs.map(([, value]) => value)]),
    ),
    actors,
  };
}

function pairIn(text: string, option: string): readonly [string, string] {
  const at = text.indexOf('=');
  if (at < 1 || at === text.length - 1) throw new UsageError(`${option} takes NAME=VALUE, not \`${text}\``);
  return [text.slice(0, at), text.slice(at + 1)];
}

interface TryOptions extends AgentOptions {
  readonly config?: string;
}

function defineTry(command: Command, finish: Finish): void {
  withAgentOptions(command.command('try'))
    .description('say whether a token identifies an agent, and if not, why')
    .argument(...agentArgument)
    .argument('<file>', 'the file with the token; - for standard input')
    .option('--config <file>', 'the configuration file of the service (default: writ.yaml, if present)')
    .action(async (agent: string, file: string, options: TryOptions) => {
      const issuers = issuersIn(options);
      const text = tokenIn(file);
      let code: ExitCode = exitCodes.ok;
      const ran = await withAgentAdmin(options, async (admin) => {
        const identities = await admin.identities(agent);
        const steps = await tryToken({ text, issuers, identities, nowMs: Date.now() });
        const isAccepted = steps.every(({ isGood }) => isGood);
        if (!isAccepted) code = exitCodes.wrong;
        if (options.json === true) printJson({ accepted: isAccepted, steps });
        else for (const { isGood, text } of steps) print(`${mark(isGood)} ${printable(text)}\n`);
      });
      finish(ran === exitCodes.ok ? code : ran);
    });
}

function mark(isGood: boolean): string {
  const { good, bad } = createMarks();
  return isGood ? good('✓') : bad('✗');
}

function issuersIn({ config: file }: TryOptions): readonly WorkloadIssuer[] {
  const loaded = loadConfig({ directory: process.cwd(), file, environment: process.env, flags: {} });
  if (!loaded.ok) throw new UsageError(loaded.problems.join('\n'));
  return loaded.config.agentIssuers;
}

function tokenIn(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8').trim();
  } catch (error) {
    throw new UsageError(`cannot read ${file}: ${fileError(error)}`);
  }
}

function identityTable(items: readonly IdentityView[]): string {
  return table(
    ['issuer', 'claims', 'actors', 'last used', 'status', 'id'],
    items.map(({ issuer, required_claims: claims, actors, last_used_at: used, status, id }) => [
      issuer,
      claimsText(claims),
      actors.map(({ name }) => name).join(' ') || '-',
      used === null ? '-' : localTime(used),
      status,
      id,
    ]),
  );
}

function claimsText(claims: IdentityView['required_claims']): string {
  return Object.entries(claims)
    .flatMap(([name, values]) => values.map((value) => `${name}=${value}`))
    .join(' ');
}
