// `writ serve --demo`: runs a real service on data and policies of its own, with a past week and with
// simulated agents and people at work. INVARIANT: a demo reads and writes nothing outside its own temporary
// directory, listens on this machine alone, and removes its directory when it stops.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type RunningServer, type ServeOptions, serve } from '../../service/http/main.ts';
import type { DemoAccount } from '../../service/http/resources/dashboard/dashboard.ts';
import { createDemoAccounts, type DemoAccounts, demoAccount, openSession, setUpCodes } from './accounts.ts';
import { createDemoClock, createOpenRequests, type DemoRequests, simulateWeek } from './history.ts';
import { sendLiveTraffic } from './live-traffic.ts';
import { writePreviousPolicies } from './previous-policies.ts';

const shippedPolicies = join(import.meta.dirname, '../../../policies');

export interface DemoOptions extends Pick<ServeOptions, 'logStream'> {
  /** The value of the setting `port`. */
  readonly port?: string | undefined;
  /** The value of the setting `log.level`; `error` by default: warnings before the simulated people exist would mislead. */
  readonly logLevel?: string | undefined;
  /** The number of requests in the past week. */
  readonly count?: number;
  /** Whether agents go on asking; true by default. */
  readonly isLive?: boolean;
  /**
   * Whether the pages are marked as those of a demo, and show the one-time codes of its account; false is for
   * pictures of the pages, and then the account has no codes.
   */
  readonly isMarked?: boolean;
  /** Called with a text about the progress of making the past week. */
  readonly onProgress?: (text: string) => void;
}

export interface Demo {
  readonly server: RunningServer;
  readonly account: DemoAccount;
  /** The copy of the shipped policies that decides in the demo. */
  readonly policies: string;
  readonly shown: DemoRequests;
}

const countDefault = 700;

/**
 * Starts a demo. Null when the demo was stopped before it was ready. Rejects with a StartError as `serve`
 * does.
 */
export async function openDemo(options: DemoOptions = {}): Promise<Demo | null> {
  const directory = mkdtempSync(join(tmpdir(), 'writ-demo-'));
  const policies = join(directory, 'policies');
  cpSync(shippedPolicies, policies, { recursive: true });
  const layLaterPolicies = writePreviousPolicies(policies);
  const account = demoAccount();
  const isMarked = options.isMarked ?? true;
  const clock = createDemoClock();
  const deleteDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  const server = await serve({
    // Without a configuration file and environment variables but the port, the settings of a real service do not
    // reach a demo.
    directory,
    environment: { WRIT_PORT: process.env.WRIT_PORT },
    flags: {
      ...demoSettings,
      port: options.port,
      'log.level': options.logLevel ?? 'error',
      policies,
      data: join(directory, 'data'),
    },
    closings: [async () => deleteDirectory()],
    print: () => undefined,
    wall: clock,
    expiryEveryMs: 100,
    demo: isMarked ? account : null,
    ...(options.logStream === undefined ? {} : { logStream: options.logStream }),
  }).catch((error: unknown) => {
    deleteDirectory();
    throw error;
  });
  let isStopping = false;
  server.onStop(async () => {
    isStopping = true;
  });
  try {
    options.onProgress?.('Generating a week of requests, with real decisions and records ...');
    const cast = await createDemoAccounts(server, account);
    const admin = () => openSession(server.url, account);
    const living = { cast, clock, count: options.count ?? countDefault };
    await simulateWeek(living, async () => {
      layLaterPolicies();
      await (await admin()).done('/v1/policies/reload');
    });
    // Before the present, so that the visitor's first sign-in and step-up find codes that nobody has used.
    if (isMarked) await setUpCodes(server.url, account, clock());
    const demoRequests = await createOpenRequests(living);
    if (options.isLive ?? true) keepAlive(server, cast, living.count);
    return { server, account, policies, shown: demoRequests };
  } catch (error) {
    const wasStopped = isStopping;
    await server.stop();
    if (wasStopped) return null;
    throw error;
  }
}

/**
 * Settings that allow many requests in little time while the past week is made, and second factors that can
 * be tried at once.
 */
const demoSettings = {
  'limits.rate_per_minute': '60000',
  'limits.burst': '10000',
  'people.new_factor_minutes': '0',
} as const;

function keepAlive(server: RunningServer, cast: DemoAccounts, countInWeek: number): void {
  const ending = new AbortController();
  const going = sendLiveTraffic(cast, { signal: ending.signal, countInWeek });
  server.onStop(async () => {
    ending.abort();
    await going;
  });
}
