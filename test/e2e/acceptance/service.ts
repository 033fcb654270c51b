// The product as a user runs it: the real command in its own process, on a free port, with a data directory of its own.

import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writ } from '../../cli/writ.ts';
import { storeEnvironment } from '../../service/store/place.ts';

const entry = join(import.meta.dirname, '../../../src/cli/writ.js');
const startMaxMsDefault = 60_000;

export interface Service {
  readonly url: string;
  readonly data: string;
  readonly process: ChildProcess;
  /** All text that the process has printed so far. */
  readonly output: () => string;
  /**
   * Sends a signal and waits for the end; returns the exit code, or null when the signal ended the process.
   */
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
}

export interface ServiceOptions {
  readonly policies: string;
  readonly data?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** The longest time until the service listens. */
  readonly startMaxMs?: number | undefined;
}

/** Resolves when the service listens. Rejects with its output when the process ends before. */
export async function startService({
  policies,
  data = temporary('data'),
  env = {},
  startMaxMs,
}: ServiceOptions): Promise<Service> {
  const settings = {
    // A high rate limit, because most tests do not test the rate; those that do set their own.
    WRIT_LIMITS_RATE_PER_MINUTE: '1000000000',
    WRIT_LIMITS_BURST: '1000000000',
    WRIT_LIMITS_IN_FLIGHT: '2000',
    // The database servers of tests have no standby.
    WRIT_STORE_DURABILITY: 'single',
    ...(await storeEnvironment(data)),
    ...env,
  };
  const started = await startServing(['--policies', policies, '--data', data], { env: settings, startMaxMs });
  return { ...started, data };
}

interface ServingOptions extends Pick<ServiceOptions, 'env' | 'startMaxMs'> {
  /** The `writ` of another version. */
  readonly program?: string;
}

/** Starts `writ serve` with these arguments, on a free port. Rejects as `startService` does. */
export async function startServing(
  args: readonly string[],
  { env = {}, startMaxMs = startMaxMsDefault, program = entry }: ServingOptions = {},
): Promise<Omit<Service, 'data'>> {
  const child = spawn(process.execPath, [program, 'serve', '--port', '0', ...args], {
    // This variable belongs to the tests; a service would refuse it as an unknown setting.
    env: { ...process.env, WRIT_TEST_POSTGRES: undefined, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const url = await new Promise<string>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      reject(new Error(`no address within ${startMaxMs} ms:\n${printed}`));
    }, startMaxMs);
    const read = (chunk: Buffer): void => {
      printed += chunk.toString();
      const address = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(printed)?.[0];
      if (address === undefined) return;
      clearTimeout(timer);
      resolve(address);
    };
    child.stdout.on('data', read);
    child.stderr.on('data', read);
    ended.then((code) => {
      clearTimeout(timer);
      reject(new Error(`ended with ${code}:\n${printed}`));
    });
  });
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    return await ended;
  };
  return { url, process: child, output: () => printed, end };
}

/** Registers an agent with the command; returns its key. */
export async function addAgent(
  data: string,
  name: string,
  env: Readonly<Record<string, string>> = {},
): Promise<string> {
  const args = [
    'agent',
    'add',
    name,
    '--tier',
    'low',
    '--owner',
    'owner@example.com',
    '--data',
    data,
    '--json',
  ];
  const { stdout, stderr } = await writ(args, { env: { ...(await storeEnvironment(data)), ...env } });
  const key = /writ_[0-9A-Za-z]+/.exec(stdout)?.[0];
  if (key === undefined) throw new Error(`no key in ${stdout}${stderr}`);
  return key;
}

export interface Reply {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

export async function ask(
  url: string,
  key: string,
  request: { action_key: string; payload: unknown },
): Promise<Reply> {
  const response = await fetch(`${url}/v1/authorize`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-agent-api-key': key },
    body: JSON.stringify(request),
  });
  return { status: response.status, body: (await response.json()) as Reply['body'] };
}

const temporaries: string[] = [];
process.on('exit', () => {
  for (const folder of temporaries) rmSync(folder, { recursive: true, force: true });
});

/** A new folder, removed when this process ends. */
export function temporary(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), `writ-${name}-`));
  temporaries.push(folder);
  return folder;
}
