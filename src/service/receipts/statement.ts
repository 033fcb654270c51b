// Turns a request of an agent into a signed statement: what was asked, how it was decided, and what became of it, for
// a refused request as for a granted one. INVARIANT: no statement passes as a receipt, which would permit an
// action: it is signed with another key, which is not among the keys of receipts, its `typ` is another one, and it
// has neither an audience, nor an end, nor an action in `authorization_details`.

import { hash, sign } from 'node:crypto';
import { isoTime } from '../../language/value/iso-time.ts';
import { signingKeysOf } from '../agents/signing-key.ts';
import { statusAt } from '../requests/record/lifecycle.ts';
import type { ReceiptBases } from '../requests/record/receipt-basis.ts';
import { type AgentCaller, isOwnRequest, type RequestState } from '../requests/record/request-state.ts';
import type { RequestChanges } from '../requests/request-changes.ts';
import type { PublishedKey } from './receipt-keys.ts';

export interface StatementDeps {
  readonly requestChanges: Pick<RequestChanges, 'snapshot'>;
  readonly bases: ReceiptBases;
  readonly masterKey: Uint8Array;
  /** The address at which people reach the service. */
  readonly issuer: string;
}

export interface Statements {
  /** The public key of statements, which never changes. */
  readonly key: PublishedKey;
  /** The statement about the caller's own request as it is now; null when the caller has no such request. */
  state(requestId: string, by: AgentCaller): Promise<string | null>;
}

const statementType = 'writ-statement+jwt';

export function createStatements({ requestChanges, bases, masterKey, issuer }: StatementDeps): Statements {
  const { privateKey, publicText: x } = signingKeysOf(masterKey, 'statements');
  const kid = hash('sha256', `{"crv":"Ed25519","kty":"OKP","x":"${x}"}`, 'base64url');
  return {
    key: { kty: 'OKP', crv: 'Ed25519', x, kid, use: 'sig', alg: 'EdDSA' },
    async state(requestId, by) {
      const seen = await requestChanges.snapshot(requestId);
      if (seen === null || !isOwnRequest(by, seen.state.record)) return null;
      const { state, nowMs } = seen;
      const claims = {
        iss: issuer,
        iat: Math.floor(nowMs / 1000),
        sub: `agent:${state.record.agentId}`,
        txn: state.record.id,
        statement: statementOf(state, bases, nowMs),
      };
      const signed = `${encoded({ alg: 'EdDSA', typ: statementType, kid })}.${encoded(claims)}`;
      return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
    },
  };
}

function statementOf(state: RequestState, bases: ReceiptBases, nowMs: number) {
  const { record, decision, policySet, decidedAtMs, wasExecuted } = state;
  // Only a request that asked for a receipt has the digest of its payload as sent.
  const digest = record.receipt === undefined ? null : bases.digestIn(record.receipt, record.id);
  return {
    action_key: record.actionKey,
    asked_at: isoTime(record.createdAtMs),
    first_decision: record.decision.outcome,
    status: statusAt(state, nowMs),
    decided_at: decidedAtMs === null ? null : isoTime(decidedAtMs),
    policy: { set: `sha256:${policySet.digest}`, rule: decision.by },
    executed: wasExecuted,
    ...(digest === null ? {} : { payload_digest: digest }),
  };
}

function encoded(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
