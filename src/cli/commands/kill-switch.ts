// `writ kill-switch`: lists, sets and lifts the kill switches of a running service, or of the store on the machine
// of the service.

import type { Command } from 'commander';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { riskTiers } from '../../language/model/request.ts';
import { shellWord, writCommand } from '../../service/http/writ-command.ts';
import {
  type KillSwitchAdmin,
  type KillSwitchOptions,
  type KillSwitchView,
  type Refuse,
  withKillSwitches,
} from '../agents/kill-switch-admin.ts';
import { apiHelp, show, withApiOptions } from '../client/api-client.ts';
import { storeMeaning } from '../client/with-store.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print, printError, UsageError } from '../output/output.ts';
import { printable, table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';

type OptionsWithReason = KillSwitchOptions & { readonly reason: string };

export function defineKillSwitch(command: Command, finish: (code: ExitCode) => void): void {
  addExamples(command, examples + apiHelp);
  withOptions(command.command('list').description('list the active kill switches')).action(
    async (options: KillSwitchOptions) => {
      finish(
        await withKillSwitches(options, async (admin) =>
          show(options, { items: await admin.list() }, ({ items }) =>
            print(items.length === 0 ? 'no active kill switches\n' : switchTable(items)),
          ),
        ),
      );
    },
  );
  withOptions(command.command('on'))
    .description('refuse every request in the scope, within a second')
    .argument('<scope>', 'all, tier:high, area:payment, or agent:buyer-1 (its name or id)')
    .requiredOption('--reason <text>', 'reason; shown on every page and recorded, but not visible to agents')
    .action(async (scope: string, options: OptionsWithReason) => {
      finish(
        await withKillSwitches(options, async (admin) =>
          show(options, await admin.turnOn(checkScope(scope), options.reason), ({ warnings, ...made }) => {
            print(`stopped: ${scopeText(made)}; to resume: ${resumeCommand(made, options)}\n`);
            for (const warning of warnings) printError(`warning: ${warning}\n`);
          }),
        ),
      );
    });
  withOptions(command.command('off'))
    .description('turn a kill switch off')
    .argument('<switch>', 'its scope or id, as `list` shows them')
    .requiredOption('--reason <text>', 'why agents may act again; recorded')
    .action(async (named: string, options: OptionsWithReason) => {
      finish(
        await withKillSwitches(options, async (admin, refuse) => {
          const killSwitch = await namedSwitch(admin, named, refuse);
          await admin.turnOff(killSwitch.id, options.reason);
          show(options, { id: killSwitch.id, status: 'off' }, () =>
            print(`${scopeText(killSwitch)} is off\n`),
          );
        }),
      );
    });
}

function withOptions(command: Command): Command {
  return withApiOptions(
    command
      .option('--data <directory>', 'the data directory, on the machine of the service: needs no token')
      .option('--store <address>', storeMeaning),
  );
}

function resumeCommand(made: KillSwitchView, { data, store }: KillSwitchOptions): string {
  return writCommand(`kill-switch off ${shellWord(scopeText(made))} --reason "..."`, { data, store });
}

async function namedSwitch(admin: KillSwitchAdmin, named: string, refuse: Refuse): Promise<KillSwitchView> {
  const items = await admin.list();
  const matches = items.filter((one) => [one.id, one.scope, scopeText(one)].includes(named));
  const [only] = matches;
  if (only === undefined)
    return refuse(
      `no active kill switch has the scope or id ${printable(named)}: ${items.map(scopeText).join(', ') || 'none is active'}`,
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
  writ kill-switch off area:payment --reason "the ledger is correct again"
  writ kill-switch on all --reason "an incident" --data /var/lib/writ    # on the machine of the service

With --data, no token is needed and the service need not answer; the record names the user of the machine.
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

function switchTable(items: readonly KillSwitchView[]): string {
  return table(
    ['id', 'scope', 'since', 'by', 'reason'],
    items.map((one) => [
      ...[one.id, scopeText(one), localTime(one.created_at)],
      ...[one.created_by_name, one.reason],
    ]),
  );
}

/** The scope as people write it, with the name of an agent. */
function scopeText({ scope, agent_name: name }: KillSwitchView): string {
  return printable(name === null ? scope : `agent:${name}`);
}
