// The title of a request, in one line, wherever people and programs see it.

import { expect, it } from 'vitest';
import { type Client, firstAdmin, personWith } from './person-client.ts';
import { recordOf, shareService } from './service.ts';
import { ask, usePolicies } from './written-policies.ts';

const policies = (title: string) => `
approvers finance "Finance"
action payment.create ${title} { amount: money(currency) 0.01.., currency: "USD", vendor: string, token?: secret string }
action note.write { path: string, text: string }
action mail.send "Mail to {to}" { to: email }
action web.open { link: url }
policy mails on mail.send, web.open { escalate all to finance within 1h because "people look at it" }
policy all on mail.send, web.open { allow any }
policy payments on payment.create {
  allow any
  escalate large to finance within 1h when payload.amount >= 10 USD
}
policy notes on note.write { allow all for 5m when payload.path != "" }
`;
const shared = shareService({ startsWith: policies('"Pay {amount} to {vendor}"') });

/** The title of each request on the newest page of the list, by id. */
async function titles(reader: Client): Promise<ReadonlyMap<string, string>> {
  const { body } = await reader.send('/v1/requests');
  const items: readonly { readonly request_id: string; readonly title: string }[] = body.items;
  return new Map(items.map((one) => [one.request_id, one.title]));
}

it('a title is in lists, the inbox, the request, the export and the record, and does not change', async () => {
  const service = shared();
  const admin = await firstAdmin(service);
  const groups = ['finance'];
  const reader = await personWith(service, admin, { email: 'eve@example.com', roles: ['auditor'] });
  const approver = await personWith(service, admin, {
    email: 'ben@example.com',
    roles: ['approver'],
    groups,
  });
  const sent = { amount: 4200, currency: 'USD', vendor: 'Staples\u202e', token: 'never shown' };
  const large = await ask(service, 'payment.create', { payload: sent });
  const small = await ask(service, 'payment.create', { payload: { ...sent, amount: 5, vendor: 'A, "B"' } });
  const about = 'Pay 4,200.00 USD to Staples\\u202e';
  // The title also reaches the agent and clients that wait with it, such as a client of the MCP proxy.
  expect(large.message).toMatch(/ before \S+\. It is about: Pay 4,200\.00 USD to Staples\\u202e\.$/);
  const found = await titles(reader);
  expect([found.get(large.request_id), found.get(small.request_id)]).toEqual([
    about,
    'Pay 5.00 USD to A, "B"',
  ]);
  // The amounts of the payload are read in the same way, wherever they stand in it.
  const amounts = `/v1/requests/${large.request_id}/amounts`;
  const told = { pointer: '/amount', value: 4200, text: '4,200.00 USD' };
  expect((await approver.send(amounts)).body).toEqual({ items: [told] });
  expect((await approver.send(`/v1/requests/${small.request_id}/amounts`)).status).toBe(404);
  const queue = (await approver.send('/v1/approvals')).body.items;
  expect(queue.map((one: { title: string }) => one.title)).toEqual([about]);
  expect((await approver.send(`/v1/requests/${large.request_id}`)).body).toMatchObject({ title: about });
  expect(await recordOf(service, large.request_id)).toMatchObject({ title: about });
  const csv = (await reader.send('/v1/requests/export?format=csv')).body as unknown as string;
  expect(csv).toContain(',"Pay 5.00 USD to A, ""B""",');
  await usePolicies(service, policies('"Transfer to {vendor}"'));
  expect((await titles(reader)).get(large.request_id)).toBe(about);
  const later = await ask(service, 'payment.create', { payload: { ...sent, vendor: 'X' } });
  expect((await titles(reader)).get(later.request_id)).toBe('Transfer to X');
  // The title is made of the first short fields when the action has no title, or when the payload does not
  // fit the action's shape.
  const long = { path: '/a', text: 'x'.repeat(100) };
  const note = await ask(service, 'note.write', { payload: long });
  const wrong = await ask(service, 'payment.create', { payload: { amount: 'much', vendor: 'Staples' } });
  const other = await ask(service, 'nobody.declared', { payload: {} });
  const shown = await titles(reader);
  expect([note, wrong, other].map((one) => shown.get(one.request_id))).toEqual([
    'path /a',
    'amount much, vendor Staples',
    '',
  ]);
  // Rules see paths, URLs, hosts and e-mail addresses in one spelling; the agent's is shown behind it.
  const mail = await ask(service, 'mail.send', { payload: { to: 'Pay@Example.COM' } });
  const link = await ask(service, 'web.open', { payload: { link: 'HTTPS://Example.com:443/a' } });
  const plain = await ask(service, 'mail.send', { payload: { to: 'pay@example.com' } });
  const spelled = await titles(reader);
  expect([mail, link, plain].map((one) => spelled.get(one.request_id))).toEqual([
    'Mail to Pay@example.com (given as "Pay@Example.COM")',
    'link https://example.com/a (given as "HTTPS://Example.com:443/a")',
    'Mail to pay@example.com',
  ]);
  expect(mail.message).toContain('It is about: Mail to Pay@example.com (given as "Pay@Example.COM").');
});
