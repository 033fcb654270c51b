// The commands of `writ people` for stand-ins: name, list, confirm and end them on a running service.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { type ApiOptions, show, step, withApi, withApiOptions } from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print } from '../output/output.ts';
import { table } from '../output/table.ts';

type Finish = (code: ExitCode) => void;

type StandIn = Reply<'nameStandIn'>;

interface NameOptions extends ApiOptions {
  readonly group: string;
  readonly until: string;
}

export const standInExamples = `  writ people stand-in lea@example.com --group finance --until 2027-01-08T08:00:00Z
  writ people stand-ins
  writ people confirm-stand-in 1c2d0000-0000-4000-8000-000000000000
  writ people end-stand-in 1c2d0000-0000-4000-8000-000000000000
`;

export function defineStandIns(command: Command, finish: Finish): void {
  withApiOptions(command.command('stand-ins').description('list the stand-ins that you may see')).action(
    async (options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          const list = await api.get<Reply<'listStandIns'>>('/v1/stand-ins');
          show(options, list, ({ items }) =>
            print(items.length === 0 ? 'no stand-ins\n' : standInTable(items)),
          );
        }),
      );
    },
  );
  withApiOptions(command.command('stand-in'))
    .description(
      'name a stand-in, who votes in your place for one of your groups once an admin has confirmed it',
    )
    .argument('<person>', 'the e-mail address or id of an approver outside of the group')
    .requiredOption('--group <group>', 'your group')
    .requiredOption('--until <time>', 'the end, at most 90 days away; RFC 3339')
    .action(async (person: string, options: NameOptions) => {
      const { group, until } = options;
      finish(
        await withApi(options, async (api) => {
          const body = { stand_in: person, group, until };
          const named = await api.post<StandIn>('/v1/stand-ins', body);
          show(options, named, (one) => print(standInTable([one])));
        }),
      );
    });
  withApiOptions(
    command.command('confirm-stand-in').description('confirm a stand-in, which counts from then on'),
  )
    .argument('<id>', 'the id, from `stand-ins`')
    .action(async (id: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          const confirmed = await api.post<StandIn>(`/v1/stand-ins/${step(id)}/confirm`);
          show(options, confirmed, (one) => print(standInTable([one])));
        }),
      );
    });
  withApiOptions(command.command('end-stand-in').description('end a stand-in'))
    .argument('<id>', 'the id, from `stand-ins`')
    .action(async (id: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          await api.delete(`/v1/stand-ins/${step(id)}`);
          show(options, { id, status: 'ended' }, () => print(`${id} has ended\n`));
        }),
      );
    });
}

function standInTable(items: readonly StandIn[]): string {
  return table(
    ['id', 'group', 'person', 'stand-in', 'until', 'confirmed'],
    items.map(({ id, group, person, stand_in, until, confirmed_by }) => [
      ...[id, group, person.email, stand_in.email, localTime(until), confirmed_by ?? 'not yet'],
    ]),
  );
}
