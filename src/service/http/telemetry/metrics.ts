// Metrics for the operators of the service: decisions, refusals, time, the store, the policies, the process.
// INVARIANT: a label is a word of the service or a name from a policy file, never a text that a client has
// sent.

import { readdirSync } from 'node:fs';
import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import type { Clock } from '../../clock.ts';
import type { PolicyHost, PolicyState } from '../../policies/policy-host.ts';
import type { Store, WriteTimes } from '../../store/contract/store.ts';
import { createMetricRegistry, type MetricRegistry } from './metric-registry.ts';
import { addStateMetrics, type StateMetricsDeps } from './state-metrics.ts';
import { toolName, toolOperation } from './tool-names.ts';

export interface Metrics {
  /** Counts a decision, and the time that it took; null when the decision was made by an earlier request. */
  decided(decision: CountedDecision, decideMicroseconds: number | null): void;
  /** Counts an error reply, by the code of its problem. */
  refused(code: string): void;
  /** Counts a reported call whose declared result is unknown, by what was wrong with the result. */
  unknownResult(fault: string): void;
  /** Notes how long a request for a decision took, in milliseconds; refused requests count too. */
  took(durationMs: number): void;
  /** Adds what the store holds. */
  addState(deps: StateMetricsDeps): void;
  /** All metrics in the Prometheus text format. */
  text(): Promise<string>;
  close(): void;
}

export interface CountedDecision {
  readonly decision: string;
  readonly matchedPolicy: string;
  readonly actionKey: string;
}

export interface MetricsOptions {
  readonly store: Pick<Store, 'isWritable' | 'queueDepth' | 'readQueue' | 'replicas' | 'writeTimes'>;
  readonly clock: Clock;
  readonly policies: Pick<PolicyHost, 'state' | 'onChange'>;
}

const authorizeSecondsBounds = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10,
] as const;

const decideSecondsBounds = [1e-6, 2e-6, 5e-6, 1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 1e-2, 1e-1] as const;

export function createMetrics({ store, policies, clock }: MetricsOptions): Metrics {
  const registry = createMetricRegistry();
  const decisions = registry.counter({
    name: 'writ_decisions_total',
    labels: ['decision', 'matched_policy'],
    help: 'Decisions, by outcome and deciding policy.',
  });
  const toolCalls = registry.counter({
    name: 'writ_tool_calls_total',
    labels: ['gen_ai_operation_name', 'gen_ai_tool_name', 'decision'],
    help: 'Decisions, by the declared action that agents asked for.',
  });
  const refusals = registry.counter({
    name: 'writ_refusals_total',
    labels: ['code'],
    help: 'Error replies, by code.',
  });
  const unknownResults = registry.counter({
    name: 'writ_unknown_results_total',
    labels: ['reason'],
    help: 'Calls reported without the result that their action declares, by reason.',
  });
  const seconds = registry.histogram(
    {
      name: 'writ_authorize_seconds',
      help: 'Time from the headers of a request for a decision to its reply.',
    },
    authorizeSecondsBounds,
  );
  const decideSeconds = registry.histogram(
    {
      name: 'writ_decide_seconds',
      help: 'Time for a decision with its trace, without reading and recording it.',
    },
    decideSecondsBounds,
  );
  addStoreMetrics(registry, store);
  addClockMetrics(registry, clock);
  addPolicyMetrics(registry, policies);
  const closeLag = addEventLoopMetrics(registry);
  addProcessMetrics(registry);
  let readState = async (): Promise<void> => undefined;
  return {
    decided({ decision, matchedPolicy, actionKey }, decideMicroseconds) {
      decisions.add(decision, matchedPolicy);
      toolCalls.add(toolOperation, toolName(actionKey, matchedPolicy), decision);
      if (decideMicroseconds !== null) decideSeconds.observe(decideMicroseconds / 1e6);
    },
    refused: (code) => refusals.add(code),
    unknownResult: (fault) => unknownResults.add(fault),
    took: (durationMs) => seconds.observe(durationMs / 1000),
    addState(deps) {
      readState = addStateMetrics(registry, deps);
    },
    async text() {
      await readState();
      return registry.text();
    },
    close: closeLag,
  };
}

/** A clock counts as ahead from this difference on, which is more than the grain of the two clocks. */
const clockAheadFromMs = 100;

function addClockMetrics(registry: MetricRegistry, clock: Clock): void {
  registry.gauge(
    {
      name: 'writ_clock_ahead_seconds',
      help: "How far the service's clock is ahead of the machine's, which was set back.",
    },
    () => {
      const aheadMs = clock() - Date.now();
      return [{ value: aheadMs < clockAheadFromMs ? 0 : aheadMs / 1000 }];
    },
  );
}

function addWriteMetrics(registry: MetricRegistry, writeTimes: () => WriteTimes): void {
  registry.counted({ name: 'writ_store_writes_total', help: 'Writes to the store.' }, () => [
    { value: writeTimes().writes },
  ]);
  registry.counted({ name: 'writ_store_commits_total', help: 'Transactions that stored them.' }, () => [
    { value: writeTimes().commits },
  ]);
  const help = 'Time of all writes together, by step: queue, message, commit, answer.';
  registry.counted({ name: 'writ_store_write_seconds_total', help, labels: ['step'] }, () =>
    Object.entries(writeTimes().seconds).map(([step, value]) => ({ value, labels: [step] })),
  );
}

