// Starting and stopping: what is printed, what refuses a start and how, and what signals do to a running
// process.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { type RunningServer, type ServeOptions, serve } from '../../../src/service/http/main.ts';
import { StartError } from '../../../src/service/http/start-error.ts';
import { writ, writProcess } from '../../cli/writ.ts';
import { policyText, temporaryDirectory } from './service.ts';

const paymentText = `
action payment.create { amount: number 0..
  currency: "USD"
  vendor: string
  description: string }
policy payments on payment.create { allow small when payload.amount <= 500 }
`;

function project(text: string, files: Readonly<Record<string, string>> = {}): string {
  const directory = temporaryDirectory();
  mkdirSync(join(directory, 'policies'));
  writeFileSync(join(directory, 'policies', 'a.policy'), text);
  for (const [name, content] of Object.entries(files)) writeFileSync(join(directory, name), content);
  return directory;
}

interface Started extends RunningServer {
  readonly printed: string;
  readonly log: string;
}

async function start(directory: string, options: ServeOptions = {}): Promise<Started> {
  let printed = '';
  let log = '';
  const server = await serve({
    directory,
    environment: {},
    flags: { port: 0 },
    print: (text) => {
      printed += text;
    },
    logStream: {
      write: (line) => {
        log += line;
      },
    },
    ...options,
  });
  onTestFinished(() => server.stop());
  return { ...server, printed, log };
}

async function refusal(directory: string, options: ServeOptions = {}): Promise<StartError> {
  const error = await start(directory, options).then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof StartError)) throw error;
  return error;
}

describe('the welcome', () => {
  test('each start prints a link for the first admin until there is one', async () => {
    const directory = project(paymentText);
    const first = await start(directory);
    const link = /(http\S+)\/setup#token=([\w-]{43})/.exec(first.printed);
    expect(link?.[1]).toBe(first.url.replace('127.0.0.1', 'localhost'));
    await first.stop();
    const second = await start(directory);
    expect(second.printed).toContain('/setup#token=');
    const person = { email: 'ann@example.com', name: 'Ann', password: 'correct horse battery' };
    const setUp = () =>
      fetch(`${second.url}/v1/setup`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ token: link?.[2], ...person }),
      });
    expect((await setUp()).status).toBe(201);
    expect((await setUp()).status).toBe(404);
  });

  test('addresses contain the port if it was chosen by the system', async () => {
    const { url } = await start(project(paymentText));
    const reply = await fetch(`${url}/.well-known/authzen-configuration`);
    const { policy_decision_point } = (await reply.json()) as { policy_decision_point: string };
    expect(policy_decision_point).toBe(`http://localhost:${new URL(url).port}`);
  });

  test('the link uses the public address', async () => {
    const { printed } = await start(
      project(paymentText, { 'writ.yaml': 'public_url: https://writ.example.com' }),
    );
    expect(printed).toContain('https://writ.example.com/setup#token=');
    expect(printed).not.toContain('set public_url');
  });

  test('names public_url where links lead others nowhere', async () => {
    const { printed, url } = await start(project(paymentText, { 'writ.yaml': 'host: 0.0.0.0' }));
    expect(printed).toContain(
      `  links     http://localhost:${new URL(url).port}: set public_url to the address`,
    );
  });

  test('the first start prints a key, a token and a request that works', async () => {
    const { printed, url } = await start(project(paymentText));
    const key = /writ_[0-9A-Za-z]{46}/.exec(printed)?.[0] ?? '';
    const body = /-d '(.*)'/.exec(printed)?.[1] ?? '';
    const reply = await fetch(/curl -sS (\S+)/.exec(printed)?.[1] ?? '', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
      body,
    });
    expect(await reply.json()).toMatchObject({ decision: 'ALLOW' });
    const token = /token ([\w-]+), shown once/.exec(printed)?.[1] ?? '';
    const plant = await fetch(`${url}/plants`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
      body: '{"id":1,"name":"Fern"}',
    });
    expect(plant.status).toBe(200);
    expect(printed).toContain(`Writ listens on ${url}`);
    expect(printed).toContain('(1 action, 1 rule, set ');
  });

  test.each([
    [
      'fields of many types',
      'action mail.send { to: email, when: date, copies: integer 2..9, urgent: boolean, tags: [string] }',
    ],
    [
      'no value made up for the pattern of the first action',
      "action a.first { code: string matches '[A-Z]{3}-[0-9]{7}' }\naction b.second { text: string 3..10 }",
    ],
    [
      'an action that the examples know, with other fields',
      'action refund.create { reason: "late" | "broken" }',
    ],
  ])('the request of a first start fits the policies: %s', async (_, actions) => {
    const keys = Array.from(actions.matchAll(/action (\S+)/g), ([, key]) => key).join(', ');
    const { printed, url } = await start(
      project(`${actions}\npolicy p on ${keys} { owner "team" allow all }\n`),
    );
    const body = /-d '(.*)'/.exec(printed)?.[1] ?? '';
    const headers = {
      'content-type': 'application/json',
      'x-agent-api-key': /writ_[0-9A-Za-z]{46}/.exec(printed)?.[0] ?? '',
    };
    const reply = await fetch(`${url}/v1/authorize`, { method: 'POST', headers, body });
    expect(await reply.json()).toMatchObject({ decision: 'ALLOW' });
  });

  test('a later start prints neither, and says how to create another key', async () => {
    const directory = project(paymentText);
    const first = await start(directory);
    await first.stop();
    const { printed, url } = await start(directory);
    // Nobody has access yet, so it repeats that, with a link to itself.
    expect(printed).toContain('Nobody has access yet.');
    const link = /http:\S+\/setup#token=\S+/.exec(printed)?.[0] ?? '';
    expect(new URL(link).port).toBe(new URL(url).port);
    expect(printed).not.toMatch(/writ_[0-9A-Za-z]{46}|token \S/);
    // The whole printed line works when it is pasted.
    const [, line = ''] = /npm run -s writ -- (agent add NAME .*)/.exec(printed) ?? [];
    const words = line.replace('NAME', 'another').split(' ');
    expect((await writProcess(words)).stdout).toMatch(/writ_[0-9A-Za-z]{46}/);
    // A link that a command makes leads to this service, too.
    const data = words[words.indexOf('--data') + 1] ?? '';
    const made = (await writProcess(['people', 'setup-link', '--data', data])).stdout;
    expect(made).toMatch(new RegExp(`^http://localhost:${new URL(url).port}/setup#token=`));
  });

  test('without the payments pack, the request names the first declared action', async () => {
    const { printed } = await start(project(policyText));
    expect(printed).toContain(`-d '{"action_key":"demo.allow","payload":{}}'`);
  });

  test('a configured token is used and not printed', async () => {
    const { printed } = await start(project(policyText, { 'writ.yaml': 'sandbox:\n  token: abc-def\n' }));
    expect(printed).not.toContain('abc-def');
  });
});

