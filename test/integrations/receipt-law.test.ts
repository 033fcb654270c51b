// LAW: no sequence of granting, issuing, waiting, showing, reporting and restarting passes a grant twice,
// whatever the clocks differ by within the tolerance: in the check for TypeScript and in that for Python, with a
// memory of the process and with one that outlives it, and with a plain JWT library that keeps each `jti` until
// `exp`. A fresh grant passes.

import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalJWKSet, jwtVerify } from 'jose';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createReceiptCheck,
  createUsedReceiptFiles,
  createUsedReceipts,
  ReceiptRefused,
  type UsedReceipts,
} from '../../integrations/typescript/receipt.ts';
import { firstAdmin, personWith } from '../http/person-client.ts';
import { authorize, type Service, startService } from '../http/service.ts';
import { give, type View } from '../http/written-policies.ts';
import { createOrder } from '../requests/order.ts';
import { temporaryFolder } from '../store/rows.ts';

const policies = `
approvers finance "Finance"
action tool.free, tool.asked { n: integer }
policy tools on tool.* {
  allow all for 1h
  escalate asked to finance within 1h when action.key == "tool.asked"
}
`;

const issuer = 'http://localhost';
const audience = 'tool';
const toleranceSeconds = 5;
const python = '/usr/bin/python3';
const hasCryptography = spawnSync(python, ['-c', 'import cryptography']).status === 0;

interface Grant {
  readonly id: string;
  readonly action: string;
  readonly payload: { readonly n: number };
  readonly receipts: Set<string>;
}

/** What a tool sees, on its own clock in seconds since 1970. */
type Step =
  | { readonly at: number; readonly what: 'restart' }
  | {
      readonly at: number;
      readonly what: 'show';
      readonly grant: Grant;
      readonly receipt: string;
      /** Whether this is a grant's first showing, soon after it was granted, to a tool that has run for a while. */
      readonly mustPass: boolean;
    };

interface History {
  readonly steps: readonly Step[];
  readonly keys: Parameters<typeof createLocalJWKSet>[0];
}

/** A random history of grants, receipts and showings, all by clocks that are set and not waited for. */
async function historyOf(seed: number, stepCount: number): Promise<History> {
  const { below, pick } = createOrder(seed);
  const startMs = Math.ceil(Date.now() / 1000) * 1000 + 60_000;
  let nowMs = startMs;
  const service = await startService({ startsWith: policies, clock: () => nowMs });
  const admin = await firstAdmin(service);
  const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
  const ben = await personWith(service, admin, who);
  const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  const grants: Grant[] = [];
  const steps: Step[] = [];
  let restartedAt = Number.NEGATIVE_INFINITY;
  /** By how many seconds the tool's clock is ahead of the service's. */
  let skew = 0;
  const at = () => nowMs / 1000 + skew;
  const show = (grant: Grant, receipt: string, mustPass = false) =>
    steps.push({ at: at(), what: 'show', grant, receipt, mustPass });

  const make = async () => {
    const n = grants.length;
    const action = pick(['tool.free', 'tool.asked']);
    const first = await ask(service, { action, payload: { n } }, `first${n}`);
    if (first.view.status === 'pending') await give(ben, first.view.request_id, 'approve');
    const { view, receipt } =
      first.receipt === null ? await ask(service, { action, payload: { n } }, `first${n}`) : first;
    if (receipt === null) throw new Error(JSON.stringify(view));
    const grant = { id: view.request_id, action, payload: { n }, receipts: new Set([receipt]) };
    grants.push(grant);
    const isLongUp = nowMs / 1000 - restartedAt > 3 * toleranceSeconds;
    if (below(3) > 0) show(grant, receipt, isLongUp && skew === 0);
  };
  const issueAgain = async (grant: Grant) => {
    const receipt = pick([true, false])
      ? (await ask(service, grant, `first${grant.payload.n}`)).receipt
      : await look(service, grant.id);
    if (receipt === null) return;
    grant.receipts.add(receipt);
    if (below(2) === 0) show(grant, receipt);
  };

  for (let step = 0; step < stepCount; step += 1) {
    nowMs += pick([0, 1, 400, 999, 3_000, 20_000, 59_000, 61_000, 66_000]);
    skew = pick([0, 0, 0, -toleranceSeconds, -2, 2, toleranceSeconds - 0.001]);
    const grant = pick(grants.slice(-4));
    const kind = below(12);
    if (grant === undefined || kind < 3) await make();
    else if (kind < 6) await issueAgain(grant);
    else if (kind < 10) show(grant, pick([...grant.receipts]));
    else if (kind === 10) await report(service, grant.id);
    else {
      restartedAt = nowMs / 1000;
      steps.push({ at: at(), what: 'restart' });
    }
  }
  return { steps, keys };
}

async function ask(service: Service, { action, payload }: Pick<Grant, 'action' | 'payload'>, key: string) {
  const reply = await authorize(service, {
    body: JSON.stringify({ action_key: action, payload }),
    headers: { prefer: 'attach, receipt', 'idempotency-key': key },
  });
  return { view: (await reply.json()) as View, receipt: reply.headers.get('writ-receipt') };
}

async function look(service: Service, id: string): Promise<string | null> {
  const headers = { 'x-agent-api-key': service.apiKey };
  const reply = await fetch(`${service.url}/v1/requests/${id}/receipt`, { headers });
  return reply.ok ? (await reply.json()).receipt : null;
}

