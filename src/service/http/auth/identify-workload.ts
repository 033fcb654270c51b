// Authenticates a workload by the token of its issuer, and finds the agent that it is. INVARIANT: a token passes
// only while its issuer's keys are known, exactly one identity fits it, and that identity lasts; a token that is
// bound to a key passes only with a proof of that key, which is checked for each request.

import { timingSafeEqual } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { actorChain } from '../../agents/delegations/actor-chain.ts';
import type { ActingChain } from '../../agents/delegations/delegation.ts';
import { createDocumentUses } from '../../agents/document-uses.ts';
import {
  type ActingWorkload,
  createIdentityReader,
  identityKind,
  identityUses,
  matchIdentity,
  type ReadIdentity,
  tokenKeyRow,
} from '../../agents/identities/identity.ts';
import { createKeyCache, type Instant } from '../../agents/key-cache.ts';
import type { AgentRow, KeyRow } from '../../store/contract/records.ts';
import type { Store } from '../../store/contract/store.ts';
import { tokenLengthMax } from '../../users/signed-token.ts';
import { type ProofChecker, proofAlgorithms, proofFaults } from '../../workloads/proof.ts';
import {
  type KnownToken,
  type WorkloadTokenFault,
  type WorkloadTokenReader,
  workloadTokenFaults,
} from '../../workloads/read-token.ts';
import { ProblemError } from '../contract/problem.ts';
import type { SentToken } from './sent-token.ts';

/** An agent that is known by a token. */
export interface WorkloadCaller {
  readonly agent: AgentRow;
  /** The token in the form of a key, which ends with the token. */
  readonly key: KeyRow;
  readonly workload: ActingWorkload;
  readonly token: KnownToken;
  /** The token as it was sent. */
  readonly sent: SentParts;
  /** The actors that the token states; absent when the agent asks itself. */
  readonly chain?: ActingChain;
}

export type WorkloadAuthentication = WorkloadCaller & { readonly kind: 'ok' | 'disabled' | 'revoked' };

interface WorkloadIdentifierOptions {
  readonly store: Store;
  readonly tokens: WorkloadTokenReader;
  readonly proofs: ProofChecker;
  /** Loads what deciding by a chain needs. */
  readonly ready: () => Promise<void>;
  /** Counts a failure of the address; throws when the address has failed too often. */
  readonly takeFailure: (address: string) => void;
}

interface WorkloadIdentifier {
  /** The agent of the bearer token in `Authorization`, if it was looked up a moment ago; else null. */
  cached(authorization: string | undefined, now: Instant): WorkloadCaller | null;
  /** The agent of the token; it may be disabled or revoked. Rejects with a ProblemError: 401, 403, 429 or 503. */
  identify(sent: SentToken, request: FastifyRequest, now: Instant): Promise<WorkloadAuthentication>;
  /** Identifies the same workload once more; returns `before` at once when nothing has changed. */
  identifyAgain(
    text: string,
    before: WorkloadCaller,
    now: Instant,
  ): WorkloadCaller | Promise<WorkloadAuthentication>;
}

export function createWorkloadIdentifier(options: WorkloadIdentifierOptions): WorkloadIdentifier {
  const { store, tokens, proofs, ready, takeFailure } = options;
  const { agents, documents } = store;
  const findIdentities = createIdentityReader(documents);
  const uses = createDocumentUses(documents, identityUses);
  const cache = createKeyCache<WorkloadCaller>(
    () => agents.changesHere() + documents.changesHere(identityKind),
  );

  /** What was found for the token a moment ago, while its issuer's keys are the same. */
  function recent(text: string, now: Instant): WorkloadCaller | null {
    const found = cache.uncompared(nameOf(text), now);
    return found !== null && isSame(text, found.sent) && found.token.isCurrent() ? found : null;
  }

  async function find(text: string, now: Instant): Promise<WorkloadAuthentication> {
    const begun = cache.begin(now);
    const reading = tokens.read(text, now.nowMs);
    const read = reading instanceof Promise ? await reading : reading;
    if ('fault' in read) throw tokenRefused(read.fault);
    const { token } = read;
    const identity = mapped(matchIdentity(await findIdentities(), token.issuer, token.claimOf));
    const agent = await agents.find(identity.value.agentId);
    if (agent === null || agent.id !== identity.value.agentId) throw mappedToNobody();
    const caller = callerOf(agent, { identity, token, text });
    if (agent.status !== 'active') return { kind: agent.status, ...caller };
    uses.note(caller.key, now.nowMs);
    if (caller.chain !== undefined) await ready();
    return { kind: 'ok', ...cache.keep([nameOf(text)], caller, begun) };
  }

  /** Throws unless the token is sent as it has to be: bound to a key with a proof, and otherwise without. */
  async function prove(
    { scheme, text }: SentToken,
    jkt: string | null,
    request: FastifyRequest,
  ): Promise<void> {
    if (jkt === null && scheme === 'bearer') return;
    if (jkt === null) throw invalidToken('is not bound to a key: send it as `Authorization: Bearer`', scheme);
    if (scheme === 'bearer')
      throw invalidToken('is bound to a key: send it as `Authorization: DPoP` with a proof', 'dpop');
    await requireProofOf(proofs, { credential: text, jkt }, request);
  }

  return {
    cached(authorization, now) {
      // Whatever is written in another way is looked up again.
      if (authorization?.startsWith(bearer) !== true) return null;
      const found = recent(authorization.slice(bearer.length), now);
      return found?.token.jkt === null ? found : null;
    },
    async identify(sent, request, now) {
      try {
        const found = recent(sent.text, now);
        const caller = found === null ? await find(sent.text, now) : { kind: 'ok' as const, ...found };
        await prove(sent, caller.token.jkt, request);
        return caller;
      } catch (error) {
        if (error instanceof ProblemError && error.code !== 'issuer_keys_unknown')
          takeFailure(request.clientAddress);
        throw error;
      }
    },
    identifyAgain: (text, before, now) =>
      cache.isCurrent(nameOf(text), before, now) && before.token.isCurrent() ? before : find(text, now),
  };
}

