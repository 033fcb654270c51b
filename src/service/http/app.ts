// Application wiring: the service, apart from listening. To follow a request through the service, open
// these files in this order:
//
//   connection   limits connections, and takes only HTTP that arrives in time     connection/http-server.ts
//   turn         follows the earlier requests of its connection                   connection/request-gate.ts
//   request      gets an id                                                       fastify-instance.ts
//   route        is a constant in resources/, listed for OpenAPI                  resources/all-routes.ts
//   checks       `checksInOrder` for a decision                                   resources/requests/authorize-handler.ts
//                `readCall` for any other request                                 routing/manage.ts
//   work         is done by a part of the service                                 composition-root.ts
//   reply        is sent after everything that it reports is on disk              connection/decision-exchange.ts
//   error reply  is made from whatever was thrown                                 connection/error-replies.ts
//
// INVARIANT: every error but those of /plants is `application/problem+json` with a code of the table in
// problem.ts.

import type { FastifyInstance } from 'fastify';
import type { PlaygroundOptions } from '../../analysis/playground.ts';
import type { ReplaysOptions } from '../../analysis/replay/replays.ts';
import { type Clock, createClock } from '../clock.ts';
import { createAttempts } from '../people/attempts.ts';
import { createDirectory } from '../people/directory.ts';
import type { PolicyHost } from '../policies/policy-host.ts';
import type { Metering } from '../requests/metering/metering.ts';
import type { RequestEvents } from '../requests/record/request-events.ts';
import { createBodyDigest } from '../requests/record/vote-scope.ts';
import { type AppSettings, appSettingsOf, configDefaults } from '../settings/load.ts';
import type { ReplicaAbout } from '../store/contract/replicas.ts';
import type { Store } from '../store/contract/store.ts';
import type { LogTiming } from '../transparency-log/transparency-log.ts';
import type { RateLimit } from './auth/rate-limit.ts';
import { type Base, createServiceParts, type ServiceParts } from './composition-root.ts';
import { createServerFactory, type ServerFactory } from './connection/http-server.ts';
import { requireDocumented } from './contract/openapi.ts';
import { describeReplica } from './describe-replica.ts';
import type { EventStreamsTiming } from './events/event-streams.ts';
import { addCommonHooks, createFastify, type LogOptions } from './fastify-instance.ts';
import { createDaysOf } from './resources/agents/agent-activity-view.ts';
import { describedRoutes } from './resources/all-routes.ts';
import { chatDeliveries } from './resources/chat/deliveries.ts';
import { type DemoAccount, dashboardRoutes } from './resources/dashboard/dashboard.ts';
import { documentationRoutes } from './resources/dashboard/documentation.ts';
import { addManagementRoutes, type ManagementDeps } from './resources/management.ts';
import { healthRoutes } from './resources/operations/health.ts';
import { metricsRoute, type ShareMetrics } from './resources/operations/metrics.ts';
import { openApiRoute } from './resources/operations/openapi.ts';
import { ssoPages } from './resources/people/sso.ts';
import { plantRoute } from './resources/policies/plants.ts';
import { authorizeRoute } from './resources/requests/authorize.ts';
import { scimRoutes } from './resources/scim/scim.ts';
import { createMetrics, type Metrics } from './telemetry/metrics.ts';
import type { RequestTracing } from './telemetry/tracing.ts';
import { type WatchedStore, watchStore } from './watched-store.ts';

const publicUrl = 'http://localhost';
const settings = appSettingsOf({
  ...configDefaults,
  sso: null,
  users: null,
  agentIssuers: [],
  transparency: { name: null, witnesses: [], quorum: 0 },
  smtp: null,
  siem: null,
  slack: null,
  teams: null,
});

/** The dependencies of the app with the default of each setting that was left out. */
export type ConfiguredDeps = Omit<AppDeps, keyof AppSettings | 'publicUrl'> &
  AppSettings & { readonly publicUrl: string };