async function report(service: Service, id: string): Promise<void> {
  await fetch(`${service.url}/v1/requests/${id}/outcome`, {
    method: 'POST',
    headers: { 'x-agent-api-key': service.apiKey, 'content-type': 'application/json' },
    body: '{"executed":true}',
  });
}

/** Whether each showing passes; null for the other steps. */
type Passes = readonly (boolean | null)[];

async function inTypeScript({ steps, keys }: History, begin: () => UsedReceipts): Promise<Passes> {
  const options = { issuer, audience, keys: createLocalJWKSet(keys), clockTolerance: toleranceSeconds };
  vi.useFakeTimers({ now: ((steps[0]?.at ?? 0) - 600) * 1000, toFake: ['Date'] });
  let check = createReceiptCheck({ ...options, used: begin() });
  const passes: (boolean | null)[] = [];
  for (const step of steps) {
    vi.setSystemTime(step.at * 1000);
    if (step.what === 'restart') {
      check = createReceiptCheck({ ...options, used: begin() });
      passes.push(null);
    } else
      passes.push(
        await check(step.receipt, step.grant.action, step.grant.payload).then(
          () => true,
          (error) => {
            if (!(error instanceof ReceiptRefused)) throw error;
            return false;
          },
        ),
      );
  }
  vi.useRealTimers();
  return passes;
}

/** A plain library, and each `jti` kept until the `exp` of its receipt and the tolerance, as libraries do. */
async function inPlainLibrary({ steps, keys }: History): Promise<Passes> {
  const list = createLocalJWKSet(keys);
  const used = new Map<string, number>();
  const passes: (boolean | null)[] = [];
  for (const step of steps) {
    if (step.what === 'restart') {
      passes.push(null);
      continue;
    }
    for (const [id, end] of used) if (end < step.at) used.delete(id);
    const currentDate = new Date(step.at * 1000);
    const rules = { issuer, audience, clockTolerance: toleranceSeconds, currentDate };
    const claims = await jwtVerify(step.receipt, list, rules).then(
      ({ payload }) => payload,
      () => null,
    );
    const isFirst = claims !== null && !used.has(claims.jti ?? '');
    if (isFirst) used.set(claims.jti ?? '', (claims.exp ?? 0) + toleranceSeconds);
    passes.push(isFirst);
  }
  return passes;
}

function inPython({ steps, keys }: History, memory: string): Passes {
  const text = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, 'integrations/python')
import writ
given = json.load(sys.stdin)
now = [given['steps'][0]['at'] - 600]
writ.time.time = lambda: now[0]
def begin():
    return ${memory}
used = begin()
passes = []
for step in given['steps']:
    now[0] = step['at']
    if step['what'] == 'restart':
        used = begin()
        passes.append(None)
        continue
    try:
        writ.verify_receipt(step['receipt'], given['keys'], issuer='${issuer}', audience='${audience}',
                            action=step['grant']['action'], payload=step['grant']['payload'], used=used, leeway=${toleranceSeconds})
        passes.append(True)
    except writ.ReceiptRefused:
        passes.append(False)
print(json.dumps(passes))
`;
  const { stdout, stderr } = spawnSync(python, ['-c', text], {
    input: JSON.stringify({ steps, keys }),
    encoding: 'utf8',
  });
  if (stdout === '') throw new Error(stderr);
  return JSON.parse(stdout);
}

/** No grant passes twice, and those pass that must. */
function expectLaw({ steps }: History, passes: Passes): void {
  const counts = new Map<string, number>();
  for (const [index, step] of steps.entries()) {
    if (step.what !== 'show') continue;
    if (step.mustPass) expect(passes[index], `step ${index}`).toBe(true);
    if (passes[index] === true) counts.set(step.grant.id, (counts.get(step.grant.id) ?? 0) + 1);
  }
  expect([...counts].filter(([, count]) => count > 1)).toEqual([]);
  expect(counts.size).toBeGreaterThan(5);
}

afterEach(() => {
  vi.useRealTimers();
});

function newFolder(): string {
  const folder = join(temporaryFolder(), 'used');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  return folder;
}

describe.each([1, 2, 3])('law: a grant passes once, seed %i', (seed) => {
  test('in every check, whatever its memory', { timeout: 240_000 }, async () => {
    const history = await historyOf(seed, 120);
    expectLaw(history, await inTypeScript(history, createUsedReceipts));
    const folder = newFolder();
    expectLaw(history, await inTypeScript(history, () => createUsedReceiptFiles(folder)));
    expectLaw(history, await inPlainLibrary(history));
    if (!hasCryptography) return;
    expectLaw(history, inPython(history, 'writ.UsedReceipts()'));
    expectLaw(history, inPython(history, `writ.UsedReceiptFiles(${JSON.stringify(newFolder())})`));
  });
});

test('a memory refuses what it may have forgotten when the clock goes back', () => {
  vi.useFakeTimers({ now: 1_000_000, toFake: ['Date'] });
  const used = createUsedReceipts();
  expect(used.putIfAbsent('first', 1_065)).toBe(true);
  vi.setSystemTime(1_066_000);
  expect(used.putIfAbsent('second', 1_100)).toBe(true);
  vi.setSystemTime(1_010_000);
  expect(used.putIfAbsent('first', 1_065)).toBe(false);
  expect(used.putIfAbsent('third', 1_100)).toBe(true);
});
