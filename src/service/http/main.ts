// Turns a configuration into a running service: opens the store, loads the policies, listens, prints where,
// and stops in order. INVARIANT: what was opened is closed again, whether a later step of the start fails or
// the service stops.

import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createFirstAgent, isFirstKeyUnused } from '../agents/first-agent.ts';
import { randomBase62 } from '../agents/keys.ts';
import { findChanged } from '../audit/verify-start.ts';
import { type Clock, clockFault, createClock } from '../clock.ts';
import { createSetUpLink } from '../people/access.ts';
import { createDirectory } from '../people/directory.ts';
import { createSecret } from '../people/secrets.ts';
import { rememberAddress } from '../people/service-address.ts';
import { startSweep } from '../people/sweep.ts';
import { openBundledPolicies } from '../policies/bundles/bundled-policies.ts';
import { openPolicies, type PolicyHost, type PolicyLog } from '../policies/policy-host.ts';
import { openReplicatedPolicies } from '../policies/replicated-policies.ts';
import { startExpiry } from '../requests/expiry.ts';
import { startMeterUpkeep } from '../requests/metering/meter-upkeep.ts';
import { createMetering, type Metering } from '../requests/metering/metering.ts';
import { appSettingsOf, type Config, type ConfigSources, loadConfig } from '../settings/load.ts';
import type { Store } from '../store/contract/store.ts';
import type { StoreError } from '../store/contract/store-error.ts';
import { displayLocation, openStore, type StoreLocation, storeLocationOf } from '../store/open.ts';
import { describeReplica } from './describe-replica.ts';
import type { LogOptions } from './fastify-instance.ts';
import { formattedLog } from './log-text.ts';
import type { DemoAccount } from './resources/dashboard/dashboard.ts';
import type { ShareMetrics } from './resources/operations/metrics.ts';
import { tokenDigest } from './resources/policies/plants.ts';
import { areLinksLocal, portOf, publicUrlOf, urlOf } from './service-address.ts';
import { StartError, toStartError } from './start-error.ts';
import { openTracing, type RequestTracing, tracingOptionsOf } from './telemetry/tracing.ts';
import { createWaitForStore } from './wait-for-store.ts';
import { type PrintedRequest, welcome } from './welcome.ts';

export interface ServeOptions extends Partial<ConfigSources> {
  /** Prints the welcome; to standard output by default. */
  readonly print?: (text: string) => void;
  /** Takes the log, one line of JSON at a time; standard error by default. */
  readonly logStream?: { write(line: string): void };
  /** Called when the service stops, after everything that the service itself has opened is closed. */
  readonly closings?: readonly CloseStep[];
  /** The machine's clock; `Date.now` by default. */
  readonly wall?: Clock;
  /** How often requests whose wait is over are looked for, in milliseconds. */
  readonly expiryEveryMs?: number;
  /** Which process this is, when several processes serve the address. */
  readonly worker?: { readonly slot: number; readonly shareMetrics: ShareMetrics };
  /** The account that the sign-in page of a demo offers; null by default, as only a demo has one. */
  readonly demo?: DemoAccount | null;
}

export interface RunningServer {
  /** The address that the service listens on, without a path. */
  readonly url: string;
  readonly config: Config;
  /** The key of the agent that this start has registered; null when there were agents already. */
  readonly firstKey: string | null;
  /** The link that sets up the first admin; null when there are people. */
  readonly setUpUrl: string | null;
  /** Registers something to close before all else when the service stops. */
  readonly onStop: (closing: CloseStep) => void;
  /** Resolves when the service stops by itself, because it can store nothing any more. */
  readonly ended: Promise<void>;
  /**
   * Accepts no new requests, finishes those under way, flushes and closes. A second call waits for the same
   * end.
   */
  stop(): Promise<void>;
}

/**
 * Starts the service. SIGTERM and SIGINT stop it, at once when sent a second time; SIGHUP reloads the
 * policies. Rejects with a StartError, which has the message to print and the exit code to use.
 */
export async function serve(options: ServeOptions = {}): Promise<RunningServer> {
  return await serveConfigured(configured(options), options);
}

/** The configuration of a start. Throws the StartError with which `serve` rejects. */
export function configured({ directory, file, environment, flags }: Partial<ConfigSources>): Config {
  const loaded = loadConfig({
    directory: directory ?? process.cwd(),
    file,
    environment: environment ?? process.env,
    flags: flags ?? {},
  });
  if (loaded.ok) return loaded.config;
  throw new StartError(loaded.problems.map((line) => `writ: ${line}`).join('\n'), { exitCode: 2 });
}

