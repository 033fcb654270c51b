// Requests for the tests of requests and approvals: payments that are granted, that wait for one group or
// two, for a moment or for hours, or for the control owner; and payloads that try to be more than text.

import { expect } from 'vitest';
import { addAgent } from '../../../src/service/agents/registry.ts';
import { offerTotp } from '../../../src/service/people/codes.ts';
import type { Person } from '../../../src/service/people/person.ts';

import { firstAdmin, personWith, setUpCodes } from '../../service/http/person-client.ts';
import type { Service } from '../../service/http/service.ts';
import { ask, usePolicies, type View } from '../../service/http/written-policies.ts';

export const policies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.create { amount: number, vendor: string, fee?: money(currency), currency?: string, note?: string, token?: secret string, ... }
action pay.brief, pay.both, pay.owner, pay.large_own { ... }
meter spent = sum(payload.amount) of pay.create per session over 24h
policy pay on pay.create {
  allow small for 10m when payload.amount <= 100 because "Small"
  allow others for 10m when payload.amount > 100 because "Approved"
  escalate large to finance needs 2 within 4h when payload.amount > 100
    risk +30 because "Over 100 to {payload.vendor}"
  risk much +5 when payload.amount > 1000 and spent > 1000
  deny blocked when payload.vendor == "Shady" risk +70 because "Shady is blocked"
  shadow deny watched when payload.amount > 500
}
policy others on pay.brief, pay.both, pay.owner, pay.large_own {
  allow all for 10m
  escalate brief to finance within 6s when action.key == "pay.brief"
  escalate money to finance within 2h when action.key == "pay.both"
  escalate words to legal within 3h when action.key == "pay.both"
  escalate own to owner within 90m when action.key == "pay.large_own"
  reauth owner_says when action.key == "pay.owner"
}
`;

export interface Payments {
  /** The key of the agent whose control owner is Olga. */
  readonly ownKey: string;
  readonly olga: Person;
  /** The secret of Olga's authenticator. */
  readonly totpSecret: string;
  readonly ask: (action: string, payload: object, key?: string) => Promise<View>;
}

/**
 * Sets up the people: Ann is an admin, Ben and Cleo approve for finance, Dora for finance and legal, Olga
 * owns an agent.
 */
export async function payments(service: Service): Promise<Payments> {
  await usePolicies(service, policies);
  const admin = await firstAdmin(service);
  const approver = (email: string, groups: readonly string[]) =>
    personWith(service, admin, { email, roles: ['approver'], groups });
  await approver('ben@example.com', ['finance']);
  await approver('cleo@example.com', ['finance']);
  await approver('dora@example.com', ['finance', 'legal']);
  const { person: olga } = await personWith(service, admin, { email: 'olga@example.com', roles: ['owner'] });
  const { store } = service;
  const draft = { name: 'of-olga', riskTier: 'high', controlOwner: olga.email, tags: ['eu'] } as const;
  const added = await addAgent(store, draft);
  if (added.kind !== 'added') throw new Error(added.kind);
  return {
    ownKey: added.apiKey,
    olga,
    totpSecret: offerTotp(olga).secret,
    ask: (action, payload, key = service.apiKey) => ask(service, action, { payload, key }),
  };
}

/** Sets up Olga's one-time codes long enough ago that they can step up. */
export async function confirmCodes(service: Service, { olga, totpSecret: secret }: Payments): Promise<void> {
  const clock = () => Date.now() - 2 * 60 * 60_000;
  await setUpCodes(service, olga, { secret, clock });
}

/** Markup, a right-to-left text, a long text, and a secret. */
export const hostile = {
  amount: 1_800,
  vendor: '<img src=x onerror="document.title=`caught`">\u202Egnp.exe\u200B',
  note: `first line\namount: 5\n${'long '.repeat(2_000)}`,
  token: 'hunter2-hunter2',
  emoji: '👩‍👩‍👧 ok',
  'odd\u2066 key': { list: [1, null, true, []], '': '' },
};

/** Waits for a value of the page, with enough time for a busy machine. */
export function eventually<T>(look: () => Promise<T>) {
  return expect.poll(look);
}
