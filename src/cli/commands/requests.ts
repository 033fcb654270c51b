// `writ requests`: lists the requests of a running service, shows one with its state, and sets who looks
// after it.

import { setTimeout as pause } from 'node:timers/promises';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { requestStatusText } from '../../api/request-status.ts';
import { escapeForTerminal } from '../../language/diagnostic/render.ts';
import { outcomes } from '../../language/model/decision.ts';
import { toNumber } from '../../language/value/decimal.ts';
import { isoTime } from '../../language/value/iso-time.ts';
import { parseDuration } from '../../language/value/time.ts';
import { filterStatuses } from '../../service/store/contract/records.ts';
import {
  type Api,
  ApiError,
  type ApiOptions,
  allItems,
  apiHelp,
  type Page,
  printRest,
  refuse,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print, printError, UsageError } from '../output/output.ts';
import { createTable, markForeignLetters, table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';
import { readMoment } from '../support/parse-time.ts';
import { type PrintedRequest, requestText } from '../support/request-text.ts';

// Follows the requests of a running service: fetches the new ones every second, and goes on after the service
// was away for a while. INVARIANT: each request is handed on once, the earlier ones first.

const everyMs = 1_000;
/** Milliseconds by which a request may become visible after a later one: replicas share no order. */
const lateMs = 10_000;
const firstCount = '20';

type Query = Readonly<
  Partial<Record<'status' | 'decision' | 'text' | 'agent' | 'action' | 'policy' | 'from' | 'limit', string>>
>;

/** Hands on requests as they arrive. Never resolves; rejects when the service refuses a call. */
export async function followRequests(
  api: Api,
  { status, decision, text, agent, action, policy, from, limit = firstCount }: Query,
  hand: (items: readonly PrintedRequest[]) => void,
): Promise<never> {
  const query = { status, decision, text, agent, action, policy };
  const handed = new Map<string, number>();
  let newestMs = 0;
  /** Time of the earliest request of the first page; earlier requests are of no interest. */
  let sinceMs = 0;
  let isAway = false;
  for (let isFirst = true; ; ) {
    try {
      const items = isFirst
        ? (await api.get<Page<PrintedRequest>>('/v1/requests', { ...query, from, limit })).items
        : await allItems<PrintedRequest>(api, '/v1/requests', {
            ...query,
            from: isoTime(Math.max(sinceMs, newestMs - lateMs)),
          });
      if (isAway) printError('the service answers again\n');
      isAway = false;
      if (isFirst) sinceMs = Date.parse(items.at(-1)?.created_at ?? '1970-01-01');
      isFirst = false;
      const fresh = items.filter((one) => !handed.has(one.request_id)).toReversed();
      for (const one of fresh) {
        handed.set(one.request_id, Date.parse(one.created_at));
        newestMs = Math.max(newestMs, Date.parse(one.created_at));
      }
      for (const [id, ms] of handed) if (ms < newestMs - lateMs) handed.delete(id);
      hand(fresh);
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isAway || isFirst) throw error;
      if (!isAway) printError(`${error.message} Trying again.\n`);
      isAway = true;
    }
    await pause(everyMs);
  }
}

