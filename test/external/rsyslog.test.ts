// A real syslog server takes the stream over TLS, with each of its TLS libraries: every record arrives, in order, also when
// the server is stopped and started again in the middle.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { authority, ofClient, ofReceiver, ofStranger } from '../service/siem/certificates.ts';
import { fill, fillWithEveryKind, startStream, writtenFile } from '../service/siem/stream.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { requireProgram } from './programs.ts';

beforeAll(() => requireProgram(['rsyslogd', '-v'], 'rsyslog rsyslog-openssl rsyslog-gnutls'));

interface Rsyslog {
  readonly url: string;
  /** The messages, as received. */
  messages(): readonly string[];
  start(): Promise<void>;
  stop(): Promise<void>;
}

async function createRsyslog(driver: string, certified = ofReceiver): Promise<Rsyslog> {
  const folder = temporaryFolder();
  const port = await freePort();
  const file = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text, { mode: 0o600 });
    return join(folder, name);
  };
  const output = join(folder, 'received');
  const config = file(
    'rsyslog.conf',
    `global(
  workDirectory="${folder}"
  defaultNetstreamDriver="${driver}"
  defaultNetstreamDriverCAFile="${file('ca.pem', authority)}"
  defaultNetstreamDriverCertFile="${file('cert.pem', certified.cert)}"
  defaultNetstreamDriverKeyFile="${file('key.pem', certified.key)}"
)
module(load="imtcp" StreamDriver.Name="${driver}" StreamDriver.Mode="1" StreamDriver.AuthMode="x509/certvalid")
template(name="raw" type="string" string="%rawmsg%\\n")
ruleset(name="writ") {
  action(type="omfile" file="${output}" template="raw")
}
input(type="imtcp" port="${port}" ruleset="writ")
`,
  );
  let server: ChildProcess | null = null;
  const rsyslog: Rsyslog = {
    url: `syslog+tls://localhost:${port}`,
    messages: () => (existsSync(output) ? readFileSync(output, 'utf8').trimEnd().split('\n') : []),
    async start() {
      server = spawn('rsyslogd', ['-n', '-f', config, '-i', join(folder, 'pid')], { stdio: 'ignore' });
      for (let at = 0; at < 100 && !(await isListening(port)); at++) await wait(100);
    },
    async stop() {
      if (server === null || server.exitCode !== null) return;
      const ended = once(server, 'exit');
      server.kill('SIGTERM');
      await ended;
    },
  };
  onTestFinished(() => rsyslog.stop());
  await rsyslog.start();
  return rsyslog;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

function isListening(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve(true);
    });
    socket.on('error', () => resolve(false));
  });
}

const client = () => ({
  certificate: writtenFile('client.pem', ofClient.cert),
  key: writtenFile('client.key', ofClient.key),
});

const numberOf = (message: string) => Number(/ externalId=(\d+) /.exec(message)?.[1]);

test.each(['ossl', 'gtls'])('%s: every record arrives once, in order, as it was sent', async (driver) => {
  const rsyslog = await createRsyslog(driver);
  const { store, run, cursor } = await startStream({
    format: 'cef',
    url: rsyslog.url,
    recordsMax: 100,
    timeoutMs: 10_000,
    ...client(),
  });
  await fill(store, 250);
  await fillWithEveryKind(store);
  await run();
  expect(await cursor()).toMatchObject({ sequence: 262, failure: null });
  await rsyslog.stop();
  const messages = rsyslog.messages();
  expect(messages.map(numberOf)).toEqual(Array.from({ length: 262 }, (_, at) => at + 1));
  expect(messages[0]).toMatch(/^<110>1 \S+ writ\.example\.com writ \d+ decision - CEF:0\|Writ\|Writ\|/);
});

test.each(['ossl', 'gtls'])('%s: nothing is lost when the server restarts in the middle', async (driver) => {
  const rsyslog = await createRsyslog(driver);
  const { store, pusher, cursor } = await startStream({
    format: 'cef',
    url: rsyslog.url,
    recordsMax: 50,
    timeoutMs: 10_000,
    ...client(),
  });
  await fill(store, 1_000);
  pusher.start();
  for (let restarts = 0; restarts < 3; restarts++) {
    await wait(700);
    await rsyslog.stop();
    await wait(300);
    await rsyslog.start();
  }
  for (let at = 0; at < 300 && (await cursor())?.resendAfter !== 1_000; at++) await wait(100);
  await rsyslog.stop();
  const numbers = rsyslog.messages().map(numberOf);
  expect([...new Set(numbers)].toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 1_000 }, (_, at) => at + 1),
  );
});

test('a server with a certificate for another name, or that knows no client, gets nothing', async () => {
  for (const [server, certificates] of [
    [await createRsyslog('ossl', ofStranger), client()],
    [await createRsyslog('ossl'), {}],
  ] as const) {
    const { store, run, cursor } = await startStream({
      format: 'cef',
      url: server.url,
      timeoutMs: 5_000,
      ...certificates,
    });
    await fill(store, 1);
    await run();
    expect(await cursor()).toMatchObject({ sequence: 0, failure: { reason: expect.any(String) } });
    await server.stop();
    expect(server.messages()).toEqual([]);
  }
});
