// Checks receipts in the tool that carries an action out, before it acts, so that the tool refuses callers
// that go around the policies. INVARIANT: a receipt is good for one action with one payload, for one
// audience, for a minute, and once: a memory that may have forgotten a receipt refuses it.

import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { open, readdir, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { createRemoteJWKSet, errors, type JWTPayload, type JWTVerifyGetKey, jwtVerify } from 'jose';
import { canonicalJson } from '../../src/service/store/contract/canonical-json.ts';

/** Remembers used receipts until they expire. Several processes of a tool share one such memory. */
export interface UsedReceipts {
  /**
   * Adds a receipt. False when it is there already, or may have been there. `expiresAt` is in seconds since
   * 1970; the memory keeps the receipt until then.
   */
  putIfAbsent(id: string, expiresAt: number): boolean | Promise<boolean>;
  /**
   * When the memory began, in seconds since 1970, for a memory that ends with its process: earlier receipts
   * are refused, since they may have been used before. Absent for a memory that outlives the process.
   */
  readonly since?: number;
}

export interface ReceiptOptions {
  /** The address of the service as its receipts name it, such as `https://writ.example.com`. */
  readonly issuer: string;
  /** The name of the tool that checks the receipts. */
  readonly audience: string;
  /** The public keys; by default the service's own list. */
  readonly keys?: JWTVerifyGetKey;
  /** The memory of used receipts; by default that of this process, which begins with the check. */
  readonly used?: UsedReceipts;
  /** Seconds by which clocks may differ; 5 by default. */
  readonly clockTolerance?: number;
}

export interface ReceiptClaims {
  readonly requestId: string;
  readonly agentId: string;
  readonly action: string;
  readonly expiresAt: Date;
  /** Groups that approved the request; empty when the policies alone granted it. */
  readonly approvedBy: readonly string[];
}

/** The receipt is not good, so the action must not be carried out. */
export class ReceiptError extends Error {
  constructor(reason: string, cause?: unknown) {
    super(`invalid receipt: ${reason}`, { cause });
    this.name = 'ReceiptError';
  }
}

export type VerifyReceipt = (
  receipt: string | undefined | null,
  action: string,
  payload: unknown,
) => Promise<ReceiptClaims>;

/** Makes the check of receipts. The check rejects with ReceiptError; a receipt that passes is used up. */
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
    if (typeof receipt !== 'string' || receipt === '') throw new ReceiptError('none was sent');
    const claims = await verified(receipt, keys, rules);
    const { jti = '', sub = '', iat = 0, exp = 0 } = claims;
    checkSubject(claims, action, payload);
    if (used.since !== undefined && iat < used.since + clockTolerance) throw new ReceiptError(tooEarly);
    if (!(await isFirst(used, jti, exp + clockTolerance))) throw new ReceiptError('it has been used');
    return {
      requestId: jti,
      agentId: sub.replace(/^agent:/, ''),
      action,
      expiresAt: new Date(exp * 1000),
      approvedBy: textsOf(claims.approved_by),
    };
  };
}

const tooEarly =
  'it may have been used before this tool started, whose memory began then: ask for the action again, or give the tool a memory that outlives it (`used`)';

async function isFirst(used: UsedReceipts, id: string, expiresAt: number): Promise<boolean> {
  try {
    return (await used.putIfAbsent(id, expiresAt)) === true;
  } catch (error) {
    throw new ReceiptError('the memory of used receipts cannot be written', error);
  }
}

/** No receipt holds for longer, whatever expiry it names. */
const receiptSecondsMax = 60;

async function verified(
  receipt: string,
  keys: JWTVerifyGetKey,
  rules: Parameters<typeof jwtVerify>[2],
): Promise<JWTPayload> {
  try {
    return (await jwtVerify(receipt, keys, rules)).payload;
  } catch (error) {
    throw new ReceiptError(
      error instanceof errors.JOSEError ? error.message : 'the keys are not there',
      error,
    );
  }
}

/** Throws when the receipt is for another action or payload. */
function checkSubject(claims: JWTPayload, action: string, payload: unknown): void {
  const { authorization_details: details } = claims;
  const [what, ...others] = Array.isArray(details) ? details : [];
  if (others.length > 0 || what?.type !== 'writ_action') throw new ReceiptError('it is about something else');
  if (what.action_key !== action) throw new ReceiptError('it is for another action');
  if (what.payload_digest !== digestOf(payload)) throw new ReceiptError('it is for another payload');
}

/** The digest of a payload. Throws for a value that JSON cannot hold. */
function digestOf(payload: unknown): string {
  const text = canonicalJson(JSON.parse(JSON.stringify(payload ?? {})));
  return `sha-256:${createHash('sha256').update(text).digest('base64url')}`;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((one) => typeof one === 'string') : [];
}

/** A memory for a tool of one process, which begins now. */
export function createUsedReceipts(): UsedReceipts {
  const used = new Map<string, number>();
  /** Receipts that end before this may have been forgotten, even if the clock has been set back since. */
  let forgotten = 0;
  return {
    since: Date.now() / 1000,
    putIfAbsent(id, expiresAt) {
      forgotten = Math.max(forgotten, Date.now() / 1000);
      for (const [one, end] of used) if (end < forgotten) used.delete(one);
      if (used.has(id) || expiresAt < forgotten) return false;
      used.set(id, expiresAt);
      return true;
    },
  };
}

/** Files are kept for much longer than any receipt holds, in case the clock is set back. */
const fileKeptMs = 24 * 60 * 60 * 1000;
const filesBetweenSweeps = 1_000;

/**
 * A memory in a folder of its own, one small file a receipt, for all processes of a tool on one machine. It
 * outlives them. Throws when the folder cannot be made.
 */
export function createUsedReceiptFiles(folder: string): UsedReceipts {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  let untilSweep = 0;
  return {
    async putIfAbsent(id) {
      const name = createHash('sha256').update(id).digest('hex');
      try {
        await createDurably(join(folder, name));
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'EEXIST') return false;
        throw error;
      }
      if (untilSweep === 0) await sweep(folder);
      untilSweep = untilSweep === 0 ? filesBetweenSweeps : untilSweep - 1;
      return true;
    },
  };
}

/** Makes an empty file that is there after a power failure, too. Rejects with EEXIST when it exists. */
async function createDurably(path: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.sync();
  } finally {
    await file.close();
  }
  const folder = await open(join(path, '..'), 'r');
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

async function sweep(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    try {
      if (/^[0-9a-f]{64}$/.test(name) && (await stat(path)).mtimeMs < Date.now() - fileKeptMs)
        await unlink(path);
    } catch {
      // Another process has swept it.
    }
  }
}

/** A call of a tool in the form that MCP sends. */
interface ToolCall {
  readonly params: {
    readonly name: string;
    readonly arguments?: Readonly<Record<string, unknown>> | undefined;
    readonly _meta?: Readonly<Record<string, unknown>> | undefined;
  };
}

/** The name under which a call carries its receipt. */
export const receiptMeta = 'writ-receipt';

/**
 * A handler for an MCP server's `tools/call` that refuses every call without a good receipt. The action of a
 * tool is `AUDIENCE.NAME` by default.
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
  const why = error instanceof ReceiptError ? error.message : 'the receipt could not be checked';
  return { isError: true, content: [{ type: 'text', text: `Not permitted: ${why}.` }] };
}
