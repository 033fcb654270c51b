// A service whose policies let finance decide by chat up to a risk, its people, and their accounts in a chat.

import { expect, vi } from 'vitest';
import { claimLinkCode, confirmLink, createLinkCode } from '../../../src/service/people/chat-links.ts';
import { createDirectory, type Directory } from '../../../src/service/people/directory.ts';
import type { Person } from '../../../src/service/people/person.ts';
import type { ChatAccount } from '../../../src/service/store/contract/chat-account.ts';
import { type Client, firstAdmin, personWith } from '../http/person-client.ts';
import { type Service, type ServiceOptions, startService } from '../http/service.ts';
import { ask, look } from '../http/written-policies.ts';
import type { SlackServer } from './slack-server.ts';
import { botToken, signingSecret } from './slack-server.ts';

export const chatPolicies = `
approvers finance "Finance" by chat up to risk 40
approvers legal "Legal"
action pay.one, pay.two, pay.legal, pay.both, pay.step { vendor: string, amount: number, token?: secret string, ... }
policy pay on pay.* {
  allow all for 10m because "pay {payload.vendor}"
  escalate one to finance within 24h when action.key == "pay.one" and payload.amount >= 10 because "a person of finance looks at {payload.vendor}"
  escalate two to finance needs 2 within 24h when action.key == "pay.two"
  escalate law to legal within 24h when action.key == "pay.legal"
  escalate both to finance and legal within 24h when action.key == "pay.both"
  escalate step_first to finance within 24h when action.key == "pay.step"
  reauth step when action.key == "pay.step"
  risk large +60 when payload.amount > 1000
}
`;

export interface ChatPerson extends Client {
  readonly person: Person;
  readonly account: ChatAccount;
}

export interface ChatTeam {
  readonly service: Service;
  readonly directory: Directory;
  readonly admin: Person;
  readonly time: { nowMs: number };
  readonly ann: ChatPerson;
  readonly ben: ChatPerson;
  readonly lea: ChatPerson;
  /** Asks for an action; returns the id of the request. */
  readonly pay: (action?: string, payload?: object) => Promise<string>;
  readonly statusOf: (id: string) => Promise<string>;
}

export function slackSettings(slack: SlackServer) {
  const byGroup = new Map([['legal', 'CLEGAL']]);
  return { api: slack.url, botToken, signingSecret, channels: { byGroup, otherwise: 'CFINANCE' } };
}

/** Starts a service for one test; the clock moves with the test's `time`. */
export async function startTeam(
  settings: Partial<ServiceOptions>,
  accountOf: (name: string) => ChatAccount,
): Promise<ChatTeam> {
  const time = { nowMs: Date.now() };
  const service = await startService({
    startsWith: chatPolicies,
    clock: () => time.nowMs,
    chats: { everyMs: 25 },
    ...settings,
  });
  const directory = createDirectory(service.store.documents, () => time.nowMs);
  const admin = await firstAdmin(service);
  const join = async (name: string, groups: readonly string[]): Promise<ChatPerson> => {
    const email = `${name}@example.com`;
    const made = await personWith(service, admin, { email, roles: ['approver'], groups });
    const account = accountOf(name);
    await linkAccount(directory, made.person, account);
    return { ...made, account };
  };
  return {
    service,
    directory,
    admin,
    time,
    ann: await join('anna', ['finance']),
    ben: await join('ben', ['finance']),
    lea: await join('lea', ['legal']),
    pay: async (action = 'pay.one', payload = { vendor: 'Staples', amount: 20 }) =>
      (await ask(service, action, { payload })).request_id,
    statusOf: async (id) => (await look(service, id)).body.status,
  };
}

/** Tries again until the check passes; a machine may be slow. */
export async function waitFor<Found>(check: () => Found | Promise<Found>): Promise<Found> {
  return await vi.waitFor(check, 20_000);
}

/** Links an account as a person does: a code, its entry in the chat, and the confirmation. */
export async function linkAccount(directory: Directory, person: Person, account: ChatAccount): Promise<void> {
  const actor = { person, roles: person.roles };
  const made = await createLinkCode(directory, actor);
  if (made.kind !== 'made') throw new Error(made.kind);
  expect(await claimLinkCode(directory, made.code, { account, name: account.user })).toBe('claimed');
  expect(await confirmLink(directory, actor, made.draft.id)).toMatchObject({ kind: 'linked' });
}
