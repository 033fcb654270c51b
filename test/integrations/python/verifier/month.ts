// A month of a real service as an auditor gets it: the export, the policy sets, receipts and their keys. The packs of
// `policies` decide; people approve, reject and take back; keys, agents and policies change.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rotateKey } from '../../../../src/service/agents/registry.ts';
import { decidingSets } from '../../../../src/service/audit/deciding-sets.ts';
import { exportRecords } from '../../../../src/service/audit/export.ts';
import { exportedSet } from '../../../../src/service/policies/bundles/exported-set.ts';
import { keptTexts } from '../../../../src/service/policies/policy-history.ts';
import type { Store } from '../../../../src/service/store/contract/store.ts';
import { firstAdmin, personWith } from '../../../service/http/person-client.ts';
import { authorize, type Service } from '../../../service/http/service.ts';
import { ask, give, usePolicies } from '../../../service/http/written-policies.ts';

const root = join(import.meta.dirname, '../../../..');
const packs = ['banking', 'coding', 'payments', 'slack'] as const;

/** The policies of all packs as one text; the list of a file is written out. */
export function packPolicies(): string {
  const texts = packs.map((pack) => readFileSync(join(root, `policies/${pack}/${pack}.policy`), 'utf8'));
  const blocked = readFileSync(join(root, 'policies/payments/lists/blocked-vendors.txt'), 'utf8');
  const entries = blocked.split('\n').filter((line) => line !== '');
  return texts.join('\n').replace('from "lists/blocked-vendors.txt"', `= ${JSON.stringify(entries)}`);
}

interface LoggedRequest {
  readonly action_key: string;
  readonly payload: Readonly<Record<string, unknown>>;
}

/** One of so many requests of the logs of each pack. */
function loggedRequests(every: number): readonly LoggedRequest[] {
  return packs.flatMap((pack) =>
    readFileSync(join(root, `policies/${pack}/requests.jsonl`), 'utf8')
      .trimEnd()
      .split('\n')
      .filter((_, at) => at % every === 0)
      .map((line) => JSON.parse(line) as LoggedRequest),
  );
}

export interface Month {
  /** Lines of the export, each with its line end. */
  readonly lines: readonly string[];
  /** The files of the policy sets by their digest. */
  readonly sets: ReadonlyMap<string, string>;
  readonly masterKey: Uint8Array;
  /** The receipt of a grant, and the keys of receipts as the service publishes them. */
  readonly receipt: string;
  readonly jwks: string;
}

const pay = { currency: 'USD', vendor: 'Staples', description: 'paper' };

/** Records a month at a service with these policies, with one of so many requests of the packs' logs. */
export async function recordMonth(service: Service, every: number): Promise<Month> {
  await service.takeMeters();
  for (const { action_key, payload } of loggedRequests(every)) {
    const reply = await authorize(service, { body: JSON.stringify({ action_key, payload }) });
    const { status, request_id } = (await reply.json()) as { status: string; request_id: string };
    // An agent may have only so many pending requests.
    if (status === 'pending') await post(service, `/v1/requests/${request_id}/withdraw`, {});
  }
  await decideByPeople(service);
  await usePolicies(
    service,
    packPolicies().replace('let small_limit = 1_000 USD', 'let small_limit = 900 USD'),
  );
  for (const amount of [950, 1, 10_001])
    await ask(service, 'payment.create', { payload: { ...pay, amount } });
  const receipt = await grantWithReceipt(service);
  await changeAgent(service);
  const jwks = await (await fetch(`${service.url}/.well-known/jwks.json`)).text();
  return { ...(await exported(service.store)), masterKey: service.store.masterKey, receipt, jwks };
}

/** Requests that people approve, reject, take back, and whose grants are used. */
async function decideByPeople(service: Service): Promise<void> {
  const admin = await firstAdmin(service);
  const finance = { roles: ['approver'], groups: ['finance'] } as const;
  const ben = await personWith(service, admin, { email: 'ben@example.com', ...finance });
  const lea = await personWith(service, admin, { email: 'lea@example.com', ...finance });
  const ids: string[] = [];
  for (const amount of [1501, 1502, 1503, 1504, 1505])
    ids.push((await ask(service, 'payment.create', { payload: { ...pay, amount } })).request_id);
  const [approved = '', rejected = '', half = '', taken = '', withdrawn = ''] = ids;
  for (const [person, id, word] of [
    [ben, approved, 'approve'],
    [lea, approved, 'approve'],
    [ben, rejected, 'reject'],
    [ben, half, 'approve'],
    [ben, taken, 'approve'],
    [lea, taken, 'approve'],
  ] as const) {
    const { status, body } = await give(person, id, word);
    if (status !== 200) throw new Error(JSON.stringify(body));
  }
  await ben.send(`/v1/requests/${half}/revoke-approval`, { method: 'POST', body: {} });
  await authorize(service, {
    body: JSON.stringify({ action_key: 'payment.create', payload: { ...pay, amount: 1504 } }),
    headers: { prefer: 'attach' },
  });
  await post(service, `/v1/requests/${taken}/outcome`, { executed: true });
  await post(service, `/v1/requests/${withdrawn}/withdraw`, {});
}

async function grantWithReceipt(service: Service): Promise<string> {
  const body = JSON.stringify({ action_key: 'banking.get_balance', payload: {} });
  const reply = await authorize(service, { body, headers: { prefer: 'receipt' } });
  const receipt = reply.headers.get('writ-receipt');
  if (receipt === null) throw new Error('there is no receipt');
  return receipt;
}

/** A new key, which is used, and a time in which the agent is disabled. */
async function changeAgent(service: Service): Promise<void> {
  const { store, agent } = service;
  const rotated = await rotateKey(store, { agentId: agent.id, graceMs: 0, nowMs: Date.now() });
  if (rotated.kind !== 'rotated') throw new Error(rotated.kind);
  for (const status of ['disabled', 'active'] as const)
    await store.agents.setStatus({ agentId: agent.id, status, atMs: Date.now() });
  await ask(service, 'banking.get_balance', { payload: {}, key: rotated.apiKey });
}

async function post({ url, apiKey }: Service, path: string, body: object): Promise<void> {
  const headers = { 'x-agent-api-key': apiKey, 'content-type': 'application/json' };
  const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
}

/** What `writ audit export --policies` writes. */
async function exported(store: Store): Promise<Pick<Month, 'lines' | 'sets'>> {
  const lines: string[] = [];
  const digests = new Set<string>();
  const onRecord = (entry: Parameters<typeof decidingSets>[0]) => {
    for (const digest of decidingSets(entry)) digests.add(digest);
  };
  for await (const line of exportRecords(store, { format: 'jsonl', onRecord })) lines.push(line);
  const sets = new Map<string, string>();
  for (const digest of digests) {
    const texts = await keptTexts(store.documents, digest);
    const file = texts === null ? null : exportedSet(texts, digest);
    if (file === null) throw new Error(`the set ${digest} cannot be exported`);
    sets.set(digest, file);
  }
  return { lines, sets };
}
