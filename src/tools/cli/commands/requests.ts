// `writ requests`: what agents have asked a running service for, and how it stands.

import { type Command, Option } from 'commander';
import { requestStatuses } from '../../../service/store/contract/records.ts';
import {
  type ApiOptions,
  apiHelp,
  type Page,
  printRest,
  show,
  step,
  table,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { type ExitCode, print } from '../output/output.ts';
import { requestText, type ShownRequest } from '../tasks/request-text.ts';

interface ListOptions extends ApiOptions {
  readonly status?: string;
  readonly agent?: string;
  readonly action?: string;
  readonly policy?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly cursor?: string;
}

export function defineRequests(command: Command, finish: (code: ExitCode) => void): void {
  withApiOptions(command)
    .addOption(new Option('--status <status>', 'only those that stand so').choices(requestStatuses))
    .option('--agent <id>', 'only those of an agent')
    .option('--action <key>', 'only those for an action')
    .option('--policy <name>', 'only those that a policy decided')
    .option('--from <time>', 'only those from this moment on')
    .option('--to <time>', 'only those before this moment')
    .option('--limit <count>', 'how many at most: 1 to 200')
    .option('--cursor <cursor>', 'go on where the list before ended')
    .addHelpText('after', examples + apiHelp)
    .action(async (options: ListOptions) => {
      const { status, agent, action, policy, from, to, limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const query = { status, agent, action, policy, from, to, limit, cursor };
          const page = await api.get<Page<ShownRequest>>('/v1/requests', query);
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no requests\n' : requestTable(items));
            printRest(page);
          });
        }),
      );
    });
  withApiOptions(command.command('show').description('show one request'))
    .argument('<id>')
    .action(async (id: string, _own: unknown, own: Command) => {
      // The command above has options of the same names, and takes their values.
      const options = own.optsWithGlobals<ApiOptions>();
      finish(
        await withApi(options, async (api) => {
          const request = await api.get<ShownRequest>(`/v1/requests/${step(id)}`);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
}

const examples = `
Examples:
  writ requests --status pending
  writ requests --agent a9e27000-0000-4000-8000-000000000000 --from 2026-03-01
  writ requests show 019a0000-0000-7000-8000-000000000000
`;

function requestTable(items: readonly ShownRequest[]): string {
  return table(
    ['id', 'at', 'agent', 'action', 'decision', 'status', 'risk', 'until'],
    items.map((one) => [
      ...[one.request_id, one.created_at, one.agent.name ?? '', one.action_key, one.decision, one.status],
      ...[String(one.risk_score), one.expires_at],
    ]),
  );
}