/** Starts the service like `serve`, from a configuration that has been read. */
export async function serveConfigured(
  config: Config,
  options: Omit<ServeOptions, keyof ConfigSources> = {},
): Promise<RunningServer> {
  const opened: CloseStep[] = [...(options.closings ?? [])];
  try {
    return await start(config, options, opened);
  } catch (error) {
    await closeAll(opened);
    throw toStartError(error, config);
  }
}

/** The longest that a process lives on after its service has stopped by itself, in milliseconds. */
const lingerMs = 5_000;

/**
 * Ends this process with code 1 when its service stops by itself, whatever still keeps the process alive: so
 * its supervisor starts another, which can serve again.
 */
export function endWithService({ ended }: Pick<RunningServer, 'ended'>): void {
  void ended.then(() => {
    process.exitCode = 1;
    setTimeout(lingerMs, null, { ref: false }).then(() => process.exit(1));
  });
}

/** The longest that a start waits until the past of meters is filled in. */
const meterFillWaitMs = 2_000;

export type CloseStep = () => Promise<unknown>;

/** Loads what makes a request up only at the first start, which prints one. */
async function requestToTry(policies: PolicyHost, firstKey: string | null): Promise<PrintedRequest | null> {
  if (firstKey === null) return null;
  const { firstRequestFor } = await import('./first-request.ts');
  return firstRequestFor(policies.current());
}

/**
 * Closes the latest first: the server before the store that it writes to. When one fails, the rest is closed
 * all the same; then the first failure is thrown.
 */
async function closeAll(opened: readonly CloseStep[]): Promise<void> {
  const failures: unknown[] = [];
  for (const close of opened.toReversed()) await close().catch((error: unknown) => failures.push(error));
  if (failures.length > 0) throw failures[0];
}

async function start(config: Config, options: ServeOptions, opened: CloseStep[]): Promise<RunningServer> {
  const location = storeLocationOf({
    data: config.data,
    database: config.store,
    durability: config.durability,
  });
  const log = createLateLog();
  // The policies are compiled while the rest of the program loads and the store opens.
  const wall = options.wall ?? Date.now;
  const opening = startPolicies({ config, log, wall, slot: options.worker?.slot ?? 0 }, opened);
  const loading = import('./app.ts');
  const logOptions = logOptionsOf(config, options);
  const waiting = createWaitForStore({ forMs: config.storeWaitMs, log: logOptions });
  const store = await waiting(() => openServed(location));
  opened.push(() => store.close());
  const lost = new Promise<StoreError>((resolve) => store.onEnd(resolve));
  const clock = await waiting(() => startClock(config, { store, log, wall }));
  const self = describeReplica(clock());
  await waiting(async () => store.replicas?.introduce(self));
  const policies = await agreedPolicies(await opening, { config, store, clock, log }, opened);

  const tracing = openTraces(config, self.name, log);
  opened.push(async () => tracing?.close());
  const sandbox = await waiting(sandboxToken(config, store));
  const { createApp } = await loading;
  const port = await portOf(config);
  const publicUrl = config.publicUrl ?? publicUrlOf(config.host, port);
  const metering = createMetering({
    meters: store.meters,
    clock,
    onFailure: (err) => log.warn({ err }, 'could not read the history of a meter; it stays unknown'),
  });
  const upkeep = startMeterUpkeep({
    metering,
    policies: () => policies.current(),
    onFailure: (err) => log.warn({ err }, 'could not update meters; retrying'),
  });
  opened.push(() => upkeep.close());
  policies.onChange(() => void upkeep.take());
  // A long past is read on while requests are served; until it is filled in, the meter is unknown.
  await Promise.race([upkeep.take(), setTimeout(meterFillWaitMs, null, { ref: false })]);
  const app = createApp({
    ...configuredDeps(config),
    self,
    metering,
    publicUrl,
    store,
    policies,
    sandboxTokenDigest: sandbox.digest,
    clock,
    tracing,
    shareMetrics: options.worker?.shareMetrics ?? null,
    demo: options.demo ?? null,
    log: logOptions,
  });
  opened.push(() => app.close());
  log.use(app.log);
  noteIgnored(config, log);
  startUpkeep({ store, clock, log, metering, expiryEveryMs: options.expiryEveryMs }, opened);
  await app.listen({ host: config.host, port, listenTextResolver: () => 'listening' });

  const url = urlOf(config.host, port);
  // Signals are handled before the welcome is printed, because a process that reads it may send one.
  const stop = superviseSignals(policies, opened, app.log);
  const firstAccess = await makeFirst({ store, clock, publicUrl, waiting, slot: options.worker?.slot ?? 0 });
  const print = options.print ?? ((text) => void process.stdout.write(text));
  print(
    welcome({
      url,
      localLinks: areLinksLocal(config) ? publicUrl : null,
      dataFile: displayLocation(location),
      dataDirectory: config.data,
      database: config.store,
      policies: policies.state(),
      newSandboxToken: sandbox.newToken,
      request: await requestToTry(policies, firstAccess.firstKey),
      ...firstAccess,
    }),
  );
  const ended = lost.then((why) => {
    app.log.error({ detail: why.message }, 'this process can no longer store anything; exiting');
    stop().catch((err: unknown) => app.log.error({ err }, 'stopping failed'));
  });
  const { firstKey, setUpUrl } = firstAccess;
  return { url, config, firstKey, setUpUrl, onStop: (closing) => void opened.push(closing), ended, stop };
}

