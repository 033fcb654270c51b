// A service whose policies ask people about payments, and the people: two of finance, one of legal, an
// auditor and an operator.

import { beforeAll } from 'vitest';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { type Service, shareService } from './service.ts';
import { usePolicies } from './written-policies.ts';

export const paymentPolicies = `
approvers finance "Finance"
approvers legal "Legal"
action pay.one, pay.two, pay.other, pay.soon { amount: number, ... }
policy pay on pay.* {
  allow all for 10m
  escalate one to finance within 24h when action.key == "pay.one"
  escalate two to finance needs 2 within 24h when action.key == "pay.two"
  escalate other to legal within 24h when action.key == "pay.other"
  escalate soon to finance within 9m when action.key == "pay.soon"
}
`;

interface PaymentsTeam {
  readonly service: () => Service;
  readonly person: (name: 'ann' | 'ben' | 'lea' | 'ada' | 'eve') => Client;
}

/** One team for all tests of a file. */
export function sharePaymentsTeam(clock: () => number): PaymentsTeam {
  const service = shareService({ clock });
  let people: Readonly<Record<Parameters<PaymentsTeam['person']>[0], Client>> | null = null;
  beforeAll(async () => {
    await usePolicies(service(), paymentPolicies);
    const admin = await firstAdmin(service());
    const finance = { roles: ['approver'], groups: ['finance'] } as const;
    people = {
      ann: await personWith(service(), admin, { email: 'anna@example.com', ...finance }),
      ben: await personWith(service(), admin, { email: 'ben@example.com', ...finance }),
      lea: await personWith(service(), admin, { email: 'lea@example.com', ...finance, groups: ['legal'] }),
      ada: await personWith(service(), admin, { email: 'ada@example.com', roles: ['auditor'] }),
      eve: await personWith(service(), admin, { email: 'eve@example.com', roles: ['operator'] }),
    };
  });
  return {
    service,
    person(name) {
      if (people === null) throw new Error('only for use inside a test');
      return people[name];
    },
  };
}
