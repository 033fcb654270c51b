// What this process tells people and the other replicas about itself: name, version and start.

import { hostname } from 'node:os';
import { engineVersions } from '../requests/record/versions.ts';
import type { ReplicaAbout } from '../store/contract/replicas.ts';

export function aboutSelf(startedAtMs: number): ReplicaAbout {
  return {
    name: `${hostname()} (${process.pid})`,
    version: engineVersions.writ,
    startedAtMs: Math.trunc(startedAtMs),
  };
}
