// `writ people setup-link`: makes a link for the person who has the data directory. While nobody has access,
// the link makes the first admin; after that, an admin sets a new password with it. INVARIANT: once there are
// people, the link lets in nobody but an active admin.

import type { Command } from 'commander';
import { createDirectory, type Directory } from '../../service/people/directory.ts';
import type { Person } from '../../service/people/person.ts';
import { rememberedAddress } from '../../service/people/service-address.ts';
import type { ApiOptions } from '../client/api-client.ts';
import { commandLineUser, type DataOption, withDataOption, withStore } from '../client/with-store.ts';
import { localTime } from '../output/local-time.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';

interface SetUpLinkOptions extends DataOption, ApiOptions {
  /** The mail address of the admin whose password the link sets. */
  readonly admin?: string;
  readonly removeSecondFactors?: boolean;
}

export function defineSetUpLink(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command.command('setup-link'))
    .description(
      "create the first admin's link or, later, a link to set an admin's new password; the old link stops working",
    )
    .option('--admin <address>', 'the admin; required if there are several')
    .option('--remove-second-factors', "the link also removes the admin's one-time codes and passkeys")
    .option(
      '--url <address>',
      'the address at which people reach the service (WRIT_URL; default: that of its last start)',
    )
    .option('--json', 'print the result as JSON')
    .action(async (options: SetUpLinkOptions) => {
      finish(
        await withStore(options, async ({ documents }) => {
          const directory = createDirectory(documents, Date.now);
          const { activeAdmins } = await resetLinks();
          const admins = await activeAdmins(directory);
          if (admins.length > 0) return await linkForAdmin(directory, admins, options);
          return await linkForFirstAdmin(directory, options);
        }),
      );
    });
}

/** Loaded when a link is made, because the help of `writ people` does without the packages of the service. */
function resetLinks() {
  return import('../../service/people/recovery/reset-links.ts');
}

async function linkForFirstAdmin(directory: Directory, options: SetUpLinkOptions): Promise<ExitCode> {
  if (options.admin !== undefined) throw new UsageError('no person has access yet: omit --admin');
  const { createSetUpLink } = await import('../../service/people/access.ts');
  const secret = await createSetUpLink(directory, { who: commandLineUser(), when: 'replace' });
  if (secret === null) throw new UsageError('there are people, but no active admin');
  const url = `${await baseOf(directory, options)}/setup#token=${secret}`;
  if (options.json === true) printJson({ url });
  else print(`${url}\n`);
  return exitCodes.ok;
}

async function linkForAdmin(
  directory: Directory,
  admins: readonly Person[],
  options: SetUpLinkOptions,
): Promise<ExitCode> {
  const { id: personId } = adminNamed(admins, options.admin);
  const maker = { kind: 'machine', user: commandLineUser() } as const;
  const draft = { personId, removesFactors: options.removeSecondFactors === true };
  const { makeResetLink } = await resetLinks();
  const result = await makeResetLink(directory, maker, draft);
  if (result.kind !== 'made') throw new UsageError('the admin was changed at the same time: try again');
  const { email } = result.person;
  const url = `${await baseOf(directory, options)}/reset#token=${result.secret}`;
  const endsAt = new Date(result.link.endsAtMs).toISOString();
  if (options.json === true) printJson({ url, email, ends_at: endsAt });
  else
    print(`${email} can set a new password with this link, once, until ${localTime(endsAt)}:\n\n  ${url}\n`);
  return exitCodes.ok;
}

function adminNamed(admins: readonly Person[], address: string | undefined): Person {
  const addresses = admins.map(({ email }) => email).join(', ');
  const admin = admins.find(({ email }) => email.toLowerCase() === address?.toLowerCase());
  if (admin !== undefined) return admin;
  if (address !== undefined) throw new UsageError(`no active admin has the address ${address}: ${addresses}`);
  const [only] = admins;
  if (only !== undefined && admins.length === 1) return only;
  throw new UsageError(`name the admin with --admin: ${addresses}`);
}

/** The address that is named; else that of the service, as its last start had it. */
async function baseOf(directory: Directory, { url }: ApiOptions): Promise<string> {
  const named = url ?? process.env.WRIT_URL ?? (await rememberedAddress(directory));
  return (named ?? 'http://localhost:8181').replace(/\/$/, '');
}
