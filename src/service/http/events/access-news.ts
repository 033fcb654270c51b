// Tells of changes of access: by mail to the people concerned, and to those who answer applications.
// INVARIANT: a link that lets somebody in is mailed to that person alone.

import type { NoticeKind, Notify } from '../../people/notices.ts';
import { grantOf, roles } from '../../people/operations.ts';
import type { Application, Invitation, Person } from '../../people/person.ts';
import type { NewsDeps } from './news-deps.ts';
import { mailRoles } from './role-mail.ts';

/** Called when access changes, to tell the people concerned. */
export interface AccessNews {
  invited(invitation: Invitation, secret: string): void;
  declined(application: Application): void;
  /** Somebody applies for access. */
  appliedFor(application: Application): void;
  /** An admin has made a link with which a person sets a new password. */
  resetLinkMade(person: Person, link: { readonly secret: string; readonly endsAtMs: number }): void;
  /** A change was made to how somebody signs in. */
  noticed: Notify;
}

export function createAccessNews(deps: NewsDeps): AccessNews {
  const { publicUrl, dispatcher, mailer, onFailure } = deps;
  return {
    appliedFor: (application) => {
      const { id, createdAtMs: atMs, dueAtMs } = application;
      const words = `Somebody applies for access to Writ. An answer is due by ${new Date(dueAtMs).toISOString()}.`;
      const page = `${publicUrl}/access?tab=applications`;
      const links = { applications: `${publicUrl}/v1/applications` };
      dispatcher.emit({ type: 'application.made', id, links, text: words, page, atMs });
      const text = `${words}\n${page}`;
      mailRoles(deps, whoAnswers, { subject: 'Writ: an application for access', text }).catch(onFailure);
    },
    invited: ({ email, endsAtMs }, secret) =>
      mailer?.post({
        to: email,
        subject: 'Writ: your invitation',
        text: `You have been given access to Writ. Open this link to create your account. It works once, until ${new Date(endsAtMs).toISOString()}:\n\n${publicUrl}/invitation#token=${secret}\n`,
      }),
    noticed: ({ what, createdAtMs }, { email }) =>
      mailer?.post({
        to: email,
        subject: `Writ: ${noticeTexts[what]}`,
        text: `At ${new Date(createdAtMs).toISOString()} ${noticeTexts[what]}.\n\nIf it was not you, change your password at once, which ends all sessions and tokens, and tell an admin:\n${publicUrl}/account\n`,
      }),
    resetLinkMade: ({ email }, { secret, endsAtMs }) =>
      mailer?.post({
        to: email,
        subject: 'Writ: set a new password',
        text: `An admin has made a link by which you set a new password. It works once, until ${new Date(endsAtMs).toISOString()}:\n\n${publicUrl}/reset#token=${secret}\n\nIf you did not ask for it, tell an admin.\n`,
      }),
    declined: ({ email, answer }) =>
      mailer?.post({
        to: email,
        subject: 'Writ: your application',
        text: `Your application for access was declined:\n\n${answer ?? ''}\n`,
      }),
  };
}

const whoAnswers = roles.filter((role) => grantOf([role], 'applications.decide') === 'yes');

/**
 * What has happened, as the rest of a sentence; only the dashboard shows the names of passkeys and tokens.
 */
const noticeTexts: Readonly<Record<NoticeKind, string>> = {
  'passkey-added': 'a passkey was added to your account',
  'passkey-removed': 'a passkey was removed from your account',
  'codes-set-up': 'one-time codes were set up for your account',
  'codes-removed': 'one-time codes were removed from your account',
  'factors-reset': 'an admin has reset your one-time codes and passkeys',
  'recovery-codes-made': 'new recovery codes were made for your account',
  'recovery-code-used': 'a recovery code of your account was used',
  'password-changed': 'the password of your account was changed',
  'reset-link-made': 'an admin created a link that sets a new password for your account',
  'password-reset': 'the password of your account was changed by a link from an admin',
  'token-made': 'a personal token was made for your account',
};
