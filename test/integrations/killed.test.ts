// The proxy, the hook, a guarded tool or the service is killed at every moment between a request and the
// report of its outcome. An approval leads to at most one execution, counted where the tool runs, and nothing
// runs without an approval.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { addPeople, createApprover } from '../../examples/service.ts';
import { createGuard } from '../../integrations/typescript/adapters/guard.ts';
import { connect } from '../../integrations/typescript/client.ts';
import { answerHook } from '../../src/cli/hook/answer-hook.ts';
import { dialects } from '../../src/cli/hook/dialects.ts';
import { type Service, startService, temporary } from '../e2e/acceptance/service.ts';
import { countingServer, type Got, initialize, openWire, proxySettings, tool } from './mcp/rig.ts';
import { openRelay, type Relay, type Stop } from './relay.ts';

const policyText = `
approvers support "Support"
action demo.pay { n: integer, ... }
policy paying on demo.pay { allow each after approval by support within 1h }
`;

interface Moment {
  /** Where the message in flight is stopped; null when no message is in flight. */
  readonly stop: Stop | null;
  /** Whether people approved before the kill. */
  readonly isApproved: boolean;
  /** Whether the client holds the call while it waits for people. */
  readonly isHeld?: boolean;
  /** Executions after the kill. */
  readonly ran: 0 | 1;
  /** Whether the same call waits or runs when it is made again afterwards. */
  readonly next: 'waits' | 'runs';
}

/** A call that waits afterwards needs one more approval to run. */
const moments: Readonly<Record<string, Moment>> = {
  'before the question': before('ask', { isApproved: false, ran: 0, next: 'waits' }),
  'after the question, before its answer': after('ask', { isApproved: false, ran: 0, next: 'waits' }),
  'while people are waited for': {
    stop: { message: 'ask', when: 'meanwhile' },
    isApproved: false,
    isHeld: true,
    ran: 0,
    next: 'waits',
  },
  'after the approval, while nobody asks': { stop: null, isApproved: true, ran: 0, next: 'runs' },
  'before the grant is taken': before('ask', { isApproved: true, ran: 0, next: 'runs' }),
  'after the grant is taken, before the call': after('ask', { isApproved: true, ran: 0, next: 'waits' }),
  'after the call, before its report': before('outcome', { isApproved: true, ran: 1, next: 'waits' }),
  // Only for a client that waits: a proxy reports several executions together.
  'after the report, before its answer': after('outcome', {
    isApproved: true,
    isHeld: true,
    ran: 1,
    next: 'waits',
  }),
};

function before(message: Stop['message'], rest: Omit<Moment, 'stop'>): Moment {
  return { stop: { message, when: 'before' }, ...rest };
}

function after(message: Stop['message'], rest: Omit<Moment, 'stop'>): Moment {
  return { stop: { message, when: 'after' }, ...rest };
}

type Kind = 'proxy' | 'guard' | 'hook';

interface Row extends Moment {
  readonly name: string;
  readonly kind: Kind;
  readonly n: number;
}

/** The hook has no rows for reports, because it ends before its tool runs. */
function rowsOf(kind: Kind, first: number): readonly Row[] {
  return Object.entries(moments)
    .filter(([, { stop }]) => kind !== 'hook' || stop?.message !== 'outcome')
    .map(([name, moment], index) => ({ ...moment, name: `${kind} ${name}`, kind, n: first + index }));
}

const server = countingServer(tool('pay'));
const started = { policies: temporary('policies'), data: temporary('killed') };
const counted: number[] = [];
let service: Service;
let relay: Relay;
let key: string;

const runs = (n: number) =>
  [...counted, ...server.calls().map(({ params }) => params.arguments.n)].filter((one) => one === n).length;

beforeAll(async () => {
  writeFileSync(join(started.policies, 'demo.policy'), policyText);
  service = await startService(started);
  const [, token = ''] = /\/setup#token=(\S+)/.exec(service.output()) ?? [];
  key = await (await addPeople(service.url, token))('payer');
});

afterAll(() => service.end('SIGKILL'));

type Called = (n: number, isHeld?: boolean) => Promise<'runs' | 'waits' | 'fails'>;

/** Clients as in a program that has just started. */
async function newClients(): Promise<Readonly<Record<Kind, Called>>> {
  const waits = (isHeld: boolean) => (isHeld ? 30_000 : 0);
  const wires = [0, 30_000].map((holdMs) =>
    openWire(proxySettings(relay, server, { as: 'demo', holdMs }), key),
  );
  for (const wire of wires) await initialize(wire);
  let tries = 0;
  return {
    async proxy(n, isHeld = false) {
      const reply: Got = await wires[isHeld ? 1 : 0]?.ask('tools/call', { name: 'pay', arguments: { n } });
      if (reply.error !== undefined) return 'fails';
      return reply.result.isError === true ? 'waits' : 'runs';
    },
    async guard(n, isHeld = false) {
      const guard = createGuard({ writ: connect({ url: relay.url, key, wait: waits(isHeld) }), as: 'demo' });
      const done = await guard.execute({ tool: 'pay', input: { n } }, () => void counted.push(n));
      if (done.kind === 'ran') return 'runs';
      return done.decision.kind === 'waiting' ? 'waits' : 'fails';
    },
    async hook(n, isHeld = false) {
      tries += 1;
      const { code, stderr } = await answerHook(
        {
          dialect: dialects.claude,
          url: relay.url,
          key,
          agent: undefined,
          isDeferring: false,
          isApart: false,
          isAfter: false,
          jsonText: [],
          session: null,
          waitMs: waits(isHeld),
          withinMs: 60_000,
        },
        Readable.from([JSON.stringify(hookEvent(n, `toolu_${n}_${tries}_${performance.now()}`))]),
      );
      if (code === 0) counted.push(n);
      return code === 0 ? 'runs' : /again/.test(stderr) ? 'waits' : 'fails';
    },
  };
}

