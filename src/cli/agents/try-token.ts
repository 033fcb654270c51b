// Checks a token step by step, as the service would, and says at which step it is refused. The keys of the issuer
// are read at once. INVARIANT: the token itself is never printed, only its claims.

import { actorChain } from '../../service/agents/delegations/actor-chain.ts';
import { hasClaims } from '../../service/agents/identities/claim-values.ts';
import type { IdentityView } from '../../service/agents/identities/identity-view.ts';
import { keySetOf, readKeys } from '../../service/users/issuer-keys.ts';
import {
  checkToken,
  unverifiedClaims,
  type WorkloadIssuer,
  type WorkloadToken,
  workloadTokenFaults,
} from '../../service/workloads/read-token.ts';

export interface TrialStep {
  readonly isGood: boolean;
  readonly text: string;
}

interface Trial {
  readonly text: string;
  readonly issuers: readonly WorkloadIssuer[];
  readonly identities: readonly IdentityView[];
  readonly nowMs: number;
}

const waitMs = 5_000;
const good = (text: string): TrialStep => ({ isGood: true, text });
const bad = (text: string): TrialStep => ({ isGood: false, text });

/** The steps up to the first one that refuses the token. */
export async function tryToken({ text, issuers, identities, nowMs }: Trial): Promise<readonly TrialStep[]> {
  const claims = unverifiedClaims(text);
  if (claims === null) return [bad('this is not a JWT: three parts with dots in between')];
  const steps = [good(`a JWT of the issuer ${shown(claims.iss)}, for the audience ${shown(claims.aud)}`)];
  const settings = issuers.find(({ issuer }) => issuer === claims.iss);
  if (settings === undefined) {
    const names = issuers.map(({ issuer }) => issuer).join(', ') || 'no issuer';
    return [...steps, bad(`the issuer is not in the setting agents.issuers, which names ${names}`)];
  }
  const keys = await keysOf(settings);
  if (typeof keys === 'string') return [...steps, bad(keys)];
  const read = await checkToken(settings, { text, keys, nowMs });
  if ('fault' in read) {
    const expected = read.fault === 'audience' ? ` (the setting has ${settings.audience})` : '';
    return [...steps, bad(`the token ${workloadTokenFaults[read.fault]}${expected}`)];
  }
  const { token } = read;
  const isBound = token.jkt === null ? '' : '; it is bound to a key, so each request needs a proof (DPoP)';
  return [
    ...steps,
    good(`signed by the issuer, valid until ${new Date(token.expiresAtMs).toISOString()}${isBound}`),
    ...identitySteps(token, identities),
  ];
}

async function keysOf(settings: WorkloadIssuer): Promise<Awaited<ReturnType<typeof keySetOf>> | string> {
  try {
    return await keySetOf(await readKeys(settings, AbortSignal.timeout(waitMs)));
  } catch (error) {
    return `the keys of the issuer cannot be read: ${error instanceof Error ? error.message : String(error)}`;
  }
}

function identitySteps(token: WorkloadToken, identities: readonly IdentityView[]): readonly TrialStep[] {
  const active = identities.filter(
    ({ ended_at: ended, issuer }) => ended === null && issuer === token.issuer,
  );
  if (active.length === 0) return [bad('the agent has no identity of this issuer: add one with `map`')];
  const fitting = active.filter(({ required_claims: claims }) => hasClaims(claims, token.claimOf));
  const [identity] = fitting;
  if (identity === undefined) return active.flatMap((one) => missing(token, one));
  if (fitting.length > 1) return [bad(`several identities fit: ${fitting.map(({ id }) => id).join(', ')}`)];
  const { id, agent_id: agentId, issuer, required_claims: claims, actors } = identity;
  const value = { id, agentId, issuer, claims, actors, createdAtMs: 0, endedAtMs: null };
  const acting = actorChain({ value, version: 1 }, token.act);
  const fits = good(`the identity ${id} fits`);
  switch (acting.kind) {
    case 'none':
      return [fits];
    case 'chain':
      return [fits, good(`asks as ${acting.chain.links.map(({ name }) => name).join(' > ')}`)];
    case 'refused':
      return [fits, bad(acting.detail)];
  }
}

/** For an identity that does not fit: each claim that the token lacks, or has with another value. */
function missing(
  { claimOf }: WorkloadToken,
  { id, required_claims: claims }: IdentityView,
): readonly TrialStep[] {
  return Object.entries(claims)
    .filter(([name, values]) => !hasClaims({ [name]: values }, claimOf))
    .map(([name, values]) =>
      bad(
        `the identity ${id} requires ${name} to be ${values.join(' or ')}, and the token has ${shown(claimOf(name))}`,
      ),
    );
}

function shown(value: unknown): string {
  return value === undefined ? 'none' : typeof value === 'string' ? value : JSON.stringify(value);
}
