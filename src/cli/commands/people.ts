// `writ people`: manages who has access to a running service. Only `setup-link` works on the data directory itself.

import { type Command, Option } from 'commander';
import type { Reply } from '../../api/operations.ts';
import { roles } from '../../service/people/operations.ts';
import {
  type ApiOptions,
  apiHelp,
  type Page,
  printRest,
  serviceAddress,
  show,
  step,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, print, printError, UsageError } from '../output/output.ts';
import { table } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';
import { defineSetUpLink } from './setup-link.ts';
import { defineStandIns, standInExamples } from './stand-ins.ts';

type Finish = (code: ExitCode) => void;

type PersonView = Omit<Reply<'listPeople'>['items'][number], 'has_passkey'>;

type ApplicationView = Reply<'listApplications'>['items'][number];

type InvitationView = Reply<'createInvitation'>;

type ChangedPerson = Reply<'updatePerson'>;

type OpenInvitationView = Reply<'listInvitations'>['items'][number];

interface ListOptions extends ApiOptions {
  readonly limit?: string;
  readonly cursor?: string;
}

interface AccessOptions extends ApiOptions {
  readonly role?: readonly string[];
  readonly group?: readonly string[];
}

export function definePeople(command: Command, finish: Finish): void {
  addExamples(command, examples + apiHelp);
  defineLists(command, finish);
  defineInvite(command, finish);
  defineInvitations(command, finish);
  defineChange(command, finish);
  defineAnswers(command, finish);
  defineStandIns(command, finish);
  defineSetUpLink(command, finish);
}

const examples = `
Examples:
  writ people list
  writ people invite ben@example.com --name Ben --role approver --group finance
  writ people invitations
  writ people withdraw 1f7e0000-0000-4000-8000-000000000000
  writ people change b3f1c2d4-0000-4000-8000-000000000000 --role auditor
  writ people disable b3f1c2d4-0000-4000-8000-000000000000
  writ people enable b3f1c2d4-0000-4000-8000-000000000000
  writ people applications
  writ people grant c0ffee00-0000-4000-8000-000000000000 --role approver --group finance
  writ people decline c0ffee00-0000-4000-8000-000000000000 --reason "ask your own team first"
${standInExamples}  writ people setup-link --data ./var
  writ people setup-link --data ./var --admin ann@example.com --remove-second-factors
`;

function withPage(command: Command): Command {
  return withApiOptions(command)
    .option('--limit <count>', 'maximum number of entries, 1 to 200')
    .option('--cursor <cursor>', 'the cursor from the previous page');
}

function withAccess(command: Command): Command {
  return withApiOptions(command)
    .addOption(new Option('--role <role...>', 'the roles').choices(roles))
    .option('--group <group...>', "the approver's groups");
}

function defineLists(command: Command, finish: Finish): void {
  withPage(command.command('list').description('list the people')).action(async (options: ListOptions) => {
    const { limit, cursor } = options;
    finish(
      await withApi(options, async (api) => {
        const page = await api.get<Page<PersonView>>('/v1/people', { limit, cursor });
        show(options, page, ({ items }) => {
          print(items.length === 0 ? 'no people yet\n' : personTable(items));
          printRest(page);
        });
      }),
    );
  });
  withPage(command.command('applications').description('list applications for access')).action(
    async (options: ListOptions) => {
      const { limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const page = await api.get<Page<ApplicationView>>('/v1/applications', { limit, cursor });
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no applications\n' : applicationTable(items));
            printRest(page);
          });
        }),
      );
    },
  );
}

function defineInvite(command: Command, finish: Finish): void {
  withAccess(command.command('invite'))
    .description('invite someone and print their link, which is shown only once')
    .argument('<email>')
    .requiredOption('--name <name>', 'the displayed name')
    .action(async (email: string, options: AccessOptions & { readonly name: string }) => {
      const { name, role = [], group = [] } = options;
      finish(
        await withApi(options, async (api) => {
          const body = { email, name, roles: role, groups: group };
          const invitation = await api.post<InvitationView>('/v1/invitations', body);
          show(options, invitation, () => printInvitation(invitation, options));
        }),
      );
    });
}

