// Receipts, checked by the tool that carries an action out, before it acts: so it refuses callers that go around the policies.
// INVARIANT: a receipt is good for one action with one payload, for one audience, for a minute, and once.

import { createHash } from 'node:crypto';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { canonicalJson } from '../../src/service/store/contract/canonical-json.ts';

/** Remembers the receipts that were used, until they are over. Tools of several processes share one. */
export interface UsedReceipts {
  /** False where it is there already. `expiresAt` is in seconds since 1970. */
  putIfAbsent(id: string, expiresAt: number): boolean | Promise<boolean>;
}

export interface ReceiptOptions {
  /** Where the service is, as its receipts say it: `https://writ.example.com`. */
  readonly issuer: string;
  /** The name of this tool. */
  readonly audience: string;
  /** The public keys; the service's own list unless said otherwise. */
  readonly keys?: JWTVerifyGetKey;
  /** In the memory of this process unless said otherwise. */
  readonly used?: UsedReceipts;
  /** How far clocks may differ, in seconds; 5 unless said otherwise. */
  readonly clockTolerance?: number;
}

export interface ReceiptClaims {
  readonly requestId: string;
  readonly agentId: string;
  readonly action: string;
  readonly expiresAt: Date;
  /** Groups that approved it; none where it was granted by the policies alone. */
  readonly approvedBy: readonly string[];
}

/** The action must not be carried out. */
export class ReceiptRefused extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`no good receipt: ${reason}`, { cause });
    this.name = 'ReceiptRefused';
  }
}

export type VerifyReceipt = (
  receipt: string | undefined | null,
  action: string,
  payload: unknown,
) => Promise<ReceiptClaims>;

/** The check: rejects with ReceiptRefused. A receipt that passes is used by that. */
export function createReceiptCheck(options: ReceiptOptions): VerifyReceipt {
  const { issuer, audience, clockTolerance = 5, used = createUsedReceipts() } = options;
  const keys = options.keys ?? createRemoteJWKSet(new URL('/.well-known/jwks.json', issuer));
  const rules = {
    issuer,
    audience,
    typ: 'writ-receipt+jwt',
    algorithms: ['EdDSA'],
    requiredClaims: ['jti', 'sub', 'iat', 'exp', 'authorization_details'],
    clockTolerance,
    maxTokenAge: receiptSecondsMax,
  };

  return async (receipt, action, payload) => {
    if (typeof receipt !== 'string' || receipt === '') throw new ReceiptRefused('none was sent');
    const claims = await verified(receipt, keys, rules);
    const { jti = '', sub = '', exp = 0 } = claims;
    checkSubject(claims, action, payload);
    if (!(await used.putIfAbsent(jti, exp + clockTolerance))) throw new ReceiptRefused('it has been used');
    return {
      requestId: jti,
      agentId: sub.replace(/^agent:/, ''),
      action,
      expiresAt: new Date(exp * 1000),
      approvedBy: textsOf(claims.approved_by),
    };
  };
}

/** No receipt holds longer, whatever it says. */
const receiptSecondsMax = 60;

async function verified(
  receipt: string,
  keys: JWTVerifyGetKey,
  rules: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(receipt, keys, rules)).payload;
  } catch (error) {
    throw new ReceiptRefused(
      error instanceof errors.JOSEError ? error.message : 'the keys are not there',
      error,
    );
  }
}

/** It must be about just this. */
function checkSubject(claims: JWTPayload, action: string, payload: unknown): void {
  const { authorization_details: details } = claims;
  const [what, ...others] = Array.isArray(details) ? details : [];
  if (others.length > 0 || what?.type !== 'writ_action')
    throw new ReceiptRefused('it is about something else');
  if (what.action_key !== action) throw new ReceiptRefused('it is for another action');
  if (what.payload_digest !== digestOf(payload)) throw new ReceiptRefused('it is for another payload');
}

/** Throws for what JSON does not have. */
function digestOf(payload: unknown): string {
  const text = canonicalJson(JSON.parse(JSON.stringify(payload ?? {})));
  return `sha-256:${createHash('sha256').update(text).digest('base64url')}`;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** For a tool of one process: after a restart, a receipt could be used again until it is over. */
export function createUsedReceipts(): UsedReceipts {
  const used = new Map<string, number>();
  return {
    putIfAbsent(id, expiresAt) {
      const now = Date.now() / 1000;
      for (const [one, end] of used) if (end < now) used.delete(one);
      if (used.has(id)) return false;
      used.set(id, expiresAt);
      return true;
    },
  };
}

/** A call of a tool as MCP sends it. */
interface ToolCall {
  readonly params: {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>> | undefined;
    readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** Under this name a call carries its receipt. */
export const receiptMeta = 'writ-receipt';

/**
 * The handler of an MCP server's `tools/call` that refuses every call without a good receipt. The action of a tool is
 * `AUDIENCE.NAME` unless said otherwise.
 */
export function requireReceipt<Call extends ToolCall, Rest extends readonly unknown[], Result>(
  options: ReceiptOptions & { readonly actionOf?: (tool: string) => string },
  handle: (call: Call, ...rest: Rest) => Result | Promise<Result>,
): (call: Call, ...rest: Rest) => Promise<Result | RefusedCall> {
  const check = createReceiptCheck(options);
  const { actionOf = (tool) => `${options.audience}.${tool}` } = options;
  return async (call, ...rest) => {
    const { name, arguments: sent = {}, _meta: meta } = call.params;
    try {
      await check(meta?.[receiptMeta] as string | undefined, actionOf(name), sent);
    } catch (error) {
      return refusedCall(error);
    }
    return await handle(call, ...rest);
  };
}

interface RefusedCall {
  readonly isError: true;
  readonly content: readonly [{ readonly type: 'text'; readonly text: string }];
}

function refusedCall(error: unknown): RefusedCall {
  const why = error instanceof ReceiptRefused ? error.message : 'the receipt could not be checked';
  return { isError: true, content: [{ type: 'text', text: `Not permitted: ${why}.` }] };
}