function logOptionsOf({ logFormat, logLevel }: Config, { logStream }: ServeOptions): LogOptions {
  return { level: logLevel, stream: formattedLog(logFormat, logStream ?? process.stderr) };
}

function openTraces(config: Config, instance: string, log: PolicyLog): RequestTracing | null {
  const options = tracingOptionsOf(config, instance);
  return options === null ? null : openTracing({ ...options, log });
}

/** Variables that are set for all programs of a machine must not keep the service from starting. */
function noteIgnored({ ignoredVariables }: Config, log: PolicyLog): void {
  for (const detail of ignoredVariables) log.warn({ detail }, 'ignoring a standard variable');
}

/** Opens the store and serves it; nothing stays open when that fails. */
async function openServed(location: StoreLocation): Promise<Store> {
  const store = await openStore({ ...location, isUpgradeAllowed: true });
  try {
    await checkState(store, displayLocation(location));
    await store.serve();
    return store;
  } catch (error) {
    await store.close();
    throw error;
  }
}

interface UpkeepSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: PolicyLog;
  readonly metering: Metering;
  readonly expiryEveryMs: number | undefined;
}

/** Ends waits that are over, and deletes what nobody needs any more. */
function startUpkeep(
  { store, clock, log, metering, expiryEveryMs }: UpkeepSources,
  opened: CloseStep[],
): void {
  const expiry = startExpiry({
    requests: store.requests,
    clock,
    everyMs: expiryEveryMs,
    onEnd: (requestId) => metering.settle(requestId, null),
    onFailure: (err) => log.warn({ err }, 'could not record expired requests; retrying'),
  });
  opened.push(() => expiry.close());
  const sweep = startSweep({
    documents: store.documents,
    clock,
    onFailure: (err) => log.warn({ err }, 'could not delete expired items; retrying'),
  });
  opened.push(() => sweep.close());
}

interface PolicySources {
  readonly config: Config;
  readonly log: PolicyLog;
  readonly wall: () => number;
  /** The number of this process among those that serve the address. */
  readonly slot: number;
}

/** Begins to compile the policies; if the start fails meanwhile, compiling is ended. */
function startPolicies({ config, log, wall, slot }: PolicySources, opened: CloseStep[]): Promise<PolicyHost> {
  const ending = new AbortController();
  const keptIn = join(config.data, 'compiled.writ');
  const common = { timeoutMs: config.compileTimeoutMs, keptIn, log, now: wall, signal: ending.signal };
  const opening =
    config.bundle === null
      ? openPolicies({ ...common, directory: config.policies })
      : openBundledPolicies({ ...common, ...config.bundle, folder: bundleFolder(config, slot) });
  const ended = opening.then(
    (host) => () => host.close(),
    () => async () => undefined,
  );
  opened.push(async () => {
    ending.abort();
    await (await ended)();
  });
  return opening;
}

/** The directory of the bundle; only this process writes to it. */
function bundleFolder({ data }: Config, slot: number): string {
  return join(data, slot === 0 ? 'bundle' : `bundle-${slot}`);
}

interface AgreementOptions {
  readonly config: Config;
  readonly store: Store;
  readonly clock: Clock;
  readonly log: PolicyLog;
}

/**
 * The policy host. When several processes may serve the store, it makes all of them decide by the same set.
 */
async function agreedPolicies(
  host: PolicyHost,
  { config, store, clock, log }: AgreementOptions,
  opened: CloseStep[],
): Promise<PolicyHost> {
  const { replicas: agreement } = store;
  if (agreement === null) return host;
  const { compileTimeoutMs } = config;
  const agreed = await openReplicatedPolicies({ host, agreement, clock, log, compileTimeoutMs });
  opened.push(() => agreed.close());
  return agreed;
}

/** The options of the app that come from the configuration. */
function configuredDeps(config: Config) {
  return { ...appSettingsOf(config), rate: { perMinute: config.ratePerMinute, burst: config.burst } };
}

/**
 * Throws a StartError when the store was changed from outside: a start relies on what the store holds, so the
 * service itself must have written it.
 */
