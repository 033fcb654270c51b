// Tells of changes of access: by mail to the people concerned, and to those who answer applications.
// INVARIANT: a link that lets somebody in is mailed to that person alone.

import { setImmediate as pause } from 'node:timers/promises';
import { type Alert, alertText, pageOfKind } from '../../alerts/alert.ts';
import type { AlertMessages } from '../../alerts/watch-alerts.ts';
import type { Directory } from '../../people/directory.ts';
import type { NoticeKind, Notify } from '../../people/notices.ts';
import { grantOf, type Role, roles } from '../../people/operations.ts';
import type { Application, Invitation, Person } from '../../people/person.ts';
import type { Mail } from '../../webhooks/mail.ts';
import { sanitizeForMail } from '../../webhooks/sanitize-text.ts';
import { oneLine } from './assignment-messages.ts';
import type { EventDeps } from './event-messages.ts';

// Finds everybody who has an active account. The accounts are read in parts, so that requests are served
// between two parts.

const peopleAtOnce = 200;

export async function activePeople({ people }: Pick<Directory, 'people'>): Promise<readonly Person[]> {
  const active: Person[] = [];
  let after: Person | null = null;
  for (;;) {
    const page = await people.list({ countMax: peopleAtOnce, after });
    active.push(...page.map(({ value }) => value).filter(({ status }) => status === 'active'));
    if (page.length < peopleAtOnce) return active;
    after = page.at(-1)?.value ?? null;
    await pause();
  }
}

/** Called when access changes, to tell the people concerned. */
export interface AccessEvents {
  invited(invitation: Invitation, secret: string): void;
  declined(application: Application): void;
  /** Somebody applies for access. */
  appliedFor(application: Application): void;
  /** An admin has made a link with which a person sets a new password. */
  resetLinkMade(person: Person, link: { readonly secret: string; readonly endsAtMs: number }): void;
  /** A change was made to how somebody signs in. */
  noticed: Notify;
}

export function createAccessEvents(deps: EventDeps): AccessEvents {
  const { publicUrl, dispatcher, mailer, onFailure } = deps;
  return {
    appliedFor: (application) => {
      const { id, createdAtMs: atMs, dueAtMs } = application;
      const words = `Someone applies for access to Writ. An answer is due by ${new Date(dueAtMs).toISOString()}.`;
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
        text: `An admin has created a link to set a new password. It works once, until ${new Date(endsAtMs).toISOString()}:\n\n${publicUrl}/reset#token=${secret}\n\nIf you did not ask for it, tell an admin.\n`,
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
  'recovery-codes-made': 'new recovery codes were created for your account',
  'recovery-code-used': 'a recovery code of your account was used',
  'password-changed': 'the password of your account was changed',
  'reset-link-made': 'an admin created a link that sets a new password for your account',
  'password-reset': 'the password of your account was changed with a link from an admin',
  'token-made': 'a personal token was created for your account',
  'chat-linked': 'a chat account was linked to your account',
};

/**
 * Turns an alert into the messages that tell of it: those for webhooks and chats, which are stored with the
 * alert, and mail.
 */
export function createAlertMessages(deps: EventDeps): (alert: Alert) => Promise<AlertMessages> {
  const { publicUrl, dispatcher, onFailure } = deps;
  return async (alert) => {
    const { id, name, kind, createdAtMs, overAtMs, mailRoles: rolesTold, webhookIds } = alert;
    const [from, to] = [createdAtMs, overAtMs ?? createdAtMs].map((ms) => new Date(ms).toISOString());
    const isOver = overAtMs !== null;
    const words = isOver
      ? `Ended: ${name}. It lasted from ${from} to ${to}.`
      : `Alert: ${name}. ${alertText(alert)}`;
    const page = `${publicUrl}${pageOfKind[kind]}`;
    const text = `${sanitizeForMail(words)}\n${page}\n`;
    const prepared = await dispatcher.prepare({
      type: isOver ? 'alert.over' : 'alert.began',
      id,
      text: words,
      page,
      links: { alerts: `${publicUrl}/v1/alerts` },
      to: webhookIds,
      atMs: overAtMs ?? createdAtMs,
    });
    const subject = `Writ: ${isOver ? 'over' : 'alert'}: ${oneLine(name)}`;
    return {
      writes: prepared.writes,
      taken: () => {
        prepared.taken();
        mailRoles(deps, rolesTold, { subject, text }).catch(onFailure);
      },
    };
  };
}

/** Sends one mail to every active person who has one of some roles. */
export async function mailRoles(
  { directory, mailer }: Pick<EventDeps, 'directory' | 'mailer'>,
  roles: readonly Role[],
  mail: Omit<Mail, 'to'>,
): Promise<void> {
  if (mailer === null || roles.length === 0) return;
  for (const person of await activePeople(directory))
    if (person.roles.some((role) => roles.includes(role))) mailer.post({ ...mail, to: person.email });
}
