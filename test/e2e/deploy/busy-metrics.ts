// What `/metrics` shows of a service in which everything has happened that a metric counts.

import { writeFileSync } from 'node:fs';
import { onTestFinished } from 'vitest';
import { type Alert, alertsOf } from '../../../src/service/alerts/alert.ts';
import { openTracing } from '../../../src/service/http/telemetry/tracing.ts';
import { createDirectory } from '../../../src/service/people/directory.ts';
import { noteBackup } from '../../../src/service/store/move/placement.ts';
import { firstAdmin, send, tokenClient } from '../../service/http/person-client.ts';
import { authorize, policyText, type Service, startService } from '../../service/http/service.ts';
import { siemSettings } from '../../service/siem/stream.ts';

const policies = `${policyText}
action web.fetch { ... } result { bytes: integer }
policy web on web.fetch { allow all }
`;

const alert: Alert = {
  id: '0f7bcb19-3f0a-4e41-8c7b-8f7d7e0d4c11',
  ruleId: 'refusals',
  name: 'Many refusals',
  kind: 'refusals',
  threshold: 1,
  windowMinutes: 5,
  code: null,
  mailRoles: [],
  webhookIds: [],
  value: 2,
  createdAtMs: 1_700_000_000_000,
  metAtMs: 1_700_000_000_000,
  overAtMs: null,
  endsAtMs: null,
};

/** The metrics; the service, and the tracing that it uses, end with the test. */
export async function busyMetrics(): Promise<string> {
  // Port 9 belongs to the discard service, which nobody runs.
  const tracing = openTracing({
    address: 'http://127.0.0.1:9/v1/traces',
    log: { warn: () => undefined },
    exportTimeoutMs: 100,
    retryMs: 1,
  });
  onTestFinished(() => tracing.close());
  const siem = siemSettings({ url: 'https://127.0.0.1:9/' });
  const service = await startService({ startsWith: policies, isInFile: true, tracing, siem });
  await happen(service);
  return await (await fetch(`${service.url}/metrics`)).text();
}

async function happen(service: Service): Promise<void> {
  const operator = await tokenClient(service, await firstAdmin(service));
  const body = { scope: 'area:other', reason: 'a drill' };
  await operator.send('/v1/kill-switches', { method: 'POST', body });
  for (const action of ['demo.allow', 'demo.deny', 'demo.escalate'])
    await authorize(service, { body: JSON.stringify({ action_key: action, payload: {} }) });
  await authorize(service, { body: '{' });
  await fetchWithoutResult(service);
  writeFileSync(service.policyFile, policies.replace('+7', '+8'));
  await service.policies.reload();
  await noteBackup(service.store, 1_700_000_000_000);
  const directory = createDirectory(service.store.documents, Date.now);
  await directory.documents.write([alertsOf(directory).put(alert, 0)], null);
}

/** Reports a call without the result that its action declares. */
async function fetchWithoutResult(service: Service): Promise<void> {
  const granted = await authorize(service, { body: '{"action_key":"web.fetch","payload":{}}' });
  const { request_id: id } = (await granted.json()) as { readonly request_id: string };
  await send(service, `/v1/requests/${id}/outcome`, {
    method: 'POST',
    body: { executed: true },
    headers: { 'x-agent-api-key': service.apiKey },
  });
}