/** A date or a time, as the service reads it. */
function readTime(text: string): string {
  return isoTime(readMoment(text));
}

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
      new Option('--status <status>', `only those with this status: ${filterStatuses.join(', ')}`).argParser(
        readStatus,
      ),
    )
    .addOption(
      new Option('--decision <decision>', 'only those with this original decision').choices(outcomes),
    )
    .option('--text <text>', 'only those with this text in id, action, agent, reason or payload')
    .option('--agent <id>', 'only those of this agent')
    .option('--action <key>', 'only those for this action')
    .option('--policy <name>', 'only those decided by this policy')
    .addOption(new Option('--from <time>', 'only those since this date or time').argParser(readTime))
    .addOption(new Option('--to <time>', 'only those before this date or time').argParser(readTime))
    .option('--limit <count>', 'maximum number of entries, 1 to 200')
    .option('--cursor <cursor>', 'the cursor from the previous page')
    .option('-f, --follow', 'keep running and print each new request, newest last')
    .action(async (options: ListOptions) => {
      if (options.follow === true) {
        finish(await withApi(options, (api) => follow(api, options)));
        return;
      }
      const { status, decision, text, agent, action, policy, from, to, limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const query = { status, decision, text, agent, action, policy, from, to, limit, cursor };
          const page = await api.get<Page<PrintedRequest>>('/v1/requests', query);
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no requests\n' : table(columns, items.map(rowOf)));
            printRest(page);
          });
        }),
      );
    });
  addExamples(command, examples + apiHelp);
  withApiOptions(command.command('show').description('show one request'))
    .argument('<id>')
    .action(async (id: string, _own: unknown, command: Command) => {
      // The parent command has options of the same names, and takes their values.
      const options = command.optsWithGlobals<ApiOptions>();
      finish(
        await withApi(options, async (api) => {
          const request = await api.get<PrintedRequest>(`/v1/requests/${step(id)}`);
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
  if ((filterStatuses as readonly string[]).includes(status)) return status;
  throw new InvalidArgumentError(`Allowed choices are ${filterStatuses.join(', ')}.`);
}

const examples = `
Examples:
  writ requests --status pending
  writ requests --status unanswered --text 'Staples "Q4 laptops"'
  writ requests --follow --decision DENY
  writ requests --agent a9e27000-0000-4000-8000-000000000000 --from 2026-03-01
  writ requests show 019a0000-0000-7000-8000-000000000000
  writ requests assign 019a0000-0000-7000-8000-000000000000 me
  writ requests snooze 019a0000-0000-7000-8000-000000000000 2h
`;

const columns = ['id', 'at', 'agent', 'action', 'about', 'decision', 'status', 'risk', 'until'] as const;

function rowOf(one: PrintedRequest): readonly string[] {
  return [
    ...[one.request_id, localTime(one.created_at), markForeignLetters(one.agent.name ?? '')],
    ...[one.action_key, markForeignLetters(one.title)],
    ...[one.decision, requestStatusText(one.status, one.decision).toLowerCase()],
    ...[String(one.risk_score), localTime(one.expires_at)],
  ];
}

/**
 * Prints the latest requests, then new ones as they arrive, until the command is interrupted. Prints JSON
 * Lines with `--json`.
 */
async function follow(api: Api, options: ListOptions): Promise<void> {
  if (options.cursor !== undefined || options.to !== undefined)
    throw new UsageError('--follow cannot be combined with --cursor or --to');
  const rows = createTable(columns);
  await followRequests(api, options, (items) => {
    if (options.json === true) for (const one of items) print(`${JSON.stringify(one)}\n`);
    else if (items.length > 0) print(rows(items.map(rowOf)));
  });
}

// `writ requests assign` and `writ requests snooze`: set who looks after a request that waits, and when the
// caller sees the request again. Neither command decides anything.

type Finish = (code: ExitCode) => void;

type RequestView = Reply<'getRequestAssignment'>;

export function defineAssign(command: Command, finish: Finish): void {
  withApiOptions(command.command('assign').description('assign a pending request to a person'))
    .argument('<id>')
    .argument('<person>', 'the name of a person who can decide it, `me`, or `nobody`')
    .action(async (id: string, person: string, _own: unknown, command: Command) => {
      finish(await withApi(command.optsWithGlobals<ApiOptions>(), (api) => assign(api, id, person)));
    });
}

async function assign(api: Api, id: string, person: string): Promise<void> {
  const path = `/v1/requests/${step(id)}`;
  if (person === 'nobody') {
    await api.delete(`${path}/assignment`);
    return print(`${id} is not assigned\n`);
  }
  const { people } = await api.get<RequestView>(`${path}/assignment`);
  const matches = people.filter((one) => (person === 'me' ? one.is_you : one.name === person));
  const [one] = matches;
  if (one === undefined || matches.length > 1) {
    const names = people.map(({ name, is_you }) => (is_you ? `${name} (me)` : name)).join(', ');
    const how = matches.length > 1 ? 'several people have this name' : 'nobody with this name can decide it';
    refuse(
      `${how}: ${people.length === 0 ? 'nobody can decide it' : `people who can: ${escapeForTerminal(names)}`}`,
    );
  }
  await api.post(`${path}/assignment`, { person: one.id });
  print(`${id} is assigned to ${escapeForTerminal(one.name)}\n`);
}

export function definePutOff(command: Command, finish: Finish): void {
  withApiOptions(command.command('snooze').description('hide a request from your inbox for a while'))
    .argument('<id>')
    .argument('<duration>', 'such as `30m`, `2h` or `1d`; `0s` shows it again')
    .action(async (id: string, duration: string, _own: unknown, command: Command) => {
      const seconds = readSeconds(duration);
      finish(await withApi(command.optsWithGlobals<ApiOptions>(), (api) => putOff(api, id, seconds)));
    });
}

function readSeconds(text: string): number {
  const duration = parseDuration(text);
  const seconds = duration === null ? Number.NaN : toNumber(duration);
  if (!(seconds >= 0)) throw new UsageError(`\`${text}\` is not a duration such as 30m, 2h or 1d`);
  return seconds;
}

async function putOff(api: Api, id: string, seconds: number): Promise<void> {
  const path = `/v1/requests/${step(id)}/snooze`;
  if (seconds === 0) {
    await api.delete(path);
    return print(`${id} is back in your inbox\n`);
  }
  const until = new Date(Date.now() + seconds * 1_000).toISOString();
  await api.post(path, { until });
  print(`${id} is hidden from your inbox until ${until}, or until it changes\n`);
}
