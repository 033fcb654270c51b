// A server that ends: the proxy on standard streams ends with it, and the proxy over HTTP starts it again, with pauses.
// What waited at that moment gets an error, and is carried out by no later server.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import type { Upstream } from '../../../integrations/mcp/calls/conversation.ts';
import type { UpstreamEvents } from '../../../integrations/mcp/servers/child-upstream.ts';
import { ServerPausedError, withRestarts } from '../../../integrations/mcp/servers/restarts.ts';
import { shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { countingServer, type Got, listenForClients, modern, proxySettings, tool } from './rig.ts';

const service = shareService();

beforeAll(() =>
  usePolicies(
    service(),
    'approvers finance "F"\naction files.die, files.pay, files.ask_people { }\npolicy p on files.* { allow each when agent.name != "nobody"\nescalate asked to finance when action.key == "files.ask_people" }',
  ),
);

const tools = [tool('die'), tool('pay'), tool('ask_people')];

test('over stdio the proxy exits with its server, with code 1, and waiting calls get an error', async () => {
  const server = countingServer(...tools);
  const { server: place } = server.settings;
  const command = 'command' in place ? place.command : [];
  const args = ['mcp', '--as', 'files', '--service', service().url, '--hold', '600', '--', ...command];
  const proxy = spawn(process.execPath, ['src/cli/writ.js', ...args], {
    env: { ...process.env, WRIT_API_KEY: service().apiKey },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void proxy.kill('SIGKILL'));
  const ended = once(proxy, 'exit');
  let told = '';
  proxy.stderr.on('data', (chunk: Buffer) => {
    told += chunk.toString();
  });
  const got: Got[] = [];
  createInterface({ input: proxy.stdout }).on('line', (line) => got.push(JSON.parse(line)));
  const ask = (id: number, method: string, params: object) =>
    proxy.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  const clientInfo = { name: 't', version: '1' };
  ask(1, 'initialize', { protocolVersion: '2025-11-25', capabilities: {}, clientInfo });
  await expect.poll(() => got.length, { timeout: 60_000 }).toBe(1);
  ask(2, 'tools/call', { name: 'ask_people', arguments: {} });
  await expect
    .poll(() => service().store.requests.openOf(service().agent.id, 1), { timeout: 60_000 })
    .toHaveLength(1);
  ask(3, 'tools/call', { name: 'die', arguments: {} });
  const [code] = await ended;
  expect([code, told]).toEqual([1, expect.stringContaining('the server has ended')]);
  const messages = Object.fromEntries(got.map(({ id, error }) => [id, error?.message]));
  expect(messages[2]).toMatch(/was not carried out/);
  expect(messages[3]).toMatch(/is not known/);
  expect(server.calls()).toHaveLength(1);
});

test('over HTTP the server is started again after a pause, and calls in between used no grant', async () => {
  const server = countingServer(...tools);
  const url = await listenForClients(proxySettings(service(), server));
  const call = async (name: string): Promise<Got> => {
    const reply = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${service().apiKey}`,
        'mcp-protocol-version': '2026-07-28',
        'mcp-method': 'tools/call',
        'mcp-name': name,
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name, arguments: {}, ...modern() },
      }),
    });
    return await reply.json();
  };
  expect((await call('die')).error.message).toMatch(/is not known/);
  const soon = await call('pay');
  expect(soon.error.message).toMatch(/^the server was not called: .* started again in/);
  await expect.poll(async () => (await call('pay')).result?.resultType, { timeout: 60_000 }).toBe('complete');
  expect(server.calls().map(({ params }) => params.name)).toEqual(['die', 'pay']);
});

describe('pauses between starts', () => {
  function rig() {
    let nowMs = 0;
    const events: UpstreamEvents[] = [];
    const upstream: Upstream = { send: () => undefined, close: () => undefined };
    const open = withRestarts(
      (given) => {
        events.push(given);
        return upstream;
      },
      () => nowMs,
    );
    const start = () => open({ onMessage: () => undefined, onEnd: () => undefined }, () => null);
    const wait = (ms: number) => {
      nowMs += ms;
    };
    const end = () => events.at(-1)?.onEnd('the server has ended (3)');
    return { start, end, wait, count: () => events.length };
  }

  test('grow while it ends soon after its start, up to a minute', () => {
    const { start, end, wait, count } = rig();
    const pauses: number[] = [];
    for (let n = 0; n < 9; n += 1) {
      start();
      end();
      let pause = 0;
      for (; ; pause += 500, wait(500)) {
        try {
          expect(start).toThrow(ServerPausedError);
        } catch {
          break;
        }
      }
      end();
      wait(60_000);
      pauses.push(pause);
    }
    expect(pauses.slice(0, 3)).toEqual([1_000, 4_000, 16_000]);
    expect(pauses.at(-1)).toBe(60_000);
    expect(count()).toBe(18);
  });

  test('are zero for a server that ran for long, and for one that the proxy stopped', () => {
    const { start, end, wait, count } = rig();
    start();
    wait(20_000);
    end();
    start().close();
    end();
    start();
    expect(count()).toBe(3);
  });
});
