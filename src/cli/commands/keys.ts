// `writ keys`: lists and rotates the keys by which a running service signs receipts.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { type ApiOptions, apiHelp, show, withApi, withApiOptions } from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print } from '../output/output.ts';
import { table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';

type KeysView = Reply<'listReceiptKeys'>;

export function defineKeys(command: Command, finish: (code: ExitCode) => void): void {
  addExamples(
    command,
    `\nExamples:\n  writ keys list\n  writ keys rotate\n  writ keys rotate --at-once\n${apiHelp}`,
  );
  withApiOptions(command.command('list').description('list the published keys, newest first')).action(
    async (options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          show(options, await api.get<KeysView>('/v1/receipt-keys'), showKeys);
        }),
      );
    },
  );
  withApiOptions(command.command('rotate'))
    .description('publish a new key, which starts to sign after one day')
    .option('--at-once', 'withdraw a leaked key and sign with the new one now')
    .action(async (options: ApiOptions & { readonly atOnce?: boolean }) => {
      finish(
        await withApi(options, async (api) => {
          const body = options.atOnce === true ? { immediately: true } : {};
          show(options, await api.post<KeysView>('/v1/receipt-keys', body), showKeys);
        }),
      );
    });
}

function showKeys({ items }: KeysView): void {
  print(
    table(
      ['key', 'signs from'],
      items.map(({ kid, signs_from }) => [
        kid,
        Date.parse(signs_from) === 0 ? 'the beginning' : localTime(signs_from),
      ]),
    ),
  );
}