async function checkState(store: Store, location: string): Promise<void> {
  const changed = await findChanged(store, location);
  if (changed !== null) throw changed;
}

interface ClockSources {
  readonly store: Store;
  readonly log: PolicyLog;
  readonly wall: Clock;
}

/**
 * The clock of the service. Earlier grants must not become valid again: the clock goes on from the newest
 * record, or the service does not start.
 */
async function startClock({ clockBehind }: Config, { store, log, wall: own }: ClockSources): Promise<Clock> {
  const newestMs = await store.chain.latestAtMs();
  const wall = () => Math.floor(store.serverNow() ?? own());
  const fault = clockFault(wall(), newestMs);
  if (fault !== null && clockBehind === 'refuse') throw new StartError(`writ: ${fault}`);
  return createClock({
    wall,
    floorMs: fault === null ? newestMs : null,
    onSetBack: (aheadMs) =>
      log.warn(
        { ahead_ms: Math.round(aheadMs) },
        'the clock of the machine was set back; the clock of the service continues',
      ),
  });
}

/** Policies log before there is a server to log through; until then their lines are dropped. */
function createLateLog(): PolicyLog & { use(log: PolicyLog): void } {
  let target: PolicyLog | null = null;
  return {
    use: (log) => {
      target = log;
    },
    info: (fields, message) => target?.info(fields, message),
    warn: (fields, message) => target?.warn(fields, message),
    error: (fields, message) => target?.error(fields, message),
  };
}

const sandboxTokenLength = 40;

interface SandboxToken {
  readonly digest: Buffer;
  /** The new token; null when it was configured or made at an earlier start, as only its digest is kept. */
  readonly newToken: string | null;
}

/** Returns a step that may run again: the token is made once, however a write before has ended. */
function sandboxToken({ sandboxToken: configured }: Config, store: Store): () => Promise<SandboxToken> {
  if (configured !== null) return async () => ({ digest: tokenDigest(configured), newToken: null });
  const token = `writs_${randomBase62(sandboxTokenLength)}`;
  const newDigest = tokenDigest(token).toString('hex');
  return async () => {
    const storedDigest = await store.settings.putIfAbsent('sandbox.token_sha256', newDigest);
    return { digest: Buffer.from(storedDigest, 'hex'), newToken: storedDigest === newDigest ? token : null };
  };
}

interface FirstSources {
  readonly store: Store;
  readonly clock: Clock;
  readonly publicUrl: string;
  readonly waiting: ReturnType<typeof createWaitForStore>;
  /** The number of this process among those that serve the address. */
  readonly slot: number;
}

/** Makes what lets the first agent and the first person in, and remembers the address for commands. */
async function makeFirst({ store, clock, publicUrl, waiting, slot }: FirstSources) {
  const firstKey = await waiting(createFirstAgent(store));
  const url = slot === 0 ? await waiting(setUpUrl(store, clock, publicUrl)) : null;
  await waiting(() => rememberAddress(createDirectory(store.documents, clock), publicUrl));
  const isFirstKeyLost = firstKey === null && (await waiting(() => isFirstKeyUnused(store)));
  return { firstKey, setUpUrl: url, isFirstKeyLost };
}

/**
 * Returns a step that may run again; it returns a link that sets up the first admin, and null when there are
 * people. Links of earlier starts go on working, because somebody may have one open.
 */
function setUpUrl(store: Store, clock: Clock, base: string): () => Promise<string | null> {
  const link = { who: 'system', when: 'add', secret: createSecret() } as const;
  return async () => {
    const secret = await createSetUpLink(createDirectory(store.documents, clock), link);
    return secret === null ? null : `${base}/setup#token=${secret}`;
  };
}

/**
 * Handles the signals of the process until the service has stopped; returns the function that stops the
 * service.
 */
function superviseSignals(
  policies: PolicyHost,
  opened: readonly CloseStep[],
  log: PolicyLog,
): () => Promise<void> {
  let stopped: Promise<void> | null = null;
  const stop = (): Promise<void> => {
    stopped ??= closeAll(opened).finally(() => {
      for (const signal of ['SIGTERM', 'SIGINT'] as const) process.off(signal, onStop);
      process.off('SIGHUP', onReload);
    });
    return stopped;
  };
  const onStop = (signal: NodeJS.Signals) => {
    if (stopped !== null) process.exit(1);
    log.info({ signal }, 'stopping');
    stop().catch((error: unknown) => {
      log.error({ err: error }, 'stopping failed');
      process.exitCode = 1;
    });
  };
  const onReload = () => {
    log.info({}, 'reloading policies');
    void policies.reload();
  };
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, onStop);
  process.on('SIGHUP', onReload);
  return stop;
}
