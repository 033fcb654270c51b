// `writ alerts`: lists the alerts of a running service, past and present, and shows and changes the rules
// that raise them.

import { type Command, InvalidArgumentError } from 'commander';
import type { Reply } from '../../api/operations.ts';
import {
  type Api,
  type ApiOptions,
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
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';

type AlertView = Reply<'listAlerts'>['items'][number];

type AlertRuleView = Reply<'listAlertRules'>['items'][number];

interface ListOptions extends ApiOptions {
  readonly on?: boolean;
  readonly limit?: string;
  readonly cursor?: string;
}

interface SetOptions extends ApiOptions {
  readonly threshold?: number;
  readonly minutes?: number;
  readonly on?: boolean;
  readonly off?: boolean;
}

export function defineAlerts(command: Command, finish: (code: ExitCode) => void): void {
  withApiOptions(command)
    .option('--on', 'only active alerts')
    .option('--limit <count>', 'maximum number of entries, 1 to 200')
    .option('--cursor <cursor>', 'the cursor from the previous page')
    .action(async (options: ListOptions) => {
      finish(await withApi(options, (api) => list(api, options)));
    });
  addExamples(command, examples + apiHelp);
  withApiOptions(command.command('rules').description('list the alert rules')).action(
    async (_own: unknown, command: Command) => {
      const options = command.optsWithGlobals<ApiOptions>();
      finish(
        await withApi(options, async (api) => {
          const rules = await api.get<Page<AlertRuleView>>('/v1/alert-rules');
          show(options, rules, ({ items }) => print(ruleTable(items)));
        }),
      );
    },
  );
  withApiOptions(command.command('set').description('change an alert rule'))
    .argument('<rule>', 'its id or name, from `writ alerts rules`')
    .option('--threshold <number>', 'threshold (for denials: a percentage)', readNumber)
    .option('--minutes <number>', 'the period in minutes', readNumber)
    .option('--off', 'turn the rule off')
    .option('--on', 'turn the rule on')
    .action(async (rule: string, _own: unknown, command: Command) => {
      const options = command.optsWithGlobals<SetOptions>();
      finish(await withApi(options, (api) => set(api, rule, options)));
    });
}

async function list(api: Api, options: ListOptions): Promise<void> {
  const { on, limit, cursor } = options;
  const page =
    on === true
      ? await api.get<Page<AlertView>>('/v1/alerts/active')
      : await api.get<Page<AlertView>>('/v1/alerts', { limit, cursor });
  show(options, page, ({ items }) => {
    print(items.length === 0 ? (on === true ? 'no active alerts\n' : 'no alerts\n') : alertTable(items));
    printRest(page);
  });
}

async function set(api: Api, rule: string, options: SetOptions): Promise<void> {
  const { threshold, minutes, on, off } = options;
  const change = {
    ...(threshold === undefined ? {} : { threshold }),
    ...(minutes === undefined ? {} : { window_minutes: minutes }),
    ...(off === true ? { active: false } : on === true ? { active: true } : {}),
  };
  if (Object.keys(change).length === 0)
    throw new UsageError('nothing to change: use --threshold, --minutes, --on or --off');
  const { items } = await api.get<Page<AlertRuleView>>('/v1/alert-rules');
  const alertRule = items.find(({ id, name }) => id === rule || name === rule);
  if (alertRule === undefined) refuse(`there is no rule \`${rule}\`: see \`writ alerts rules\``);
  const changed = await api.patch<AlertRuleView>(`/v1/alert-rules/${step(alertRule.id)}`, change);
  show(options, changed, (one) => print(ruleTable([one])));
}

function readNumber(text: string): number {
  if (/^\d{1,7}$/.test(text)) return Number(text);
  throw new InvalidArgumentError('Use a whole number.');
}

const examples = `
Examples:
  writ alerts --on
  writ alerts rules
  writ alerts set denials --threshold 30 --minutes 10
  writ alerts set "Kill switch on" --off
`;

function alertTable(items: readonly AlertView[]): string {
  return table(
    ['began', 'over', 'alert', 'what happened'],
    items.map(({ started_at: began, ended_at: over, name, text }) => [
      localTime(began),
      over === null ? 'active' : localTime(over),
      name,
      text,
    ]),
  );
}

function ruleTable(items: readonly AlertRuleView[]): string {
  return table(
    ['id', 'name', 'state', 'kind', 'threshold', 'minutes', 'mail to'],
    items.map((rule) => [
      rule.id,
      rule.name,
      rule.active ? 'on' : 'off',
      rule.code === null ? rule.kind : `${rule.kind} (${rule.code})`,
      rule.kind === 'denials' ? `${rule.threshold} %` : String(rule.threshold),
      String(rule.window_minutes),
      rule.mail_roles.join(', ') || 'nobody',
    ]),
  );
}