describe('a bundle', () => {
  test('is served instead of a directory, and `/readyz` says why the next one is refused', async () => {
    const directory = project(paymentText);
    const built = await writ(['build', 'policies', '-o', 'payments.writ'], { cwd: directory });
    expect(built.code).toBe(0);
    const flags = { port: 0, bundle: 'payments.writ', 'bundle.poll_seconds': 1 };
    const served = await start(directory, { flags });
    expect(served.printed).toContain(`policies  ${join(directory, 'payments.writ')} (1 action, 1 rule`);
    const payload = { amount: 20, currency: 'USD', vendor: 'Acme', description: 'Pens' };
    const ask = async (amount: number) => {
      const reply = await fetch(`${served.url}/v1/authorize`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-agent-api-key': served.firstKey ?? '' },
        body: JSON.stringify({ action_key: 'payment.create', payload: { ...payload, amount } }),
      });
      return ((await reply.json()) as { decision: string }).decision;
    };
    expect([await ask(500), await ask(501)]).toEqual(['ALLOW', 'DENY']);
    writeFileSync(join(directory, 'payments.writ'), 'no bundle');
    const stateOf = async () =>
      ((await (await fetch(`${served.url}/readyz`)).json()) as { policies: object }).policies;
    await expect.poll(stateOf).toMatchObject({
      status: 'stale',
      failure: { cause: 'bundle', message: 'this is not a policy bundle' },
    });
    expect([await ask(500), await ask(501)]).toEqual(['ALLOW', 'DENY']);
  });
});

