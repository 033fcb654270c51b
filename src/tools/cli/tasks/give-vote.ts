// Gives one person's vote on a request that waits, for `writ approve` and `writ reject`.

import type { Command } from 'commander';
import { type ApiOptions, apiHelp, show, step, withApi, withApiOptions } from '../client/api-client.ts';
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { requestText, type ShownRequest } from './request-text.ts';

interface VoteOptions extends ApiOptions {
  readonly comment?: string;
  readonly group?: string;
}

export function defineVote(
  command: Command,
  vote: 'approve' | 'reject',
  finish: (code: ExitCode) => void,
): void {
  withApiOptions(command)
    .argument('<id>', 'the id of the request, as `writ requests` shows it')
    .option('--comment <text>', 'why; required, and recorded with your vote')
    .option('--group <group>', 'the group you vote for, where the request waits for several of yours')
    .addHelpText(
      'after',
      `\nExample:\n  writ ${vote} 019a0000-0000-7000-8000-000000000000 --comment "${example[vote]}"\n${apiHelp}`,
    )
    .action(async (id: string, options: VoteOptions) => {
      const { comment, group } = options;
      // The comment is not a required option, because the parser would name a missing comment before a
      // missing id.
      if (comment === undefined) throw new UsageError('say why: --comment TEXT is recorded with your vote');
      finish(
        await withApi(options, async (api) => {
          const body = { comment, ...(group === undefined ? {} : { group }) };
          const request = await api.post<ShownRequest>(`/v1/requests/${step(id)}/${vote}`, body);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
}

const example = { approve: 'the invoice is right', reject: 'we do not know this vendor' } as const;