function addStoreMetrics(registry: MetricRegistry, store: MetricsOptions['store']): void {
  registry.gauge({ name: 'writ_store_queue_depth', help: 'Writes waiting for the disk.' }, () => [
    { value: store.queueDepth() },
  ]);
  if (store.writeTimes !== null) addWriteMetrics(registry, store.writeTimes);
  registry.gauge({ name: 'writ_store_reads_waiting', help: 'Reads waiting for a connection.' }, () => [
    { value: store.readQueue().waiting },
  ]);
  registry.counted(
    { name: 'writ_store_reads_refused_total', help: 'Reads that were refused because the queue was full.' },
    () => [{ value: store.readQueue().refused }],
  );
  registry.gauge({ name: 'writ_store_writable', help: '1 while records can be written.' }, () => [
    { value: Number(store.isWritable()) },
  ]);
  registry.gauge({ name: 'writ_replicas', help: 'Processes that serve the same records.' }, () => [
    { value: store.replicas === null ? 1 : (store.replicas.latest()?.replicas.length ?? 0) },
  ]);
  registry.gauge(
    { name: 'writ_replicas_ready', help: 'Replicas that can decide with the active policy set.' },
    () => {
      const all = store.replicas === null ? null : (store.replicas.latest()?.replicas ?? []);
      return [{ value: all === null ? 1 : all.filter(({ isReady }) => isReady).length }];
    },
  );
}

function addPolicyMetrics(registry: MetricRegistry, policies: Pick<PolicyHost, 'state' | 'onChange'>): void {
  const reloads = registry.counter({
    name: 'writ_policy_reloads_total',
    labels: ['result'],
    help: 'Changes of the policy directory since the start: activated, rejected because of errors, or reverted to the active set.',
  });
  let before = policies.state();
  policies.onChange((state) => {
    const result = reloadResult(state, before);
    before = state;
    if (result !== null) reloads.add(result);
  });
  registry.gauge(
    { name: 'writ_policy_set_info', labels: ['digest', 'commit'], help: 'The active policies.' },
    () => {
      const { digest, commit } = policies.state();
      return [{ value: 1, labels: [digest, commit ?? ''] }];
    },
  );
  const state = (name: string, help: string, read: (state: PolicyState) => number) =>
    registry.gauge({ name, help }, () => [{ value: read(policies.state()) }]);
  state('writ_policies_stale', '1 while the policies in the directory cannot be activated.', ({ status }) =>
    Number(status === 'stale'),
  );
  state(
    'writ_policies_loaded_timestamp_seconds',
    'When the active policies were loaded.',
    ({ loadedAt }) => Date.parse(loadedAt) / 1000,
  );
  state('writ_policy_rules', 'Rules of the active policies.', ({ rules }) => rules);
  state('writ_policy_actions', 'Declared actions of the active policies.', ({ actions }) => actions);
}

/** How a change of the policies counts; null when only the commit of the active policies has changed. */
function reloadResult(state: PolicyState, before: PolicyState): 'taken' | 'refused' | 'recovered' | null {
  if (state.failure !== null) return 'refused';
  if (before.loadedAt !== state.loadedAt) return 'taken';
  return before.failure === null ? null : 'recovered';
}

const lagResolutionMs = 20;

/**
 * Measures the delay of the event loop between two readings of the metrics; the returned function ends the
 * measuring.
 */
function addEventLoopMetrics(registry: MetricRegistry): () => void {
  const lag = monitorEventLoopDelay({ resolution: lagResolutionMs });
  lag.enable();
  let [sum, count] = [0, 0];
  registry.summary(
    {
      name: 'writ_event_loop_lag_seconds',
      help: 'Delay of timers (event loop lag); quantiles since the last scrape.',
    },
    () => {
      const late = (nanoseconds: number) => Math.max(0, nanoseconds / 1e9 - lagResolutionMs / 1000);
      const quantiles = [
        [0.5, late(lag.percentile(50))],
        [0.99, late(lag.percentile(99))],
        [1, late(lag.max)],
      ] as const;
      // The mean of no reading is not a number.
      if (lag.count > 0) sum += late(lag.mean) * lag.count;
      count += lag.count;
      lag.reset();
      return { quantiles, sum, count };
    },
  );
  return () => void lag.disable();
}

function addProcessMetrics(registry: MetricRegistry): void {
  const one = (name: string, help: string, read: () => number) =>
    registry.gauge({ name, help }, () => [{ value: read() }]);
  one('process_start_time_seconds', 'When the process started.', () => performance.timeOrigin / 1000);
  registry.counted({ name: 'process_cpu_seconds_total', help: 'Processor time used, all threads.' }, () => {
    const { user, system } = process.cpuUsage();
    return [{ value: (user + system) / 1e6 }];
  });
  one('process_resident_memory_bytes', 'Resident memory.', () => process.memoryUsage.rss());
  one('nodejs_heap_used_bytes', 'JavaScript heap in use.', () => process.memoryUsage().heapUsed);
  one('process_open_fds', 'Open file descriptors; -1 if the system does not report them.', openFiles);
}

function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return -1;
  }
}
