// `writ switch`: the kill switch of a running service.

import type { Command } from 'commander';
import {
  type ApiOptions,
  apiHelp,
  show,
  step,
  table,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { type ExitCode, print } from '../output/output.ts';

interface ShownSwitch {
  readonly id: string;
  readonly scope: string;
  readonly reason: string;
  readonly created_at: string;
  readonly created_by: string;
}

export function defineSwitch(command: Command, finish: (code: ExitCode) => void): void {
  command.addHelpText('after', examples + apiHelp);
  withApiOptions(command.command('list').description('list the switches that are on')).action(
    async (options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          const list = await api.get<{ items: readonly ShownSwitch[] }>('/v1/switches');
          show(options, list, ({ items }) =>
            print(items.length === 0 ? 'no switch is on\n' : switchTable(items)),
          );
        }),
      );
    },
  );
  withApiOptions(command.command('on'))
    .description('refuse everything that the scope covers, within a second')
    .argument('<scope>', 'all, tier:high, area:payment, agent:ID')
    .requiredOption('--reason <text>', 'why, for everybody who is stopped by it')
    .action(async (scope: string, options: ApiOptions & { readonly reason: string }) => {
      finish(
        await withApi(options, async (api) => {
          const { reason } = options;
          const made = await api.post<ShownSwitch>('/v1/switches', { scope, reason });
          show(options, made, ({ id }) =>
            print(`${made.scope} is stopped; to go on: writ switch off ${id}\n`),
          );
        }),
      );
    });
  withApiOptions(command.command('off'))
    .description('turn a switch off')
    .argument('<id>', 'as `list` shows it')
    .action(async (id: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          await api.delete(`/v1/switches/${step(id)}`);
          show(options, { id, status: 'off' }, () => print(`${id} is off\n`));
        }),
      );
    });
}

const examples = `
Examples:
  writ switch on all --reason "the ledger is wrong"
  writ switch on area:payment --reason "the ledger is wrong"
  writ switch on tier:critical --reason "an incident"
  writ switch list
  writ switch off 5a0c0de0-0000-4000-8000-000000000000
`;

function switchTable(items: readonly ShownSwitch[]): string {
  return table(
    ['id', 'scope', 'since', 'reason'],
    items.map(({ id, scope, created_at, reason }) => [id, scope, created_at, reason]),
  );
}
