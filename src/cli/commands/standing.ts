// `writ standing`: lists the standing approvals of a running service, and revokes one.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import {
  type ApiOptions,
  apiHelp,
  type Page,
  printRest,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print } from '../output/output.ts';
import { markForeignLetters, table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';

interface ListOptions extends ApiOptions {
  readonly agent?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

type StandingView = Reply<'getStandingApproval'>;

export function defineStanding(command: Command, finish: (code: ExitCode) => void): void {
  addExamples(command, examples + apiHelp);
  withApiOptions(command.command('list').description('list standing approvals, newest first'))
    .option('--agent <id>', 'only those of this agent')
    .option('--limit <count>', 'maximum number of entries, 1 to 200')
    .option('--cursor <cursor>', 'the cursor from the previous page')
    .action(async (options: ListOptions) => {
      const { agent, limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const page = await api.get<Page<StandingView>>('/v1/standing-approvals', { agent, limit, cursor });
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no standing approvals\n' : table(columns, items.map(rowOf)));
            printRest(page);
          });
        }),
      );
    });
  withApiOptions(command.command('revoke').description('end a standing approval at once'))
    .argument('<id>', 'the id, as `list` shows it')
    .action(async (id: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          const path = `/v1/standing-approvals/${step(id)}/revoke`;
          const revoked = await api.post<StandingView>(path, {});
          show(options, revoked, () => print(`${revoked.id} is revoked\n`));
        }),
      );
    });
}

const columns = ['id', 'agent', 'rule', 'for', 'until', 'used', 'state'] as const;

function rowOf(one: StandingView): readonly string[] {
  const keys = one.per.map(({ key, value }) => `${key} ${JSON.stringify(value)}`);
  return [
    ...[one.id, markForeignLetters(one.agent), one.rule],
    markForeignLetters(keys.length === 0 ? 'the agent' : keys.join(', ')),
    ...[localTime(one.until), `${one.used ?? '?'}${one.times === null ? '' : ` of ${one.times}`}`],
    one.ended === null ? 'active' : `ended: ${one.ended}`,
  ];
}

const examples = `
Examples:
  writ standing list
  writ standing list --agent a9e27000-0000-4000-8000-000000000000
  writ standing revoke 3d1f0c52-8a07-4b1e-9b7d-2f7a8c6e5d40
`;
