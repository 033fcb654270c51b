// Composition root: puts together the parts of the service behind its routes. Each part is made once, from no more than it needs.

import { hostname } from 'node:os';
import type { FastifyBaseLogger } from 'fastify';
import { createPlayground } from '../../analysis/playground.ts';
import { createReplays } from '../../analysis/replay/replays.ts';
import { delegationsIn } from '../agents/delegations/delegation.ts';
import { createNonceCache, nonceStoreOf } from '../agents/nonces.ts';
import { createSignatureVerifier } from '../agents/signature.ts';
import { type PolicyGaps, watchPolicyGaps } from '../alerts/policy-gaps.ts';
import { watchAlerts } from '../alerts/watch-alerts.ts';
import { faultOfFile, fileOfError } from '../file-fault.ts';
import { createDirectory, type Directory } from '../people/directory.ts';
import { createKillSwitchBoard } from '../people/kill-switches.ts';
import { createProviderOnDemand } from '../people/sso/provider-on-demand.ts';
import { createRecheck } from '../people/sso/recheck.ts';
import { endStandInsOver } from '../people/stand-ins.ts';
import { createDelegatedPolicies, type DelegatedPolicies } from '../policies/delegated-policies.ts';
import { createPolicyHistory } from '../policies/policy-history.ts';
import type { PolicyState } from '../policies/policy-host.ts';
import { createProposals } from '../policies/proposals.ts';
import { createReceipts } from '../receipts/issue-receipt.ts';
import { createReceiptKeys } from '../receipts/receipt-keys.ts';
import { createStatements } from '../receipts/statement.ts';
import { repeatLook } from '../repeated-look.ts';
import { watchFallbacks } from '../requests/approvals/ask-fallbacks.ts';
import { createVoteEvaluator } from '../requests/approvals/effective-votes.ts';
import { watchReminders } from '../requests/approvals/remind.ts';
import { type AuthorizerOptions, createAuthorizer } from '../requests/authorize.ts';
import { createMetering } from '../requests/metering/metering.ts';
import { createPlanner } from '../requests/plans/make-plan.ts';
import { engineVersions } from '../requests/record/engine-versions.ts';
import { createReceiptBases } from '../requests/record/receipt-basis.ts';
import { createRequestEvents } from '../requests/record/request-events.ts';
import { createRefusalRecorder } from '../requests/refusal.ts';
import { createRequestChanges } from '../requests/request-changes.ts';
import { createStandingApprovals } from '../requests/standing/standing-approvals.ts';
import { watchStanding } from '../requests/standing/watch-standing.ts';
import { createRecordStream, type RecordStream } from '../siem/record-stream.ts';
import { createStatistics } from '../statistics/statistics.ts';
import type { Store } from '../store/contract/store.ts';
import { createTransparencyLog, type TransparencyLog } from '../transparency-log/transparency-log.ts';
import { createTokenReader, noTokenReader, type TokenReader } from '../users/on-behalf.ts';
import { createProofChecker, proofNoncePrefix } from '../workloads/proof.ts';
import { createWorkloadTokenReader, noWorkloadTokens } from '../workloads/read-token.ts';
import type { ConfiguredDeps } from './app.ts';
import { createFairShares } from './auth/fair-shares.ts';
import { createIdentifier } from './auth/identify-agent.ts';
import { createFindPeople } from './auth/request-rights.ts';
import { createEventStreams } from './events/event-streams.ts';
import { createOutgoing, type OutgoingMessages } from './events/outgoing.ts';
import { createWhoIsAsked } from './events/who-is-asked.ts';
import { createChat } from './resources/chat/create-chat.ts';
import { createAcceptor } from './resources/policies/proposals/accept-proposal.ts';
import { createProposalJudge } from './resources/policies/proposals/judge-proposals.ts';
import {
  type AuthorizeHandlerOptions,
  createAuthorizeHandler,
} from './resources/requests/authorize-handler.ts';
import { createPlanHandler } from './resources/requests/plan-handler.ts';
import { createRefusalHints } from './resources/requests/refusal-hints.ts';
import { createReviews } from './resources/requests/reviews.ts';
import { createWaits } from './resources/requests/wait.ts';
import { createDownloads } from './routing/downloads.ts';
import { StartError } from './start-error.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { createUnknownResultNotes } from './telemetry/unknown-results.ts';