function defineInvitations(command: Command, finish: Finish): void {
  withPage(command.command('invitations').description('list valid invitations')).action(
    async (options: ListOptions) => {
      const { limit, cursor } = options;
      finish(
        await withApi(options, async (api) => {
          const page = await api.get<Page<OpenInvitationView>>('/v1/invitations', { limit, cursor });
          show(options, page, ({ items }) => {
            print(items.length === 0 ? 'no valid invitations\n' : invitationTable(items));
            printRest(page);
          });
        }),
      );
    },
  );
  withApiOptions(
    command.command('withdraw').description('withdraw an invitation, so that its link stops working'),
  )
    .argument('<id>', 'the id, from `invitations`')
    .action(async (id: string, options: ApiOptions) => {
      finish(
        await withApi(options, async (api) => {
          await api.delete(`/v1/invitations/${step(id)}`);
          show(options, { id, status: 'withdrawn' }, () => print(`${id} is withdrawn\n`));
        }),
      );
    });
}

function defineChange(command: Command, finish: Finish): void {
  withAccess(command.command('change'))
    .description('change name, roles or groups; the given roles and groups replace all others')
    .argument('<id>', 'the id, from `list`')
    .option('--name <name>')
    .action(async (id: string, options: AccessOptions & { readonly name?: string }) => {
      const { name, role, group } = options;
      const change = {
        ...(name === undefined ? {} : { name }),
        ...(role === undefined ? {} : { roles: role }),
        ...(group === undefined ? {} : { groups: group }),
      };
      if (Object.keys(change).length === 0)
        throw new UsageError('nothing to change: use --name, --role or --group');
      finish(await patchPerson(id, change, options));
    });
  for (const [word, status, description] of [
    ['disable', 'disabled', "end a person's access immediately"],
    ['enable', 'active', "restore a person's access"],
  ] as const) {
    withApiOptions(command.command(word).description(description))
      .argument('<id>', 'the id, from `list`')
      .action(async (id: string, options: ApiOptions) => {
        finish(await patchPerson(id, { status }, options));
      });
  }
}

function patchPerson(id: string, change: object, options: ApiOptions): Promise<ExitCode> {
  return withApi(options, async (api) => {
    const person = await api.patch<ChangedPerson>(`/v1/people/${step(id)}`, change);
    show(options, person, () => {
      print(personTable([person]));
      printWarnings(person);
    });
  });
}

function defineAnswers(command: Command, finish: Finish): void {
  withAccess(command.command('grant'))
    .description('grant an application, as an invitation')
    .argument('<id>', 'the id, from `applications`')
    .action(async (id: string, options: AccessOptions) => {
      const { role = [], group = [] } = options;
      finish(
        await withApi(options, async (api) => {
          const body = { roles: role, groups: group };
          const path = `/v1/applications/${step(id)}/grant`;
          const invitation = await api.post<InvitationView>(path, body);
          show(options, invitation, () => printInvitation(invitation, options));
        }),
      );
    });
  withApiOptions(command.command('decline').description('decline an application'))
    .argument('<id>', 'the id, from `applications`')
    .requiredOption('--reason <text>', 'the reason for the applicant')
    .action(async (id: string, options: ApiOptions & { readonly reason: string }) => {
      finish(
        await withApi(options, async (api) => {
          const { reason } = options;
          const path = `/v1/applications/${step(id)}/decline`;
          const application = await api.post<ApplicationView>(path, { reason });
          show(options, application, ({ email }) => print(`the application of ${email} is declined\n`));
        }),
      );
    });
}

function printInvitation(invitation: InvitationView, options: ApiOptions): void {
  const { email, token, ends_at } = invitation;
  print(
    `${email} is invited until ${localTime(ends_at)}. Send them this link, which is shown only once:\n\n`,
  );
  print(`  ${serviceAddress(options)}/invitation#token=${token}\n`);
  printWarnings(invitation);
}

function printWarnings({ warnings }: { readonly warnings: readonly string[] }): void {
  for (const warning of warnings) printError(`warning: ${warning}\n`);
}

function personTable(items: readonly PersonView[]): string {
  return table(
    ['id', 'email', 'name', 'roles', 'groups', 'status'],
    items.map(({ id, email, name, roles: held, groups, status }) => [
      ...[id, email, name, held.join(','), groups.join(','), status],
    ]),
  );
}

function invitationTable(items: readonly OpenInvitationView[]): string {
  return table(
    ['id', 'email', 'name', 'roles', 'groups', 'ends'],
    items.map(({ id, email, name, roles: given, groups, ends_at }) => [
      ...[id, email, name, given.join(','), groups.join(','), localTime(ends_at)],
    ]),
  );
}

function applicationTable(items: readonly ApplicationView[]): string {
  return table(
    ['id', 'email', 'name', 'status', 'due', 'reason'],
    items.map(({ id, email, name, status, due_at, is_overdue, reason }) => [
      ...[id, email, name, is_overdue ? 'OVERDUE' : status, localTime(due_at), reason],
    ]),
  );
}