export interface AppDeps extends Partial<AppSettings> {
  /** The address at which people reach the service; passkeys and the session's cookie belong to it. */
  readonly publicUrl?: string;
  readonly store: Store;
  readonly policies: Pick<PolicyHost, 'current' | 'state' | 'isReady' | 'onChange' | 'reload'>;
  /** SHA-256 of the sandbox token, which `/plants` requires. */
  readonly sandboxTokenDigest: Uint8Array;
  readonly rate: RateLimit;
  readonly log: LogOptions;
  /** Milliseconds since 1970; must never go back. */
  readonly clock?: Clock;
  /** Holds the meter totals; by default the service makes its own. */
  readonly metering?: Metering;
  /**
   * Tells listeners what became of requests; by default the service makes its own, without outside listeners.
   */
  readonly requestEvents?: RequestEvents;
  /** What this process tells the other replicas about itself. */
  readonly self?: ReplicaAbout;
  /**
   * Shares metrics among the processes that serve one address; by default the process shows its own metrics
   * alone.
   */
  readonly shareMetrics?: ShareMetrics | null;
  /** Traces requests for decisions; nothing is traced by default. */
  readonly tracing?: RequestTracing | null;
  /** The account that the sign-in page offers; only a demo sets it. */
  readonly demo?: DemoAccount | null;
  /** How often browsers receive events; times that are absent are as documented. */
  readonly eventStreamsTiming?: Partial<EventStreamsTiming>;
  /** How often the rules of alerts are evaluated; as documented by default. */
  readonly alerts?: { readonly everyMs: number };
  /** How often the transparency log takes in records and asks witnesses; as documented by default. */
  readonly logTiming?: Partial<LogTiming>;
  /** How often pending requests are looked at for fallbacks that are due; every two seconds by default. */
  readonly fallbacks?: { readonly everyMs: number };
  /** How often requests are compared with their messages in chats; every two seconds by default. */
  readonly chats?: { readonly everyMs: number };
  /** How often pending requests are looked at for reminders that are due; every five seconds by default. */
  readonly reminders?: { readonly everyMs: number };
  /** How often stand-ins that are over are looked for; every ten seconds by default. */
  readonly standIns?: { readonly everyMs: number };
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeoutMs?: number;
  /** Options of the threads in which policies are tried. */
  readonly playground?: Omit<PlaygroundOptions, 'onFailure'>;
  /** Options of the threads in which policies are tried on recorded requests. */
  readonly replays?: Omit<ReplaysOptions, 'onFailure'>;
}

const requestTimeoutMsDefault = 30_000;

/** The service with all its plugins and routes; the caller calls `listen` and `close`. */
export function createApp(given: AppDeps): FastifyInstance {
  const deps: ConfiguredDeps = { publicUrl, ...settings, ...given };
  const clock = deps.clock ?? createClock();
  const watched = watchStore(deps.store);
  const metrics = createMetrics({ store: deps.store, policies: deps.policies, clock });
  const shutdown = new AbortController();
  const app = createFastify({
    log: deps.log,
    bodyBytesMax: deps.bodyBytesMax,
    trustedProxies: deps.trustedProxies,
    serverFactory: serverFactoryOf(deps, metrics),
  });
  const base: Base = { store: watched.store, clock, metrics, log: app.log, shutdown: shutdown.signal };
  const parts = createServiceParts(deps, base);
  connect(parts, watched, deps.policies);
  metrics.addState({
    store: watched.store,
    clock,
    switches: parts.switches,
    webhooks: parts.outgoing.dispatcher.counts,
    mail: parts.outgoing.mailCounts,
    spans: deps.tracing?.counts ?? null,
    recordStream: parts.recordStream,
    onFailure: (err) => app.log.warn({ err }, 'could not read the store for the metrics'),
  });
  addLifecycle(app, parts);
  addCommonHooks(app, metrics, shutdown);
  addRoutes(app, { deps, base, parts });
  return app;
}

function serverFactoryOf(deps: ConfiguredDeps, metrics: Metrics): ServerFactory {
  return createServerFactory({
    requestTimeoutMs: deps.requestTimeoutMs ?? requestTimeoutMsDefault,
    connectionsMax: deps.connectionsMax,
    onProblem: (code) => metrics.refused(code),
  });
}

/** Connects requests, policies and the store to the parts that must hear of their changes. */
function connect(
  { requestEvents, eventStreams, waits, policyHistory, policyGaps, proposalJudge }: ServiceParts,
  watched: WatchedStore,
  policies: AppDeps['policies'],
): void {
  requestEvents.subscribe(() => {
    eventStreams.notify('requests');
    eventStreams.notify('approvals');
  });
  policies.onChange(() => {
    eventStreams.notify('policies');
    void policyHistory.note();
    policyGaps.updateSoon();
    proposalJudge.lookAgain();
  });
  watched.onChange((what) => {
    waits.recheck();
    if (what === 'documents') eventStreams.recheck();
  });
}

/**
 * Starts and closes the parts together with the service. A stop waits for no reader of an event stream and
 * for no download.
 */
