// GET /healthz: the process runs. GET /readyz: it can decide and record; its body says how the policies stand, with
// the diagnostics of a set that did not take over, and without any path of this machine.

import type { FastifyInstance } from 'fastify';
import type { PolicyHost, PolicyState } from '../../sources/live.ts';
import type { Store } from '../../store/store.ts';

export interface HealthRouteOptions {
  readonly store: Pick<Store, 'isWritable'>;
  readonly policies: Pick<PolicyHost, 'state'>;
  readonly stopping: AbortSignal;
}

export async function healthRoutes(app: FastifyInstance, options: HealthRouteOptions): Promise<void> {
  const { store, policies, stopping } = options;

  app.get('/healthz', async () => ({ status: 'ok' }));

  app.get('/readyz', async (_request, reply) => {
    const isWritable = store.isWritable();
    const isReady = isWritable && !stopping.aborted;
    reply.code(isReady ? 200 : 503);
    return {
      status: isReady ? 'ready' : stopping.aborted ? 'stopping' : 'not-ready',
      store: { status: isWritable ? 'writable' : 'not-writable' },
      policies: policyReport(policies.state()),
    };
  });
}

/** Stale policies do not make the service unready: the last good set decides. */
function policyReport(state: PolicyState) {
  const { status, digest, commit, loadedAt, actions, rules, failure } = state;
  return {
    ...{ status, digest, commit, loaded_at: loadedAt, actions, rules },
    failure: failure === null ? null : { at: failure.at, diagnostics: failure.diagnostics },
  };
}
