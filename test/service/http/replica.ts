// A service that is one of several replicas of a database.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { openPolicies } from '../../../src/service/policies/policy-host.ts';
import { openReplicatedPolicies } from '../../../src/service/policies/replicated-policies.ts';
import { openStore } from '../../../src/service/store/open.ts';
import type { TestDatabase } from '../store/postgres-server.ts';
import {
  policyText,
  type Service,
  type ServiceOptions,
  startService,
  temporaryDirectory,
} from './service.ts';

const quiet = { info: () => {}, warn: () => {}, error: () => {} };

export async function startReplica(
  place: Pick<TestDatabase, 'url' | 'keyFile'>,
  name: string,
  { text = policyText, ...options }: ServiceOptions & { readonly text?: string } = {},
): Promise<Service> {
  const store = await openStore(place);
  await store.serve();
  const { replicas: agreement } = store;
  if (agreement === null) throw new Error('a database is served by replicas');
  await agreement.introduce({ name, version: '1.2.3', startedAtMs: Date.now() });
  const directory = temporaryDirectory();
  writeFileSync(join(directory, 'a.policy'), text);
  const host = await openPolicies({ directory });
  const policies = await openReplicatedPolicies({ host, agreement, clock: Date.now, log: quiet });
  onTestFinished(() => policies.close());
  return await startService({ ...options, store, policies });
}