describe('a start is refused with one clear line', () => {
  test('port in use', async () => {
    const blocker = createServer().listen(0, '127.0.0.1');
    await once(blocker, 'listening');
    onTestFinished(() => void blocker.close());
    const { port } = blocker.address() as AddressInfo;
    const error = await refusal(project(policyText), { flags: { port } });
    expect(error).toMatchObject({ exitCode: 1 });
    expect(error.message).toMatch(new RegExp(`^writ: port ${port} on 127\\.0\\.0\\.1 is in use .*--port.*$`));
  });

  test('broken policies, with their diagnostics', async () => {
    const error = await refusal(project(policyText.replace('to finance', 'to fnance')));
    expect(error).toMatchObject({ exitCode: 1 });
    expect(error.message).toMatch(/a\.policy:7:/);
    expect(error.message).toContain('fnance');
  });

  test('no policy directory', async () => {
    const error = await refusal(temporaryDirectory());
    expect(error.message).toContain('policies');
  });

  test('an address of another machine', async () => {
    const error = await refusal(project(policyText), { flags: { port: 0, host: '192.0.2.1' } });
    expect(error.message).toMatch(/^writ: `192\.0\.2\.1` is not an address of this machine/);
  });

  test('a data directory that is a file', async () => {
    const error = await refusal(project(policyText, { var: '' }));
    expect(error.message.split('\n')).toHaveLength(1);
    expect(error.message).toMatch(/^writ: /);
  });

  test('a misspelt setting', async () => {
    const error = await refusal(project(policyText, { 'writ.yaml': 'prot: 1\n' }));
    expect(error).toMatchObject({ exitCode: 2 });
    expect(error.message).toContain('did you mean `port`');
  });

  test('and leaves nothing open: the same directory starts next', async () => {
    const directory = project(policyText.replace('to finance', 'to fnance'));
    await refusal(directory);
    writeFileSync(join(directory, 'policies', 'a.policy'), policyText);
    expect((await start(directory)).printed).toContain('shown once');
  });
});

describe('signals', () => {
  interface Child {
    readonly process: ChildProcess;
    readonly url: string;
    readonly key: string;
    readonly exit: Promise<number | null>;
    readonly log: () => string;
  }

  async function spawnService(directory: string): Promise<Child> {
    const script = new URL('./serve-child.ts', import.meta.url).pathname;
    const child = spawn(process.execPath, [script], { cwd: directory, stdio: ['ignore', 'pipe', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    let log = '';
    child.stderr.on('data', (chunk) => {
      log += String(chunk);
    });
    const exit = once(child, 'exit').then(([code]) => code as number | null);
    for await (const chunk of child.stdout) {
      printed += String(chunk);
      if (printed.includes('To register another agent')) break;
    }
    const url = /listens on (\S+)/.exec(printed)?.[1] ?? '';
    return { process: child, url, key: /writ_\w{46}/.exec(printed)?.[0] ?? '', exit, log: () => log };
  }

  const escalate = '{"action_key":"demo.escalate","payload":{}}';

  async function ask({ url, key }: Child): Promise<string> {
    const headers = { 'content-type': 'application/json', 'x-agent-api-key': key };
    const reply = await fetch(`${url}/v1/authorize`, { method: 'POST', headers, body: escalate });
    return ((await reply.json()) as { request_id: string }).request_id;
  }

  test('SIGTERM answers the requests in progress, then exits with 0; the record is on disk', async () => {
    const directory = project(policyText);
    const child = await spawnService(directory);
    const id = await ask(child);
    const waiting = fetch(`${child.url}/v1/requests/${id}`, {
      headers: { 'x-agent-api-key': child.key, prefer: 'wait=50' },
    });
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.process.kill('SIGTERM');
    expect(await (await waiting).json()).toMatchObject({ request_id: id, status: 'pending' });
    expect(await child.exit).toBe(0);
    await expect(fetch(child.url)).rejects.toThrow();
    const again = await start(directory);
    const found = await fetch(`${again.url}/v1/requests/${id}`, {
      headers: { 'x-agent-api-key': child.key },
    });
    expect(await found.json()).toMatchObject({ request_id: id });
    expect(child.log()).not.toContain(child.key);
  });

  test('a second signal exits at once', async () => {
    const child = await spawnService(project(policyText));
    // A request that never ends delays a graceful stop.
    const { hostname, port } = new URL(child.url);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    socket.write('POST /v1/authorize HTTP/1.1\r\nHost: x\r\n');
    await new Promise((resolve) => setTimeout(resolve, 200));
    child.process.kill('SIGINT');
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(child.process.exitCode).toBeNull();
    child.process.kill('SIGINT');
    expect(await child.exit).toBe(1);
  });

  test('SIGHUP reloads the policies', async () => {
    const directory = project(policyText);
    const child = await spawnService(directory);
    writeFileSync(join(directory, 'policies', 'a.policy'), 'rubbish');
    child.process.kill('SIGHUP');
    const deadline = Date.now() + 3_000;
    let status = '';
    while (status !== 'stale' && Date.now() < deadline) {
      const ready = (await (await fetch(`${child.url}/readyz`)).json()) as { policies: { status: string } };
      status = ready.policies.status;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    expect(status).toBe('stale');
    child.process.kill('SIGTERM');
    expect(await child.exit).toBe(0);
    expect(child.log()).toContain('reloading policies');
    expect(child.log()).toContain('unknown-declaration');
  });
});