/** What every part is made from. */
export interface Base {
  readonly store: Store;
  readonly clock: () => number;
  readonly metrics: Metrics;
  readonly log: FastifyBaseLogger;
  readonly shutdown: AbortSignal;
}

/**
 * RequestChanges of all agents that may be under way at the same time: half of what the store lets wait for the
 * disk.
 */
const decisionsMax = 5_000;
/** A stand-in that is over counts for nothing from that moment; its end is recorded with the next look. */
const standInsEveryMs = 10_000;

export type ServiceParts = ReturnType<typeof createServiceParts>;

export function createServiceParts(deps: ConfiguredDeps, base: Base) {
  const { store, clock, shutdown, log } = base;
  const parts = { ...createUpkeep(deps, base), ...createCallers(deps, base) };
  const decided = createDeciding(deps, base, parts);
  const waits = createWaits({
    requests: store.requests,
    statistics: store.statistics,
    requestEvents: parts.requestEvents,
    clock,
    ofOneMax: deps.waitsMax,
    shutdown,
    onFailure: (err) => log.warn({ err }, 'could not read request events; retrying'),
  });
  const tokenReader = !deps.users
    ? noTokenReader
    : createTokenReader(deps.users, (err) =>
        log.warn({ err }, "could not read the keys of the users' issuer; retrying"),
      );
  const { authorizeHandler, planHandler } = createHandlers(deps, base, { ...parts, ...decided, tokenReader });
  const outgoing = createOutgoing({
    store,
    policies: deps.policies,
    clock,
    publicUrl: deps.publicUrl,
    smtp: deps.smtp,
    arePrivateAddressesAllowed: deps.areWebhooksPrivate,
    requests: parts.requestEvents,
    tracing: deps.tracing ?? null,
    log,
  });
  const directory = createDirectory(store.documents, clock);
  const policyGaps = createPolicyGaps(deps, { log, directory, eventStreams: parts.eventStreams });
  const transparencyLog = createLog(deps, { clock, log });
  const recordStream = createStream(deps, base);
  const alerts = watchAlerts({
    directory,
    siem: recordStream?.status ?? null,
    policyGaps,
    logFaults: transparencyLog.faults,
    statistics: parts.statistics,
    switches: decided.switches,
    staleSinceMs: () => staleSinceMs(deps.policies.state()),
    messagesOf: outgoing.alertMessages,
    onChange: () => parts.eventStreams.notify('alerts'),
    onFailure: (err) => log.warn({ err }, 'could not evaluate alert rules; retrying'),
    ...deps.alerts,
  });
  const policyHistory = createPolicyHistory({
    documents: store.documents,
    current: () => deps.policies.current(),
    clock,
    onNoted: () => parts.eventStreams.notify('policies'),
    onFailure: (err) => log.warn({ err }, 'could not add the active policies to the history'),
  });
  return {
    ...parts,
    ...decided,
    ...createChatParts(deps, base, { ...parts, ...decided }),
    ...createAnalyses(deps, base),
    sso: createSso(deps, base),
    waits,
    tokenReader,
    authorizeHandler,
    planHandler,
    outgoing,
    alerts,
    ...createWatches(deps, { ...decided, outgoing, directory, log }),
    transparencyLog,
    policyGaps,
    policyHistory,
    recordStream,
    ...createProposalParts(deps, base, () => parts.eventStreams.notify('policies')),
    downloads: createDownloads(),
  };
}

interface WatchParts extends Pick<Base, 'log'>, Pick<ReturnType<typeof createDeciding>, 'deciding'> {
  readonly outgoing: OutgoingMessages;
  readonly directory: Directory;
}

