// `writ requests`: lists the requests of a running service, shows one with its state, and sets who looks
// after it.

import { type Command, InvalidArgumentError, Option } from 'commander';
import { outcomes } from '../../language/model/decision.ts';
import { askedStatuses } from '../../service/store/contract/records.ts';
import {
  type Api,
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
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { createTable, markForeignLetters, table } from '../output/table.ts';
import { followRequests } from '../support/follow-requests.ts';
import { requestText, type ShownRequest } from '../support/request-text.ts';
import { defineAssign, definePutOff } from './requests-handling.ts';

interface ListOptions extends ApiOptions {
  readonly status?: string;
  readonly decision?: string;
  readonly text?: string;
  readonly agent?: string;
  readonly action?: string;
  readonly policy?: string;
  readonly from?: string;
  readonly to?: string;
  readonly limit?: string;
  readonly cursor?: string;
  readonly follow?: boolean;
}

export function defineRequests(command: Command, finish: (code: ExitCode) => void): void {
  withApiOptions(command)
    .addOption(
      new Option('--status <status>', `only those with this status: ${askedStatuses.join(', ')}`).argParser(
        readStatus,
      ),
    )
    .addOption(new Option('--decision <decision>', 'only those with this first decision').choices(outcomes))
    .option('--text <text>', 'only those with these words in id, action, agent, reason or payload')
    .option('--agent <id>', 'only those of an agent')
    .option('--action <key>', 'only those for an action')
    .option('--policy <name>', 'only those that a policy decided')
    .option('--from <time>', 'only those from this moment on')
    .option('--to <time>', 'only those before this moment')
    .option('--limit <count>', 'how many at most: 1 to 200')
    .option('--cursor <cursor>', 'the page that begins here, as the page before printed it')
    .option('-f, --follow', 'go on, and print each new request as it comes, the latest last')
    .addHelpText('after', examples + apiHelp)
    .action(async (options: ListOptions) => {
      if (options.follow === true) {
        finish(await withApi(options, (api) => follow(api, options)));
        return;
      }
      const { status, decision, text, agent, action, policy, from, to, limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const query = { status, decision, text, agent, action, policy, from, to, limit, cursor };
          const page = await api.get<Page<ShownRequest>>('/v1/requests', query);
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no requests\n' : table(columns, items.map(rowOf)));
            printRest(page);
          });
        }),
      );
    });
  withApiOptions(command.command('show').description('show one request'))
    .argument('<id>')
    .action(async (id: string, _own: unknown, own: Command) => {
      // The parent command has options of the same names, and takes their values.
      const options = own.optsWithGlobals<ApiOptions>();
      finish(
        await withApi(options, async (api) => {
          const request = await api.get<ShownRequest>(`/v1/requests/${step(id)}`);
          show(options, request, () => print(requestText(request)));
        }),
      );
    });
  defineAssign(command, finish);
  definePutOff(command, finish);
}

/** The dashboard's words for statuses that have another name in the API. */
const statusWords: Readonly<Record<string, string>> = {
  waiting: 'pending',
  allowed: 'auto_approved',
  denied: 'rejected',
  refused: 'rejected',
  used: 'consumed',
};

function readStatus(text: string): string {
  const word = text.toLowerCase().replaceAll('-', '_');
  const status = statusWords[word] ?? word;
  if ((askedStatuses as readonly string[]).includes(status)) return status;
  throw new InvalidArgumentError(`Allowed choices are ${askedStatuses.join(', ')}.`);
}

const examples = `
Examples:
  writ requests --status pending
  writ requests --status unanswered --text 'Staples "Q4 laptops"'
  writ requests --follow --decision DENY
  writ requests --agent a9e27000-0000-4000-8000-000000000000 --from 2026-03-01
  writ requests show 019a0000-0000-7000-8000-000000000000
  writ requests assign 019a0000-0000-7000-8000-000000000000 me
  writ requests put-off 019a0000-0000-7000-8000-000000000000 2h
`;

const columns = ['id', 'at', 'agent', 'action', 'about', 'decision', 'status', 'risk', 'until'] as const;

function rowOf(one: ShownRequest): readonly string[] {
  return [
    ...[one.request_id, localTime(one.created_at), markForeignLetters(one.agent.name ?? '')],
    ...[one.action_key, markForeignLetters(one.title)],
    ...[one.decision, one.status],
    ...[String(one.risk_score), localTime(one.expires_at)],
  ];
}

/**
 * Prints the latest requests, then new ones as they arrive, until the command is interrupted. Prints JSON
 * Lines with `--json`.
 */
async function follow(api: Api, options: ListOptions): Promise<void> {
  if (options.cursor !== undefined || options.to !== undefined)
    throw new UsageError('--follow has no end: leave out --cursor and --to');
  const rows = createTable(columns);
  await followRequests(api, options, (items) => {
    if (options.json === true) for (const one of items) print(`${JSON.stringify(one)}\n`);
    else if (items.length > 0) print(rows(items.map(rowOf)));
  });
}
