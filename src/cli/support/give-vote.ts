// Gives one person's vote on a pending request, for `writ approve` and `writ reject`. INVARIANT: a request with letters
// that may deceive is approved only by somebody who has seen them.

import type { Command } from 'commander';
import { toNumber } from '../../language/value/decimal.ts';
import { parseDuration } from '../../language/value/time.ts';
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
  readonly standing?: true;
  readonly for?: string;
  readonly times?: string;
}

export function defineVote(
  command: Command,
  vote: 'approve' | 'reject',
  finish: (code: ExitCode) => void,
): void {
  if (vote === 'approve')
    command
      .option('--letters-checked', 'confirm that you have checked the look-alike letters')
      .option('--standing', 'approve later requests with equal keys, too, as the rule allows')
      .option('--for <duration>', 'with --standing: a shorter time, such as `2h`')
      .option('--times <count>', 'with --standing: a smaller number of requests');
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
          const body = {
            comment,
            ...(group === undefined ? {} : { group }),
            ...standingOf(options),
          };
          const request = await api.post<PrintedRequest>(`/v1/requests/${step(id)}/${vote}`, body);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
}

/** The choice of a standing approval, as the service reads it. */
function standingOf({ standing, for: duration, times }: VoteOptions): object {
  if (standing !== true) {
    if (duration === undefined && times === undefined) return {};
    throw new UsageError('--for and --times belong to --standing');
  }
  const seconds = duration === undefined ? null : parseDuration(duration);
  if (duration !== undefined && seconds === null)
    throw new UsageError(`\`${duration}\` is not a duration such as 30m, 2h or 1d`);
  if (times !== undefined && !/^[1-9]\d{0,8}$/.test(times))
    throw new UsageError(`\`${times}\` is not a number of requests`);
  return {
    standing: {
      ...(seconds && { until: new Date(Date.now() + toNumber(seconds) * 1000).toISOString() }),
      ...(times !== undefined && { times: Number(times) }),
    },
  };
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