/** The end of a token is of its signature, so it names the token. */
const nameLength = 43;
const bearer = 'Bearer ';

function nameOf(text: string): string {
  return text.slice(-nameLength);
}

interface SentParts {
  /** The header and the claims, which are no secret and are worth nothing without the signature. */
  readonly claims: Buffer;
  readonly signature: Buffer;
}

function partsOf(text: string): SentParts {
  const bytes = Buffer.from(text, 'latin1');
  const end = text.lastIndexOf('.') + 1;
  return { claims: bytes.subarray(0, end), signature: bytes.subarray(end) };
}

const compared = Buffer.alloc(tokenLengthMax);

/** Compares the signature in a time that tells nothing of it. A digest of so long a text would take longer. */
function isSame(text: string, { claims, signature }: SentParts): boolean {
  if (text.length !== claims.length + signature.length) return false;
  compared.write(text, 'latin1');
  return (
    timingSafeEqual(compared.subarray(claims.length, text.length), signature) &&
    compared.compare(claims, 0, claims.length, 0, claims.length) === 0
  );
}

interface FoundToken {
  readonly identity: ReadIdentity;
  readonly token: KnownToken;
  readonly text: string;
}

function callerOf(agent: AgentRow, { identity, token, text }: FoundToken): WorkloadCaller {
  const acting = actorChain(identity, token.act);
  if (acting.kind === 'refused') throw notMapped(acting.detail);
  const { id, issuer } = identity.value;
  return {
    agent,
    key: tokenKeyRow(identity.value, text, token.expiresAtMs),
    workload: { id, version: identity.version, issuer, subject: token.subject },
    token,
    sent: partsOf(text),
    ...(acting.kind === 'chain' ? { chain: acting.chain } : {}),
  };
}

function mapped(found: ReturnType<typeof matchIdentity>): ReadIdentity {
  switch (found) {
    case 'none':
      throw mappedToNobody();
    case 'several':
      throw notMapped('several identities fit this token: remove all but one');
    default:
      return found;
  }
}

function mappedToNobody(): ProblemError {
  return notMapped('no agent has an identity that fits this token');
}

function notMapped(detail: string): ProblemError {
  return new ProblemError('identity_not_mapped', detail);
}

function tokenRefused(fault: WorkloadTokenFault): ProblemError {
  if (fault !== 'keyless') return invalidToken(workloadTokenFaults[fault], 'bearer');
  const detail = 'the service does not know the present keys of the issuer of this token';
  return new ProblemError('issuer_keys_unknown', detail, { headers: { 'retry-after': '5' } });
}

/** The refusal of a token; `why` follows "the token". */
export function invalidToken(why: string, scheme: SentToken['scheme']): ProblemError {
  return new ProblemError('invalid_token', `the token ${why}`, {
    headers: challenge(scheme, 'invalid_token'),
  });
}

function challenge(
  scheme: SentToken['scheme'],
  error: 'invalid_token' | 'invalid_dpop_proof',
): Readonly<Record<string, string>> {
  const text =
    scheme === 'bearer'
      ? `Bearer error="${error}"`
      : `DPoP error="${error}", algs="${proofAlgorithms.join(' ')}"`;
  return { 'www-authenticate': text };
}

/** Throws a ProblemError (401) unless the request proves the key that its token is bound to. */
export async function requireProofOf(
  proofs: ProofChecker,
  bound: { readonly credential: string; readonly jkt: string },
  { headers, method, url }: FastifyRequest,
): Promise<void> {
  const { dpop } = headers;
  const proof = typeof dpop === 'string' ? dpop : undefined;
  const fault = await proofs.check({ ...bound, proof, method, url });
  if (fault === null) return;
  const detail = `the proof ${proofFaults[fault]}`;
  throw new ProblemError('invalid_dpop_proof', detail, { headers: challenge('dpop', 'invalid_dpop_proof') });
}
