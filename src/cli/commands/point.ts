// `writ point`: manages the enforcement points of a running service, their agents and their keys.

import type { Command } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { isNamed } from '../agents/admin-http.ts';
import {
  type Api,
  type ApiOptions,
  allItems,
  apiHelp,
  refuse,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { createMarks, type ExitCode, print, UsageError } from '../output/output.ts';
import { printable, table } from '../output/table.ts';
import { type GraceOptions, graceMsOf, withGrace } from '../support/grace-period.ts';
import { addExamples } from '../support/help-layout.ts';

type Finish = (code: ExitCode) => void;

type PointView = Reply<'listEnforcementPoints'>['items'][number];

type WithKey = Reply<'registerEnforcementPoint'>;

export function definePoint(command: Command, finish: Finish): void {
  addExamples(command, examples + apiHelp);
  defineAdd(command, finish);
  defineList(command, finish);
  defineAssign(command, finish);
  defineRotate(command, finish);
  for (const word of ['disable', 'enable'] as const) defineStatus(command, word, finish);
  defineRevoke(command, finish);
}

const examples = `
Examples:
  writ point add "files proxy" --agent buyer-1 --agent buyer-2
  writ point assign "files proxy" --agent buyer-1
  writ point rotate "files proxy" --leaked
  writ point disable "files proxy"
  writ point enable "files proxy"
  writ point revoke "files proxy" --yes
  writ point list
`;

const pointArgument = ['<point>', 'its name or id'] as const;

function defineAdd(command: Command, finish: Finish): void {
  withApiOptions(command.command('add'))
    .description('register an enforcement point and print its key, which is shown only once')
    .argument('<name>', 'the displayed name')
    .option('--agent <agent...>', 'its agents, by name or id', [])
    .option('--may-release', 'its report of an unused grant removes the grant from the meters')
    .action(async (name: string, options: AddOptions) => {
      const body = { name, agents: options.agent, may_release: options.mayRelease === true };
      const run = async (api: Api): Promise<void> => {
        const made = await api.post<WithKey>('/v1/enforcement-points', body);
        show(options, made, () => printKey(made, 'is registered'));
      };
      finish(await withApi(options, run));
    });
}

interface AddOptions extends ApiOptions {
  readonly agent: readonly string[];
  readonly mayRelease?: boolean;
}

function defineList(command: Command, finish: Finish): void {
  withApiOptions(command.command('list').description('list the enforcement points')).action(
    async (options: ApiOptions) => {
      const run = async (api: Api): Promise<void> => show(options, await listPoints(api), printPoints);
      finish(await withApi(options, run));
    },
  );
}

function printPoints(points: readonly PointView[]): void {
  const rows = points.map(({ id, name, status, agents, last_seen_at: seen }) => [
    ...[
      name,
      status,
      agents.map((agent) => agent.name).join(', ') || '-',
      seen === null ? 'never' : localTime(seen),
      id,
    ],
  ]);
  if (points.length > 0) print(table(['NAME', 'STATUS', 'AGENTS', 'LAST SEEN', 'ID'], rows));
  else print('no enforcement points yet: `writ point add NAME --agent AGENT`\n');
}

function defineAssign(command: Command, finish: Finish): void {
  withApiOptions(command.command('assign'))
    .description("set a point's agents; the given agents replace all others")
    .argument(...pointArgument)
    .option('--agent <agent...>', 'the agents, by name or id')
    .option('--none', 'remove all agents')
    .action(async (name: string, options: AssignOptions) => {
      const { agent: agents = [], none } = options;
      if ((none === true) === agents.length > 0)
        throw new UsageError('name the agents with --agent, or use --none');
      const run = async (api: Api): Promise<void> => {
        const { id } = await findPoint(api, name);
        const point = await api.patch<PointView>(`/v1/enforcement-points/${step(id)}`, { agents });
        const names = point.agents.map((agent) => printable(agent.name)).join(', ');
        show(options, point, () => print(`${printable(point.name)} asks for ${names || 'no agent'}\n`));
      };
      finish(await withApi(options, run));
    });
}

interface AssignOptions extends ApiOptions {
  readonly agent?: readonly string[];
  readonly none?: boolean;
}

function defineRotate(command: Command, finish: Finish): void {
  withGrace(withApiOptions(command.command('rotate')))
    .description('create a new key, shown only once, and end the current one')
    .argument(...pointArgument)
    .action(async (name: string, options: ApiOptions & GraceOptions) => {
      const run = async (api: Api): Promise<void> => {
        const { id } = await findPoint(api, name);
        const body = { grace_seconds: graceMsOf(options) / 1_000 };
        const made = await api.post<WithKey & { old_keys_end_at: string }>(
          ...[`/v1/enforcement-points/${step(id)}/keys`, body],
        );
        show(options, made, () =>
          printKey(made, `has a new key; the old one expires at ${localTime(made.old_keys_end_at)}`),
        );
      };
      finish(await withApi(options, run));
    });
}

function printKey({ point, api_key }: WithKey, sentence: string): void {
  print(
    `${createMarks().good('✓')} ${printable(point.name)} ${sentence}, id ${point.id}\n\n  ${api_key}\n\n`,
  );
  print(
    'This is the only time the key is shown. The point sends it as X-Agent-API-Key, with X-Writ-Agent.\n',
  );
}

function defineStatus(command: Command, word: 'disable' | 'enable', finish: Finish): void {
  withApiOptions(command.command(word))
    .description(word === 'disable' ? 'refuse all requests by a point' : 'resume a disabled point')
    .argument(...pointArgument)
    .action(async (name: string, options: ApiOptions) => {
      const run = async (api: Api): Promise<void> => {
        const { id } = await findPoint(api, name);
        const point = await api.post<PointView>(`/v1/enforcement-points/${step(id)}/${word}`);
        show(options, point, () => print(`${printable(point.name)} is ${point.status}\n`));
      };
      finish(await withApi(options, run));
    });
}

function defineRevoke(command: Command, finish: Finish): void {
  withApiOptions(command.command('revoke'))
    .description('permanently refuse all requests by a point; you cannot undo this')
    .argument(...pointArgument)
    .option('--yes', 'confirm: this is permanent')
    .action(async (name: string, options: ApiOptions & { readonly yes?: boolean }) => {
      if (options.yes !== true)
        throw new UsageError('a revoked point can never be enabled again: add --yes to confirm');
      const run = async (api: Api): Promise<void> => {
        const enforcementPoint = await findPoint(api, name);
        const body = { name: enforcementPoint.name };
        const point = await api.post<PointView>(
          `/v1/enforcement-points/${step(enforcementPoint.id)}/revoke`,
          body,
        );
        show(options, point, () => print(`${printable(point.name)} is ${point.status}\n`));
      };
      finish(await withApi(options, run));
    });
}

async function listPoints(api: Api): Promise<readonly PointView[]> {
  const all = await allItems<PointView>(api, '/v1/enforcement-points');
  return all.toSorted((a, b) => (a.name < b.name ? -1 : 1));
}

async function findPoint(api: Api, idOrName: string): Promise<PointView> {
  const points = await listPoints(api);
  const point = points.find(({ id }) => id === idOrName) ?? points.find((one) => isNamed(one, idOrName));
  return point ?? refuse(`there is no enforcement point \`${idOrName}\``);
}
