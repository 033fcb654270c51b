// Gives one person's vote on a pending request, for `writ approve` and `writ reject`. INVARIANT: a request with letters
// that may deceive is approved only by somebody who has seen them.

import type { Command } from 'commander';
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
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { printable } from '../output/table.ts';
import { deceptionLines, type PrintedRequest, requestText } from './request-text.ts';

interface VoteOptions extends ApiOptions {
  readonly comment?: string;
  readonly group?: string;
  readonly lettersChecked?: true;
}

export function defineVote(
  command: Command,
  vote: 'approve' | 'reject',
  finish: (code: ExitCode) => void,
): void {
  if (vote === 'approve')
    command.option('--letters-checked', 'confirm that you have checked the look-alike letters');
  withApiOptions(command)
    .argument('<id>', 'the request id, from `writ requests`')
    .option('--comment <text>', 'the reason; required and recorded')
    .option('--group <group>', 'the group that you vote for, if the request needs several of yours')
    .addHelpText(
      'after',
      `\nExample:\n  writ ${vote} 019a0000-0000-7000-8000-000000000000 --comment "${example[vote]}"\n${apiHelp}`,
    )
    .action(async (id: string, options: VoteOptions) => {
      const { comment, group } = options;
      // The comment is not a required option, because the parser would name a missing comment before a
      // missing id.
      if (comment === undefined)
        throw new UsageError('--comment TEXT is required: the reason, recorded with your vote');
      finish(
        await withApi(options, async (api) => {
          if (vote === 'approve' && options.lettersChecked !== true) await refuseDeceptive(api, id);
          const body = { comment, ...(group === undefined ? {} : { group }) };
          const request = await api.post<PrintedRequest>(`/v1/requests/${step(id)}/${vote}`, body);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
}

/** Refuses when the request contains letters that may deceive, and says which. */
async function refuseDeceptive(api: Api, id: string): Promise<void> {
  const request = await api.get<PrintedRequest>(`/v1/requests/${step(id)}`);
  if (request.status !== 'pending') return;
  const lines = deceptionLines(request).map((line) => `\n  ${line}`);
  if (lines.length === 0) return;
  refuse(
    printable(
      `not approved: the request may contain deceptive letters${lines.join('')}\nRead them with \`writ requests show\`; to approve anyway, add --letters-checked`,
    ),
  );
}

const example = { approve: 'the invoice is right', reject: 'we do not know this vendor' } as const;
