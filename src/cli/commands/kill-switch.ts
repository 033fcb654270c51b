// `writ kill-switch`: lists, sets and lifts the kill switches of a running service.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { riskTiers } from '../../language/model/request.ts';
import { findAgent } from '../agents/admin-http.ts';
import {
  type Api,
  type ApiOptions,
  apiHelp,
  refuse,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print, printError, UsageError } from '../output/output.ts';
import { printable, table } from '../output/table.ts';

type KillSwitchView = Reply<'listKillSwitches'>['items'][number];

export function defineKillSwitch(command: Command, finish: (code: ExitCode) => void): void {
  command.addHelpText('after', examples + apiHelp);
  withApiOptions(command.command('list').description('list the active kill switches')).action(
    async (options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          const list = await api.get<{ items: readonly KillSwitchView[] }>('/v1/kill-switches');
          show(options, list, ({ items }) =>
            print(items.length === 0 ? 'no active kill switches\n' : switchTable(items)),
          );
        }),
      );
    },
  );
  withApiOptions(command.command('on'))
    .description('refuse every request in the scope, within a second')
    .argument('<scope>', 'all, tier:high, area:payment, or agent:buyer-1 (its name or id)')
    .requiredOption('--reason <text>', 'why; shown to people on every page, recorded, and not told to agents')
    .action(async (scope: string, options: ApiOptions & { readonly reason: string }) => {
      finish(
        await withApi(options, async (api) => {
          const body = { scope: await withAgentId(api, checkScope(scope)), reason: options.reason };
          const made = await api.post<KillSwitchView & { readonly warnings: readonly string[] }>(
            '/v1/kill-switches',
            body,
          );
          show(options, made, ({ warnings }) => {
            print(
              `stopped: ${scopeShown(made)}; to resume: writ kill-switch off ${scopeShown(made)} --reason "..."\n`,
            );
            for (const warning of warnings) printError(`warning: ${warning}\n`);
          });
        }),
      );
    });
  withApiOptions(command.command('off'))
    .description('turn a kill switch off')
    .argument('<switch>', 'its scope or id, as `list` shows them')
    .requiredOption('--reason <text>', 'why agents may act again; recorded')
    .action(async (named: string, options: ApiOptions & { readonly reason: string }) => {
      finish(
        await withApi(options, async (api) => {
          const killSwitch = await namedSwitch(api, named);
          await api.post(`/v1/kill-switches/${step(killSwitch.id)}/deactivate`, { reason: options.reason });
          show(options, { id: killSwitch.id, status: 'off' }, () =>
            print(`${scopeShown(killSwitch)} is off\n`),
          );
        }),
      );
    });
}

async function namedSwitch(api: Api, named: string): Promise<KillSwitchView> {
  const { items } = await api.get<{ items: readonly KillSwitchView[] }>('/v1/kill-switches');
  const matches = items.filter((one) => [one.id, one.scope, scopeShown(one)].includes(named));
  const [only] = matches;
  if (only === undefined)
    refuse(
      `no active kill switch has the scope or id ${printable(named)}: ${items.map(scopeShown).join(', ') || 'none is active'}`,
    );
  if (matches.length > 1)
    refuse(`several kill switches have this scope: name the id, ${matches.map(({ id }) => id).join(' or ')}`);
  return only;
}

const examples = `
Examples:
  writ kill-switch on all --reason "the ledger is wrong"
  writ kill-switch on area:payment --reason "the ledger is wrong"
  writ kill-switch on tier:critical --reason "an incident"
  writ kill-switch on agent:buyer-1 --reason "an incident"
  writ kill-switch list
  writ kill-switch off area:payment --reason "the ledger is right again"
`;

const tierScopes = riskTiers.map((tier) => `tier:${tier}`);
const wordsForAll = ['everything', 'everybody', 'everyone', '*'];

/** Returns the scope unchanged. Throws a UsageError that lists the possible scopes when the text is none. */
function checkScope(scope: string): string {
  const isScope =
    scope === 'all' || tierScopes.includes(scope) || /^(area:[^\s:]+|agent:[0-9A-Za-z._-]+)$/.test(scope);
  if (isScope) return scope;
  const near = nearestScope(scope);
  const help = near === null ? '' : `; did you mean \`${near}\`?`;
  throw new UsageError(
    `\`${scope}\` is not a scope: use all, tier:TIER (${riskTiers.join(', ')}), area:AREA or agent:NAME${help}`,
  );
}

function nearestScope(scope: string): string | null {
  const word = scope.toLowerCase();
  if (wordsForAll.includes(word)) return 'all';
  return tierScopes.find((tier) => tier === `tier:${word}`) ?? nearestOf(word, ['all', ...tierScopes]);
}

/** Replaces an agent's name in the scope by its id: people know agents by name, and the service takes ids. */
async function withAgentId(api: Api, scope: string): Promise<string> {
  const [, name] = /^agent:(.+)$/.exec(scope) ?? [];
  return name === undefined ? scope : `agent:${(await findAgent(api, name)).id}`;
}

function switchTable(items: readonly KillSwitchView[]): string {
  return table(
    ['id', 'scope', 'since', 'by', 'reason'],
    items.map((one) => [
      ...[one.id, scopeShown(one), localTime(one.created_at)],
      ...[one.created_by_name, one.reason],
    ]),
  );
}

/** The scope as people write it, with the name of an agent. */
function scopeShown({ scope, agent_name: name }: KillSwitchView): string {
  return printable(name === null ? scope : `agent:${name}`);
}
