// What a start makes and prints once, where the answer to each of its writes is lost, or the process was lost
// before the welcome.

import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { createFirstAgent } from '../../../src/service/agents/first-agent.ts';
import type { Store } from '../../../src/service/store/contract/store.ts';
import { openStore } from '../../../src/service/store/open.ts';
import { writ } from '../../cli/writ.ts';
import { temporaryFolder } from '../store/rows.ts';

/** What becomes of the first writes of each kind: they are stored and the answer is lost, or nothing is stored. */
let loss: 'answer' | 'write' | null = null;
const lost: string[] = [];

type Write = (...args: readonly never[]) => Promise<unknown>;

function losing<T extends object, N extends keyof T & string>(part: T, name: N): T {
  const write = (part[name] as Write).bind(part);
  let isFirst = true;
  return new Proxy(part, {
    get(target, asked) {
      if (asked !== name) {
        const value = Reflect.get(target, asked);
        return typeof value === 'function' ? value.bind(target) : value;
      }
      return async (...args: readonly never[]) => {
        const isLost = isFirst && loss !== null;
        isFirst = false;
        const answer = isLost && loss === 'write' ? null : await write(...args);
        if (!isLost) return answer;
        lost.push(name);
        throw new StoreError('uncertain', 'the answer was lost');
      };
    },
  });
}

function losingStore(store: Store): Store {
  const parts = {
    agents: losing(store.agents, 'add'),
    documents: losing(store.documents, 'write'),
    settings: losing(store.settings, 'putIfAbsent'),
  };
  return new Proxy(store, {
    get(target, name) {
      if (Object.hasOwn(parts, name)) return parts[name as keyof typeof parts];
      const value = Reflect.get(target, name);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

let serve: typeof import('../../../src/service/http/main.ts').serve;
let StoreError: typeof import('../../../src/service/store/contract/store-error.ts').StoreError;

beforeAll(async () => {
  // Other test files of this process may have loaded the program without what stands in here.
  vi.resetModules();
  vi.doMock('../../../src/service/store/open.ts', async (importOriginal) => {
    const original = await importOriginal<typeof import('../../../src/service/store/open.ts')>();
    const opening: typeof original.openStore = async (place) => losingStore(await original.openStore(place));
    return { ...original, openStore: opening };
  });
  ({ serve } = await import('../../../src/service/http/main.ts'));
  ({ StoreError } = await import('../../../src/service/store/contract/store-error.ts'));
});
afterAll(() => {
  vi.doUnmock('../../../src/service/store/open.ts');
  vi.resetModules();
});

const policies = mkdtempSync(join(tmpdir(), 'writ-policies-'));
writeFileSync(
  join(policies, 'a.policy'),
  'action payment.create { amount: number 0.. }\npolicy small on payment.create { allow all }\n',
);

interface Printed {
  readonly url: string;
  readonly text: string;
  stop(): Promise<void>;
}

async function start(data: string): Promise<Printed> {
  let text = '';
  const flags = { port: 0, data, policies, 'log.level': 'silent' };
  const print = (more: string) => {
    text += more;
  };
  const service = await serve({ directory: data, environment: {}, flags, print });
  onTestFinished(() => service.stop());
  return { url: service.url, text, stop: () => service.stop() };
}

async function post(url: string, path: string, headers: object, body: object): Promise<Response> {
  return await fetch(`${url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
}

const request = { action_key: 'payment.create', payload: { amount: 1 } };

test.each(['answer', 'write'] as const)(
  'a start prints a key, a link and a token that work, where each first %s is lost',
  async (what) => {
    loss = what;
    lost.length = 0;
    onTestFinished(() => {
      loss = null;
    });
    const { url, text } = await start(join(temporaryFolder(), 'var'));
    expect([...new Set(lost)].toSorted()).toEqual(['add', 'putIfAbsent', 'write']);
    loss = null;
    const key = /writ_\w+/.exec(text)?.[0] ?? '';
    expect((await post(url, '/v1/authorize', { 'x-agent-api-key': key }, request)).status).toBe(200);
    const token = /setup#token=([\w-]+)/.exec(text)?.[1] ?? '';
    const admin = { email: 'ann@example.com', name: 'Ann', password: 'correct horse battery' };
    expect((await post(url, '/v1/setup', {}, { token, ...admin })).status).toBe(201);
    expect(text).toMatch(/POST \/plants.*: token writs_\w+/);
  },
);

test('processes that start together register one first agent', async () => {
  const path = join(temporaryFolder(), 'writ.db');
  const store = await openStore({ path });
  onTestFinished(() => store.close());
  const [one, other] = [createFirstAgent(store), createFirstAgent(store)];
  const keys = await Promise.all([one(), other()]);
  expect(keys.filter((key) => key !== null)).toHaveLength(1);
  expect(await Promise.all([one(), other()])).toEqual(keys);
  expect(await createFirstAgent(store)()).toBeNull();
  expect(await store.agents.list()).toHaveLength(1);
});

test('a start says how to create a new key until the first one has been used', async () => {
  const data = join(temporaryFolder(), 'var');
  await (await start(data)).stop();
  const again = await start(data);
  const rotate = /agent rotate first-agent --grace now --data \S+/.exec(again.text)?.[0] ?? '';
  expect(rotate).not.toBe('');
  const { stdout } = await writ(rotate.split(' '));
  const key = /writ_\w+/.exec(stdout)?.[0] ?? '';
  expect((await post(again.url, '/v1/authorize', { 'x-agent-api-key': key }, request)).status).toBe(200);
  await again.stop();
  expect((await start(data)).text).not.toContain('agent rotate');
});
