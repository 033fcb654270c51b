// One person's word on a request that waits: `writ approve` and `writ reject` are this under two names.

import type { Command } from 'commander';
import { type ApiOptions, apiHelp, show, step, withApi, withApiOptions } from '../client/api-client.ts';
import { type ExitCode, print } from '../output/output.ts';
import { requestText, type ShownRequest } from './request-text.ts';

interface DecideOptions extends ApiOptions {
  readonly comment: string;
  readonly group?: string;
}

export function defineDecision(
  command: Command,
  word: 'approve' | 'reject',
  finish: (code: ExitCode) => void,
): void {
  withApiOptions(command)
    .argument('<id>', 'of the request')
    .requiredOption('--comment <text>', 'why; it is recorded')
    .option('--group <group>', 'for which of your groups, where the request waits for more than one')
    .addHelpText(
      'after',
      `\nExample:\n  writ ${word} 019a0000-0000-7000-8000-000000000000 --comment "${example[word]}"\n${apiHelp}`,
    )
    .action(async (id: string, options: DecideOptions) => {
      const { comment, group } = options;
      finish(
        await withApi(options, async (api) => {
          const body = { comment, ...(group === undefined ? {} : { group }) };
          const request = await api.post<ShownRequest>(`/v1/requests/${step(id)}/${word}`, body);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
}

const example = { approve: 'the invoice is right', reject: 'we do not know this vendor' } as const;
