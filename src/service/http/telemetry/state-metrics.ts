// Metrics of what the store holds: pending requests, kill switches, alerts, the last backup, the size. They are read
// for a scrape, at most every few seconds. INVARIANT: a scrape never waits long for the store; what cannot be read
// in time has no sample, rather than a wrong one.

import { alertsOn } from '../../alerts/alert.ts';
import { createDirectory } from '../../people/directory.ts';
import type { KillSwitchBoard } from '../../people/kill-switches.ts';
import { createProposals, proposalLimits } from '../../policies/proposals.ts';
import type { RecordStream } from '../../siem/record-stream.ts';
import type { SiemStatus } from '../../siem/status.ts';
import type { PendingGroup, Store } from '../../store/contract/store.ts';
import { backupAtMs } from '../../store/move/placement.ts';
import type { DispatcherCounts } from '../../webhooks/dispatch.ts';
import type { MailCounts } from '../../webhooks/mail.ts';
import type { GaugeReading, MetricRegistry } from './metric-registry.ts';
import type { SpanCounts } from './tracing.ts';

export interface StateMetricsDeps {
  readonly store: Store;
  readonly clock: () => number;
  readonly switches: Pick<KillSwitchBoard, 'list'>;
  readonly webhooks: () => DispatcherCounts;
  /** Null without a mail server. */
  readonly mail: (() => MailCounts) | null;
  /** Null when nothing is traced. */
  readonly spans: (() => SpanCounts) | null;
  /** Null when no records are sent to a SIEM. */
  readonly recordStream: Pick<RecordStream, 'status' | 'counts'> | null;
  readonly onFailure: (error: unknown) => void;
}

interface StateReading {
  readonly atMs: number;
  readonly pending: readonly PendingGroup[];
  readonly killSwitches: number;
  readonly proposals: number;
  readonly alerts: ReadonlyMap<string, number>;
  readonly backupAtMs: number | null;
  readonly storeBytes: number | null;
  /** Null when no records are sent to a SIEM. */
  readonly siem: SiemStatus | null;
}

/** A reading of this age is shown again. */
const freshMs = 2_000;
/** How long a scrape waits for the store. */
const readMaxMs = 1_500;
/** The most groups with a series of their own; the rest are one. */
const groupsMax = 100;

/** Adds the metrics. The returned function reads the state, and is to be awaited before the metrics are shown. */
export function addStateMetrics(registry: MetricRegistry, deps: StateMetricsDeps): () => Promise<void> {
  let latest: StateReading | null = null;
  let reading: Promise<void> | null = null;
  const gauge = (
    name: string,
    help: string,
    read: (state: StateReading) => readonly GaugeReading[],
    labels: readonly string[] = [],
  ) => registry.gauge({ name, help, labels }, () => (latest === null ? [] : read(latest)));

  gauge(
    'writ_pending_requests',
    'Pending requests per required group; a request that needs two groups counts in both.',
    ({ pending }) => pending.map(({ group, count }) => ({ value: count, labels: [group] })),
    ['group'],
  );
  gauge(
    'writ_pending_nearest_deadline_seconds',
    'Time until the first of these requests expires.',
    ({ pending, atMs }) =>
      pending.map(({ group, nearestMs }) => ({ value: (nearestMs - atMs) / 1_000, labels: [group] })),
    ['group'],
  );
  gauge('writ_pending_proposals', 'Pending proposals to change the policies.', ({ proposals }) => [
    { value: proposals },
  ]);
  gauge('writ_kill_switches', 'Active kill switches.', ({ killSwitches }) => [{ value: killSwitches }]);
  gauge(
    'writ_alerts_active',
    'Active alerts, by kind.',
    ({ alerts }) => [...alerts].map(([kind, value]) => ({ value, labels: [kind] })),
    ['kind'],
  );
  gauge('writ_store_bytes', 'Size of the records on disk.', ({ storeBytes }) => oneOrNone(storeBytes));
  gauge(
    'writ_last_backup_timestamp_seconds',
    'When `writ backup` last copied the records; no sample before the first time.',
    ({ backupAtMs: atMs }) => oneOrNone(atMs === null ? null : atMs / 1_000),
  );
  addStreamMetrics(registry, deps, gauge);
  addDeliveryMetrics(registry, deps);

  async function readState(): Promise<void> {
    const nothing = new Promise<null>((resolve) => setTimeout(resolve, readMaxMs, null).unref());
    const state = stateOf(deps).catch((error: unknown) => {
      deps.onFailure(error);
      return null;
    });
    latest = await Promise.race([state, nothing]);
  }

  return async () => {
    if (latest !== null && deps.clock() - latest.atMs < freshMs) return;
    reading ??= readState().finally(() => {
      reading = null;
    });
    await reading;
  };
}

