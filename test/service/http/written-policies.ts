// Replaces the policies that a test's service was started with.

import { dirname } from 'node:path';
import { putText } from './kept-policies.ts';
import type { Answer, Client } from './person-client.ts';
import { authorize, type Service } from './service.ts';

/** Writes the policies; resolves when they are active. */
export async function usePolicies(service: Service, text: string): Promise<void> {
  putText(dirname(dirname(service.policyFile)), text);
  await service.policies.reload();
  const { failure } = service.policies.state();
  if (failure !== null) throw new Error(failure.text);
  await service.takeMeters();
}

export interface View {
  readonly request_id: string;
  readonly decision: string;
  readonly status: string;
  readonly message: string;
  readonly expires_at: string;
}

export interface Asking {
  readonly payload?: object;
  readonly headers?: Readonly<Record<string, string>>;
  readonly key?: string;
}

/** Asks for a decision; throws when the reply is no decision. */
export async function ask(service: Service, action: string, sent: Asking = {}): Promise<View> {
  const { payload = { amount: 5 }, headers = {}, key = service.apiKey } = sent;
  const body = JSON.stringify({ action_key: action, payload });
  const reply = await authorize(service, { body, headers, key });
  if (reply.status !== 200) throw new Error(await reply.text());
  return (await reply.json()) as View;
}

/** A request as its agent sees it. */
export async function look(service: Service, id: string): Promise<Answer> {
  const headers = { 'x-agent-api-key': service.apiKey };
  const reply = await fetch(`${service.url}/v1/requests/${id}`, { headers });
  return { status: reply.status, headers: reply.headers, body: await reply.json() };
}

export function give(
  client: Client,
  id: string,
  word: 'approve' | 'reject',
  group?: string,
): Promise<Answer> {
  const body = { comment: 'looked at', ...(group === undefined ? {} : { group }) };
  return client.send(`/v1/requests/${id}/${word}`, { method: 'POST', body });
}

/** The HTTP status with the error's code, or with the status of the request when there is no error. */
export function codeOf({ status, body }: Answer): readonly [number, string] {
  return [status, body.type?.replace('urn:writ:error:', '') ?? body.status];
}