/** Makes the parts that look again and again for what time brings: fallbacks, reminders, and ends of stand-ins. */
function createWatches(deps: ConfiguredDeps, { deciding, outgoing, directory, log }: WatchParts) {
  return {
    standingWatch: watchStanding({
      ...deciding,
      messagesOf: outgoing.standingMessages,
      onFailure: (err) => log.warn({ err }, 'could not look at the standing approvals; retrying'),
    }),
    fallbackWatch: watchFallbacks({
      ...deciding,
      ...deps.fallbacks,
      onFailure: (err) => log.warn({ err }, 'could not ask the fallbacks of requests; retrying'),
    }),
    reminderWatch: watchReminders({
      ...deciding,
      everyMs: deps.reminders?.everyMs,
      reminders: { beforeMs: deps.reminderBeforeMs, hours: deps.workingHours },
      whoIsAsked: createWhoIsAsked(directory),
      onFailure: (err) => log.warn({ err }, 'could not send reminders of requests; retrying'),
    }),
    standInWatch: repeatLook({
      everyMs: deps.standIns?.everyMs ?? standInsEveryMs,
      look: async () => {
        const groups = new Set(
          deciding
            .policies()
            .about()
            .approvers.map(({ name }) => name),
        );
        await endStandInsOver(directory, (group) => groups.has(group));
      },
      onFailure: (err) => log.warn({ err }, 'could not end the stand-ins that are over; retrying'),
    }),
  };
}

/** The store that tells others of changes is not used: a checkpoint changes nothing that waiting callers rely on. */
function createLog(
  { store, transparency: { name, ...settings }, publicUrl, logTiming }: ConfiguredDeps,
  { clock, log }: Pick<Base, 'clock' | 'log'>,
): TransparencyLog {
  return createTransparencyLog({
    store,
    ...settings,
    origin: name ?? `${new URL(publicUrl).host}/writ`,
    clock,
    onFault: (message) => log.error(`the transparency log is not confirmed: ${message}`),
    onFailure: (err) => log.warn({ err }, 'could not bring the transparency log up to date; retrying'),
    ...(logTiming && { timing: logTiming }),
  });
}

/** The stream of records to a SIEM; null when the settings name no receiver. Throws a StartError. */
function createStream(
  { siem: settings, policies }: ConfiguredDeps,
  { store, clock, log }: Base,
): RecordStream | null {
  if (settings === null) return null;
  try {
    return createRecordStream({
      settings,
      store,
      clock,
      shapeOf: (action) => policies.current().shapeOf(action) ?? null,
      version: engineVersions.writ,
      host: hostname(),
      log,
    });
  } catch (error) {
    const fault = faultOfFile(error);
    if (fault === null) throw error;
    throw new StartError(`writ: ${fileOfError(error, 'a certificate for the SIEM')} ${fault}`, {
      exitCode: 2,
    });
  }
}

/** Makes the chats, and the reviews of requests that they share with the dashboard. */
function createChatParts(
  deps: ConfiguredDeps,
  { store, clock, log }: Base,
  { requestChanges, requestEvents }: Pick<DecidingParts, 'requestChanges' | 'requestEvents'>,
) {
  const { publicUrl, policies, slack, teams, chats } = deps;
  const reviews = createReviews(store, clock);
  const chat = createChat({
    store,
    clock,
    publicUrl,
    policies: () => policies.current(),
    requestChanges,
    requestEvents,
    reviews,
    slack,
    teams,
    everyMs: chats?.everyMs,
    log,
  });
  return { reviews, chat };
}

/** Makes the parts that keep, judge and accept proposals. */
function createProposalParts(deps: ConfiguredDeps, { store, clock, log }: Base, onChange: () => void) {
  const { policies, mayAgentsPropose, isNarrowingAccepted } = deps;
  const proposals = createProposals(store.documents, clock);
  return {
    proposals,
    proposalSettings: { mayAgentsPropose, isNarrowingAccepted },
    proposalJudge: createProposalJudge({
      proposals,
      // A thread of its own: a proof for an agent must not delay what people ask while they type.
      playground: createPlayground({
        ...deps.playground,
        onFailure: (err, summary) => log.warn({ err }, `could not judge a proposal: ${summary}`),
      }),
      policies,
      clock,
      onChange,
      onFailure: (err) => log.warn({ err }, 'could not judge the proposals again; retrying'),
    }),
    proposalAcceptor: createAcceptor({
      proposals,
      policies,
      store,
      onFailure: (err) => log.warn({ err }, 'could not write the files of an accepted proposal'),
    }),
  };
}