function addLifecycle(app: FastifyInstance, parts: ServiceParts): void {
  const {
    statistics,
    outgoing,
    alerts,
    standingWatch,
    recordStream,
    fallbackWatch,
    reminderWatch,
    standInWatch,
    transparencyLog,
    policyGaps,
    playground,
    refusals,
    policyHistory,
    proposalAcceptor,
    proposalJudge,
    replays,
    waits,
    eventStreams,
    downloads,
    sso,
    tokenReader,
    workloadTokens,
    prepareForDelegates,
    chat,
  } = parts;
  app.addHook('onReady', () => statistics.start());
  app.addHook('onClose', () => statistics.close());
  app.addHook('onListen', async () => outgoing.start());
  app.addHook('onClose', async () => outgoing.close());
  app.addHook('onListen', async () => alerts.start());
  app.addHook('onListen', async () => policyGaps.updateSoon());
  app.addHook('onClose', () => alerts.close());
  app.addHook('onListen', async () => standingWatch.start());
  app.addHook('onClose', () => standingWatch.close());
  app.addHook('onListen', async () => fallbackWatch.start());
  app.addHook('onClose', () => fallbackWatch.close());
  app.addHook('onListen', async () => reminderWatch.start());
  app.addHook('onClose', () => reminderWatch.close());
  app.addHook('onListen', async () => standInWatch.start());
  app.addHook('onClose', () => standInWatch.close());
  app.addHook('onListen', async () => transparencyLog.start());
  app.addHook('onClose', () => transparencyLog.close());
  app.addHook('onListen', async () => recordStream?.start());
  app.addHook('onClose', async () => recordStream?.close());
  app.addHook('onListen', async () => chat.start());
  app.addHook('onClose', async () => chat.close());
  app.addHook('onReady', async () => tokenReader.start());
  app.addHook('onClose', async () => tokenReader.close());
  app.addHook('onReady', async () => workloadTokens.start());
  app.addHook('onClose', async () => workloadTokens.close());
  app.addHook('onListen', async () => sso?.recheck.start());
  app.addHook('onClose', async () => sso?.recheck.close());
  app.addHook('onListen', async () => void policyHistory.note());
  // What fails here fails again, and is reported, when a sub-agent comes.
  app.addHook('onListen', async () => void prepareForDelegates().catch(() => undefined));
  app.addHook('onClose', () => policyHistory.settled());
  app.addHook('onListen', async () => void proposalAcceptor.resume().then(() => proposalJudge.lookAgain()));
  app.addHook('preClose', async () => proposalJudge.close());
  app.addHook('preClose', async () => playground.close());
  app.addHook('preClose', async () => refusals.close());
  app.addHook('preClose', async () => replays.close());
  app.addHook('preClose', async () => eventStreams.close());
  app.addHook('preClose', async () => downloads.close());
  app.addHook('onClose', async () => waits.close());
}

interface AppParts {
  readonly deps: ConfiguredDeps;
  readonly base: Base;
  readonly parts: ServiceParts;
}

function addRoutes(app: FastifyInstance, appParts: AppParts): void {
  const { deps, base, parts } = appParts;
  const { store, shutdown, metrics, clock } = base;
  const routes = describedRoutes(deps.bodyBytesMax);
  requireDocumented(app, routes);
  const policies = () => deps.policies.current();
  app.register(authorizeRoute, { ...base, ...parts, policies, bodyBytesMax: deps.bodyBytesMax });
  app.register(addManagementRoutes, managementDeps(appParts));
  app.register(plantRoute, { plants: store.plants, tokenDigest: deps.sandboxTokenDigest });
  app.register(healthRoutes, {
    store,
    shutdown,
    policies: deps.policies,
    policyGaps: parts.policyGaps,
    metering: parts.metering,
  });
  app.register(metricsRoute, { metrics, shareMetrics: deps.shareMetrics ?? null });
  app.register(dashboardRoutes, { demo: deps.demo ?? null });
  app.register(documentationRoutes, {});
  app.register(chatDeliveries, { chat: parts.chat });
  app.register(ssoPages, { ...managementDeps(appParts), sso: parts.sso, log: app.log });
  app.register(scimRoutes, {
    directory: createDirectory(store.documents, clock),
    token: deps.sso?.scimToken ?? null,
    rules: deps.sso?.rules ?? [],
    origin: new URL(deps.publicUrl).origin,
  });
  app.register(openApiRoute, { routes });
}

/**
 * All that the routes of the management API use, in one object; each file of routes names the parts that it
 * takes.
 */
function managementDeps({ deps, base: { store, clock }, parts }: AppParts): ManagementDeps {
  const { policies, rate, areWebhooksPrivate, publicUrl, agentIssuers } = deps;
  const { outgoing } = parts;
  return {
    ...parts,
    agentIssuers,
    clock,
    self: deps.self ?? describeReplica(clock()),
    keyedDigest: createBodyDigest(store.masterKey),
    origin: new URL(publicUrl).origin,
    signInDeps: {
      directory: createDirectory(store.documents, clock),
      attempts: createAttempts(),
      masterKey: store.masterKey,
      origin: new URL(publicUrl).origin,
      newFactorMs: deps.newFactorMs,
      isSsoOnly: deps.sso?.isOnlyWay ?? false,
      notify: outgoing.access.noticed,
    },
    isSecure: publicUrl.startsWith('https:'),
    ssoName: deps.sso?.name ?? null,
    sendsMail: deps.smtp != null,
    store,
    policies,
    rate,
    openRequestsMax: deps.openRequestsMax,
    steadyMs: () => performance.now(),
    daysOf: createDaysOf(store),
    arePrivateAddressesAllowed: areWebhooksPrivate,
    areAgentReportsTrusted: deps.areAgentReportsTrusted,
    dispatcher: outgoing.dispatcher,
    accessEvents: outgoing.access,
    assignmentEvents: outgoing.assignments,
    standInEvents: outgoing.standIns,
  };
}
