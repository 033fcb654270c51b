// A running service that takes tokens of workloads, an admin who maps them to agents, and callers with tokens.

import { expect, vi } from 'vitest';
import type { Person } from '../../../src/service/people/person.ts';
import type { KeyTiming } from '../../../src/service/users/issuer-keys.ts';
import type { WorkloadIssuer } from '../../../src/service/workloads/read-token.ts';
import { type Claims, type Issuer, makeToken, type SigningKey } from './issuer.ts';
import { type Answer, type Client, firstAdmin, tokenClient } from './person-client.ts';
import { type Service, type ServiceOptions, startService } from './service.ts';

export const audience = 'https://writ.example.com';
export const account = 'system:serviceaccount:payments:buyer';

const workloadPolicies = `
approvers finance "Finance"
action demo.pay, demo.ask { ... }
policy demo on demo.* {
  allow most for 10m
  escalate large to finance within 1h when action.key == "demo.ask"
  deny by_sub_agents when request.delegated unless request.chain starts with ["planner"]
}
`;

export function issuerSettings(
  { url }: Pick<Issuer, 'url'>,
  timing: Partial<KeyTiming> = {},
): WorkloadIssuer {
  const settings = { issuer: url, audience, keys: null, lifetimeSeconds: 3_600 };
  return { ...settings, timing: { leastMs: 10, everyMs: 600_000, ...timing } };
}

export interface WorkloadService {
  readonly service: Service;
  readonly admin: Client;
  /** The admin. */
  readonly person: Person;
  /** Maps tokens to the agent; by default those of `account` at the first issuer. */
  readonly map: (body?: Readonly<Record<string, unknown>>, agentId?: string) => Promise<Answer>;
}

export async function startWorkloadService(
  issuers: readonly WorkloadIssuer[],
  options: ServiceOptions = {},
): Promise<WorkloadService> {
  const service = await startService({ startsWith: workloadPolicies, agentIssuers: issuers, ...options });
  const person = await firstAdmin(service);
  const admin = await tokenClient(service, person);
  const map: WorkloadService['map'] = (body = {}, agentId = service.agent.id) =>
    admin.send(`/v1/agents/${agentId}/identities`, {
      method: 'POST',
      body: { issuer: issuers[0]?.issuer, required_claims: { sub: account }, ...body },
    });
  return { service, admin, person, map };
}

/** A token of the account for the service; the claims replace those of that token. */
export function workloadToken(issuer: string, key: SigningKey, claims: Claims = {}): Promise<string> {
  return makeToken(issuer, key, { claims: { sub: account, aud: audience, ...claims } });
}

export interface AskOptions {
  readonly scheme?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly action?: string;
}

export async function ask(
  { url }: Pick<Service, 'url'>,
  token: string,
  { scheme = 'Bearer', headers = {}, action = 'demo.pay' }: AskOptions = {},
) {
  const reply = await fetch(`${url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `${scheme} ${token}`, ...headers },
    body: JSON.stringify({ action_key: action, payload: { amount: 5 } }),
  });
  const body = (await reply.json()) as Readonly<Record<string, string>>;
  return {
    status: reply.status,
    code: body.type?.replace('urn:writ:error:', '') ?? body.decision ?? '',
    detail: body.detail ?? '',
    body,
    challenge: reply.headers.get('www-authenticate'),
  };
}

/** Asks until the keys of the issuer are known. */
export async function granted(service: Pick<Service, 'url'>, token: string) {
  return await vi.waitFor(async () => {
    const answer = await ask(service, token);
    expect(answer.code).toBe('ALLOW');
    return answer;
  });
}