/** Makes the threads that explain, try and replay decisions. */
function createAnalyses(deps: ConfiguredDeps, { store, log }: Base) {
  const playground = createPlayground({
    ...deps.playground,
    onFailure: (err, summary) => log.error({ err }, summary),
  });
  const refusals = createPlayground({
    ...deps.playground,
    onFailure: (err, summary) => log.warn({ err }, `could not add a hint to a refusal: ${summary}`),
  });
  const refusalHintOf = createRefusalHints({
    requests: store.requests,
    playground: refusals,
    policies: () => deps.policies.current(),
    origin: new URL(deps.publicUrl).origin,
  });
  const replays = createReplays({
    ...deps.replays,
    onFailure: (err, summary) => log.error({ err }, summary),
  });
  return { playground, refusals, refusalHintOf, replays };
}

/** Makes the parts that identify agents and sub-agents, with the policies as they decide for sub-agents. */
function createCallers({ rate, agentIssuers, publicUrl }: ConfiguredDeps, { store, clock, log }: Base) {
  const delegated = createDelegatedPolicies();
  /** Loads what decides for sub-agents before the first one comes, if there are delegations. */
  const prepareForDelegates = async () => {
    const [one] = await delegationsIn(store.documents).list({ countMax: 1 });
    if (one !== undefined) await delegated.ready();
  };
  const workloadTokens =
    agentIssuers.length === 0
      ? noWorkloadTokens
      : createWorkloadTokenReader(agentIssuers, (err, issuer) =>
          log.warn({ err, issuer }, "could not read the keys of an agents' issuer; retrying"),
        );
  const proofs = createProofChecker({
    origin: new URL(publicUrl).origin,
    nonces: createNonceCache({ store: nonceStoreOf(store.nonces, isOfProof) }),
    // A store that only one process serves has no other process that could take the nonce.
    settle: async (nonce) => (store.replicas === null ? 'settled' : await store.settle(nonce)),
    clock,
  });
  const identifier = createIdentifier({
    store,
    rate,
    clock,
    readyForDelegates: delegated.ready,
    workloadTokens,
    proofs,
  });
  return { delegated, prepareForDelegates, workloadTokens, proofs, ...identifier };
}

function isOfProof(nonce: string): boolean {
  return nonce.startsWith(proofNoncePrefix);
}

interface GapBase extends Pick<Base, 'log'> {
  readonly directory: Directory;
  readonly eventStreams: Pick<ReturnType<typeof createUpkeep>['eventStreams'], 'notify'>;
}

/** Logs each condition of the policies that this installation cannot satisfy, when it is found. */
function createPolicyGaps(
  { users, policies }: ConfiguredDeps,
  { log, directory, eventStreams }: GapBase,
): PolicyGaps {
  return watchPolicyGaps({
    directory,
    knowsUsers: users != null,
    needed: () => policies.current().about(),
    onChange: (gaps) => {
      for (const gap of gaps) log.warn(`a condition of the policies cannot be satisfied: ${gap}`);
      eventStreams.notify('policies');
    },
    onFailure: (err) => log.warn({ err }, 'could not check the policies for gaps; retrying'),
  });
}

function staleSinceMs({ failure }: PolicyState): number | null {
  return failure === null ? null : Date.parse(failure.at);
}

/** The parts of single sign-on; null when no provider is configured. */
function createSso({ sso: settings = null }: ConfiguredDeps, { store, clock, log }: Base) {
  if (settings === null) return null;
  const provider = createProviderOnDemand(settings, clock);
  const recheck = createRecheck({
    directory: createDirectory(store.documents, clock),
    masterKey: store.masterKey,
    settings,
    provider,
    onFailure: (err) => log.warn({ err }, 'could not check a single sign-on session; retrying'),
  });
  return { settings, provider, recheck };
}

