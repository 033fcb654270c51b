// `writ serve --demo`: runs a real service on data and policies of its own, with a past week and with
// simulated agents and people at work. INVARIANT: a demo reads and writes nothing outside its own temporary
// directory, listens on this machine alone, and removes its directory when it stops.

import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { type RunningServer, type ServeOptions, serve } from '../../service/http/main.ts';
import type { DemoAccount } from '../../service/http/resources/dashboard/dashboard.ts';
import {
  colleagueNames,
  createDemoAccounts,
  type DemoAccounts,
  demoAccount,
  openSession,
} from './accounts.ts';
import { callOf, createChance } from './agent-calls.ts';
import { createDemoClock, type DemoRequests, leaveWaiting, liveThrough, nextAgent } from './history.ts';

// Runs the demo while a visitor looks at it: agents ask at a human pace, and colleagues answer part of the
// waiting requests, late enough for the visitor to be first. INVARIANT: no error ends the demo; a request
// that fails is followed by later ones.

/** Milliseconds between two requests, with a mean of 2 s. */
const pauseMs = { from: 600, to: 3_400 } as const;
/** Milliseconds that a request waits before colleagues look at it. */
const patienceMs = { from: 60_000, to: 240_000 } as const;
/** The share of the waiting requests that colleagues answer. */
const answeredPart = 0.7;

/** Sends requests until the signal aborts. Resolves when everything that was under way has ended. */
async function goOn(cast: DemoAccounts, signal: AbortSignal): Promise<void> {
  const chance = createChance(Date.now());
  const answering = new Set<Promise<void>>();
  const pause = (ms: number) => setTimeout(ms, undefined, { signal, ref: false });
  const attempt = (work: Promise<void>): Promise<void> => work.catch(() => undefined);
  while (!signal.aborted) {
    const name = nextAgent(chance());
    const { caller } = cast.agents[name];
    const ask = async (): Promise<void> => {
      const { body } = await caller.send('/v1/authorize', callOf(name, chance));
      if (body.status === 'auto_approved')
        await caller.send(`/v1/requests/${body.request_id}/outcome`, { executed: true });
      if (body.decision !== 'ESCALATE' || chance() > answeredPart) return;
      const answered = attempt(answer(cast, { id: body.request_id, chance, pause }));
      answering.add(answered);
      void answered.finally(() => answering.delete(answered));
    };
    await attempt(ask());
    await attempt(pause(between(pauseMs, chance)));
  }
  await Promise.all(answering);
}

interface ApproverAgent {
  readonly id: string;
  readonly chance: () => number;
  readonly pause: (ms: number) => Promise<void>;
}

/**
 * Lets the colleagues vote one after the other. The service refuses the vote of a person who is not asked,
 * which changes nothing.
 */
async function answer({ colleagues }: DemoAccounts, { id, chance, pause }: ApproverAgent): Promise<void> {
  const isApproved = chance() < 0.8;
  const comment = isApproved ? 'Checked against the order' : 'Nobody ordered this';
  for (const name of colleagueNames) {
    await pause(between(patienceMs, chance) / colleagueNames.length);
    await colleagues[name].send(`/v1/requests/${id}/${isApproved ? 'approve' : 'reject'}`, { comment });
  }
}

function between({ from, to }: { readonly from: number; readonly to: number }, chance: () => number): number {
  return from + (to - from) * chance();
}

// Gives the policies of a demo an earlier state at the start of its week, and the change to their present
// one, so that the history and the comparison of sets have something to show.

interface Edit {
  readonly before: string;
  readonly after: string;
}

/**
 * Edits that turn the shipped payments policy into the earlier one, which asked a single person, and only
 * from 2,500 USD on.
 */
const edits: readonly Edit[] = [
  { before: 'to finance needs 2 within 4h', after: 'to finance within 4h' },
  { before: 'payload.amount > 1_000 USD', after: 'payload.amount > 2_500 USD' },
  {
    before: 'Payments over 1,000 USD need two people from finance',
    after: 'Payments over 2,500 USD need somebody from finance',
  },
];

/**
 * Writes the earlier text into the directory. Returns a function that writes the present text back. Somebody who
 * tries the language may have edited the policies of a checkout: an edit that no longer fits is left out.
 */
export function layEarlierPolicies(directory: string): () => void {
  const file = join(directory, 'payments', 'payments.policy');
  const shipped = readFileSync(file, 'utf8');
  const earlier = edits.reduce((text, { before, after }) => text.replace(before, after), shipped);
  writeFileSync(file, earlier);
  return () => writeFileSync(file, shipped);
}

const shippedPolicies = join(import.meta.dirname, '../../../policies');

export interface DemoOptions extends Pick<ServeOptions, 'logStream'> {
  /** The value of the setting `port`. */
  readonly port?: string | undefined;
  /** The value of the setting `log.level`; `warn` by default. */
  readonly logLevel?: string | undefined;
  /** The number of requests in the past week. */
  readonly count?: number;
  /** Whether agents go on asking; true by default. */
  readonly isLive?: boolean;
  /** Whether the pages are marked as those of a demo; false is for pictures of the pages. */
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
  const layLaterPolicies = layEarlierPolicies(policies);
  const account = demoAccount();
  const clock = createDemoClock();
  const deleteDirectory = (): void => rmSync(directory, { recursive: true, force: true });
  const server = await serve({
    // Without a configuration file and environment variables, the settings of a real service do not reach a
    // demo.
    directory,
    environment: {},
    flags: {
      ...demoSettings,
      port: options.port,
      'log.level': options.logLevel ?? 'warn',
      policies,
      data: join(directory, 'data'),
    },
    closings: [async () => deleteDirectory()],
    print: () => undefined,
    wall: clock,
    expiryEveryMs: 100,
    demo: (options.isMarked ?? true) ? account : null,
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
    await liveThrough(living, async () => {
      layLaterPolicies();
      await (await admin()).done('/v1/policies/reload');
    });
    const shown = await leaveWaiting(living, admin);
    if (options.isLive ?? true) keepAlive(server, cast);
    return { server, account, policies, shown };
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

function keepAlive(server: RunningServer, cast: DemoAccounts): void {
  const ending = new AbortController();
  const going = goOn(cast, ending.signal);
  server.onStop(async () => {
    ending.abort();
    await going;
  });
}
