// `writ replicas`: lists the processes that serve the same records as a running service.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { type ApiOptions, apiHelp, show, withApi, withApiOptions } from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print } from '../output/output.ts';
import { table } from '../output/table.ts';

type ReplicaList = Reply<'listReplicas'>;

export function defineReplicas(command: Command, finish: (code: ExitCode) => void): void {
  withApiOptions(command)
    .addHelpText('after', `\nExamples:\n  writ replicas\n  writ replicas --json\n${apiHelp}`)
    .action(async (options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          show(options, await api.get<ReplicaList>('/v1/replicas'), describe);
        }),
      );
    });
}

const digestLength = 12;

function describe({ policies, items, standbys, store }: ReplicaList): void {
  const heads = ['slot', 'replica', 'policies', 'has read', 'version', 'since', 'last seen'];
  print(
    table(
      heads,
      items.map((one) => [
        String(one.slot),
        one.is_self && items.length > 1 ? `${one.name} (this one)` : one.name,
        one.is_ready ? 'ready' : 'not ready',
        one.directory_digest?.slice(0, digestLength) ?? 'nothing',
        one.version,
        localTime(one.started_at),
        localTime(one.seen_at),
      ]),
    ),
  );
  const number = policies.activation === null ? '' : `, activation ${policies.activation}`;
  print(`the active policies are ${policies.digest?.slice(0, digestLength) ?? 'none'}${number}\n`);
  for (const { name, mode, lag_ms: lag } of standbys)
    print(
      `standby ${name}: ${mode ?? 'mode not visible'}${lag === null ? '' : `, ${Math.round(lag)} ms behind`}\n`,
    );
  if (store === 'postgres' && standbys.length === 0) print('the database has no standby\n');
}