function hookEvent(n: number, id: string): object {
  const about = { session_id: 's', transcript_path: '/t', cwd: '/w', hook_event_name: 'PreToolUse' };
  return { ...about, tool_name: 'mcp__demo__pay', tool_input: { n }, tool_use_id: id };
}

/** Brings each row to its moment; `begin` starts the process that is killed at that moment. */
async function bring(rows: readonly Row[], begin: (row: Row) => void): Promise<void> {
  const approved = rows.filter(({ isApproved }) => isApproved);
  const clients = await newClients();
  for (const { kind, n } of approved) expect(await clients[kind](n)).toBe('waits');
  expect(await approveAll()).toBe(approved.length);
  const reached = rows.map(async (row) => {
    if (row.stop === null) return;
    const stopped = relay.stopAt(row.n, row.stop);
    begin(row);
    await stopped;
  });
  await Promise.all(reached);
}

const approveAll = async () => await (await createApprover(service.url))();

/** Makes the calls again with clients that know nothing of the earlier ones. */
async function goOn(rows: readonly Row[]): Promise<void> {
  expect(rows.map(({ name, n }) => [name, runs(n)])).toEqual(rows.map(({ name, ran }) => [name, ran]));
  const clients = await newClients();
  const next = [];
  for (const { name, kind, n } of rows) next.push([name, await clients[kind](n)]);
  expect(next).toEqual(rows.map((row) => [row.name, row.next]));
  const waiting = rows.filter((row) => row.next === 'waits');
  // The same call again does not make a second request.
  for (const { kind, n } of waiting) expect(await clients[kind](n)).toBe('waits');
  expect(await approveAll()).toBe(waiting.length);
  for (const { kind, n } of waiting) expect(await clients[kind](n)).toBe('runs');
  expect(rows.map(({ name, n }) => [name, runs(n)])).toEqual(rows.map(({ name, ran }) => [name, ran + 1]));
}

test('the service is killed', async () => {
  relay = await openRelay();
  relay.target = service.url;
  const rows = [...rowsOf('proxy', 100), ...rowsOf('guard', 200), ...rowsOf('hook', 300)];
  const clients = await newClients();
  const begun: Promise<unknown>[] = [];
  await bring(rows, ({ kind, n, isHeld }) => void begun.push(clients[kind](n, isHeld)));
  relay.target = null;
  await service.end('SIGKILL');
  relay.cut();
  await Promise.all(begun);
  service = await startService(started);
  relay.target = service.url;
  await goOn(rows);
});

test('whoever asks is killed', async () => {
  relay = await openRelay();
  relay.target = service.url;
  const rows = [
    ...rowsOf('proxy', 400),
    ...rowsOf('hook', 500).filter(({ name }) => /before its answer|before the call/.test(name)),
  ];
  const children: ChildProcess[] = [];
  await bring(rows, (row) => void children.push(row.kind === 'proxy' ? proxyOf(row) : hookOf(row)));
  for (const child of children) child.kill('SIGKILL');
  await Promise.all(children.map((child) => child.exitCode ?? child.signalCode ?? once(child, 'exit')));
  relay.cut();
  await goOn(rows);
});

const writ = join(import.meta.dirname, '../../src/cli/writ.js');

function startWrit(args: readonly string[], input: string): ChildProcess {
  const env = { ...process.env, WRIT_URL: relay.url, WRIT_API_KEY: key };
  const child = spawn(process.execPath, [writ, ...args], { stdio: ['pipe', 'ignore', 'ignore'], env });
  child.stdin?.write(input);
  return child;
}

/** A proxy with one call in flight. */
function proxyOf({ n, isHeld = false }: Row): ChildProcess {
  const { server: place } = server.settings;
  const command = place.kind === 'command' ? place.command : [];
  const clientInfo = { name: 'test', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  const messages = [
    { id: 1, method: 'initialize', params: opening },
    { method: 'notifications/initialized' },
    { id: 2, method: 'tools/call', params: { name: 'pay', arguments: { n } } },
  ];
  const hold = ['--hold', isHeld ? '30' : '0'];
  return startWrit(
    ['mcp', '--as', 'demo', '--service', relay.url, ...hold, '--', ...command],
    messages.map((message) => `${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`).join(''),
  );
}

function hookOf({ n }: Row): ChildProcess {
  const child = startWrit(
    ['hook', '--dialect', 'claude', '--wait', '0'],
    JSON.stringify(hookEvent(n, `toolu_${n}`)),
  );
  child.stdin?.end();
  return child;
}