/** Makes the parts that follow decided requests. */
function createUpkeep(deps: ConfiguredDeps, { store, clock, log }: Base) {
  const requestEvents =
    deps.requestEvents ??
    createRequestEvents((err) => log.error({ err }, 'could not send notifications about a request'));
  const metering =
    deps.metering ??
    createMetering({
      meters: store.meters,
      clock,
      onFailure: (err) => log.error({ err }, 'could not read the history of a meter; it stays unknown'),
    });
  const statistics = createStatistics({
    store: store.statistics,
    isRecorded: async (id) => (store.isWritable() ? (await store.requests.find(id)) !== null : null),
    clock,
    onFailure: (err) => log.warn({ err }, 'could not store statistics; retrying'),
  });
  const eventStreams = createEventStreams({
    chain: store.chain,
    statistics: store.statistics,
    documents: store.documents,
    clock,
    timing: deps.eventStreamsTiming ?? {},
    onFailure: (err) => log.warn({ err }, 'could not read changes; retrying'),
  });
  return { requestEvents, metering, statistics, eventStreams };
}

type Upkeep = ReturnType<typeof createUpkeep>;

/** Makes the parts that decide: at first, and again after people have acted. */
function createDeciding(
  deps: ConfiguredDeps,
  { store, clock, metrics, log }: Base,
  upkeep: Upkeep & { readonly delegated: DelegatedPolicies },
) {
  const { requestEvents, metering, statistics, eventStreams, delegated: chains } = upkeep;
  const directory = createDirectory(store.documents, clock);
  const switches = createKillSwitchBoard({ directory, steadyMs: () => performance.now() });
  const findPeople = createFindPeople(directory);
  const policies = () => deps.policies.current();
  const deciding = { store, policies, clock, metering, switches, findPeople, requestEvents, chains };
  const options: AuthorizerOptions = {
    ...deciding,
    openRequestsMax: deps.openRequestsMax,
    onRecorded: (record) => {
      statistics.decided(record);
      eventStreams.notify('requests');
    },
    onUncertain: (record) => statistics.unsure(record),
  };
  const authorizer = createAuthorizer(options);
  const planner = createPlanner(options);
  const requestChanges = createRequestChanges({
    ...deciding,
    onUnknownResult: createUnknownResultNotes({ metrics, log }),
  });
  const receipts = createReceipts({
    requestChanges,
    keys: createReceiptKeys(store.masterKey, directory),
    bases: createReceiptBases(store.masterKey),
    issuer: new URL(deps.publicUrl).origin,
    isOn: deps.areReceiptsOn,
  });
  const statements = createStatements({
    requestChanges,
    bases: createReceiptBases(store.masterKey),
    masterKey: store.masterKey,
    issuer: new URL(deps.publicUrl).origin,
  });
  const standingApprovals = createStandingApprovals(deciding);
  const evaluateVotes = createVoteEvaluator(deciding);
  return {
    deciding,
    authorizer,
    planner,
    switches,
    requestChanges,
    receipts,
    statements,
    standingApprovals,
    evaluateVotes,
  };
}

type DecidingParts = ReturnType<typeof createDeciding> & ReturnType<typeof createIdentifier> & Upkeep;

/** Makes what takes the calls of agents that ask for decisions. */
function createHandlers(
  deps: ConfiguredDeps,
  { store, clock, metrics }: Base,
  parts: DecidingParts & { readonly tokenReader: TokenReader },
) {
  const { authorizer, planner, identifyAgain, statistics, tokenReader } = parts;
  const recordRefusal = createRefusalRecorder(store);
  const options: Omit<AuthorizeHandlerOptions, 'authorizer'> = {
    identifyAgain,
    tokenReader,
    clock,
    metrics,
    tracing: deps.tracing ?? null,
    verifySignature: createSignatureVerifier({
      masterKey: store.masterKey,
      isCompatibilityAllowed: deps.bodySignatures === 'allow',
      nonces: createNonceCache({ store: nonceStoreOf(store.nonces, (nonce) => !isOfProof(nonce)) }),
    }),
    recordRefusal,
    onRefused: (refusal) => statistics.refused(refusal),
    shares: createFairShares({ placesMax: decisionsMax, ofOneMax: deps.inFlightMax }),
    bodyBytesMax: deps.bodyBytesMax,
  };
  return {
    authorizeHandler: createAuthorizeHandler({ ...options, authorizer }),
    planHandler: createPlanHandler({ ...options, planner }),
  };
}
