// What a process tells people and the other replicas about itself.

import { hostname } from 'node:os';
import { engineVersions } from '../requests/record/engine-versions.ts';
import type { ReplicaAbout } from '../store/contract/replicas.ts';

export function describeReplica(startedAtMs: number): ReplicaAbout {
  return {
    name: `${hostname()} (${process.pid})`,
    version: engineVersions.writ,
    startedAtMs: Math.trunc(startedAtMs),
  };
}