async function stateOf({ store, clock, switches, recordStream }: StateMetricsDeps): Promise<StateReading> {
  const atMs = Math.trunc(clock());
  const [pending, on, proposals, alerts, backup, storeBytes, siem] = await Promise.all([
    store.requests.pendingByGroup(atMs),
    switches.list(),
    createProposals(store.documents, clock).list({
      state: 'pending',
      after: null,
      countMax: proposalLimits.pending,
    }),
    alertsOn(createDirectory(store.documents, clock)),
    backupAtMs(store),
    store.sizeBytes(),
    recordStream === null ? null : recordStream.status(),
  ]);
  const kinds = Map.groupBy(alerts, ({ value }) => value.kind);
  return {
    atMs,
    pending: bounded(pending),
    killSwitches: on.length,
    proposals: proposals.length,
    alerts: new Map([...kinds].map(([kind, ofKind]) => [kind, ofKind.length])),
    backupAtMs: backup,
    storeBytes,
    siem,
  };
}

type Gauge = (name: string, help: string, read: (state: StateReading) => readonly GaugeReading[]) => void;

function addStreamMetrics(registry: MetricRegistry, { recordStream }: StateMetricsDeps, gauge: Gauge): void {
  if (recordStream === null) return;
  const ofStream = (name: string, help: string, read: (siem: SiemStatus, atMs: number) => number) =>
    gauge(name, help, ({ siem, atMs }) => (siem === null ? [] : [{ value: read(siem, atMs) }]));
  ofStream('writ_siem_lag_records', 'Records that the SIEM does not have yet.', ({ lacking }) => lacking);
  ofStream(
    'writ_siem_lag_seconds',
    'Age of the oldest record that the SIEM does not have yet; 0 when it has all.',
    ({ lackingSinceMs }, atMs) =>
      lackingSinceMs === null ? 0 : Math.max(0, (atMs - lackingSinceMs) / 1_000),
  );
  ofStream(
    'writ_siem_stopped',
    '1 while the stream is stopped at a record that the SIEM refuses.',
    ({ refused }) => Number(refused !== null),
  );
  registry.counted(
    { name: 'writ_siem_records_sent_total', help: 'Records that this process has sent to the SIEM.' },
    () => [{ value: recordStream.counts().sent }],
  );
  registry.counted(
    { name: 'writ_siem_batches_failed_total', help: 'Batches of this process that the SIEM did not take.' },
    () => [{ value: recordStream.counts().failed }],
  );
}

/** The groups with the most requests, and all others as one. */
function bounded(groups: readonly PendingGroup[]): readonly PendingGroup[] {
  if (groups.length <= groupsMax) return groups;
  const most = groups.toSorted((a, b) => b.count - a.count);
  const others = most.slice(groupsMax - 1);
  return [
    ...most.slice(0, groupsMax - 1),
    {
      group: 'other',
      count: others.reduce((sum, { count }) => sum + count, 0),
      nearestMs: Math.min(...others.map(({ nearestMs }) => nearestMs)),
    },
  ];
}

function oneOrNone(value: number | null): readonly GaugeReading[] {
  return value === null ? [] : [{ value }];
}

function addDeliveryMetrics(registry: MetricRegistry, { webhooks, mail, spans }: StateMetricsDeps): void {
  registry.counted(
    {
      name: 'writ_deliveries_total',
      labels: ['channel', 'result'],
      help: 'Attempts to deliver messages since the start.',
    },
    () => [...resultsOf('webhook', webhooks()), ...(mail === null ? [] : resultsOf('mail', mail()))],
  );
  registry.counted(
    {
      name: 'writ_deliveries_given_up_total',
      labels: ['channel'],
      help: 'Messages that were given up since the start, after all attempts.',
    },
    () => [
      { labels: ['webhook'], value: webhooks().givenUp },
      ...(mail === null ? [] : [{ labels: ['mail'], value: mail().givenUp }]),
    ],
  );
  registry.gauge(
    { name: 'writ_deliveries_pending', labels: ['channel'], help: 'Messages waiting for delivery.' },
    () => [
      { labels: ['webhook'], value: webhooks().pending },
      ...(mail === null ? [] : [{ labels: ['mail'], value: mail().pending }]),
    ],
  );
  if (spans === null) return;
  registry.counted({ name: 'writ_trace_spans_sent_total', help: 'Spans that the collector took.' }, () => [
    { value: spans().sent },
  ]);
  registry.counted(
    { name: 'writ_trace_spans_dropped_total', labels: ['reason'], help: 'Spans that were lost.' },
    () => {
      const { droppedWaiting, droppedUnreachable, droppedRefused } = spans();
      return [
        { labels: ['queue_full'], value: droppedWaiting },
        { labels: ['unreachable'], value: droppedUnreachable },
        { labels: ['refused'], value: droppedRefused },
      ];
    },
  );
}

function resultsOf(
  channel: string,
  { delivered, failed }: Pick<DispatcherCounts, 'delivered' | 'failed'>,
): readonly GaugeReading[] {
  return [
    { labels: [channel, 'delivered'], value: delivered },
    { labels: [channel, 'failed'], value: failed },
  ];
}
