// GET /metrics: the text format and the counts, and that no text a client sends ever appears.

import { writeFileSync } from 'node:fs';
import { expect, test, vi } from 'vitest';
import { mergeMetrics } from '../../../src/service/http/telemetry/merge-metrics.ts';
import { createMetricRegistry } from '../../../src/service/http/telemetry/metric-registry.ts';
import { createMetricsRounds } from '../../../src/service/http/workers/metrics-rounds.ts';
import { noteBackup } from '../../../src/service/store/move/placement.ts';
import { metricsOf, readExposition, seriesValue } from './exposition.ts';
import { firstAdmin, tokenClient } from './person-client.ts';
import { authorize, policyText, startService } from './service.ts';

test('counts decisions and refusals, and measures their time', async () => {
  const service = await startService();
  await authorize(service);
  await authorize(service);
  await authorize(service, { body: '{"action_key":"demo.deny","payload":{}}' });
  await authorize(service, { body: '{"action_key":"no.such","payload":{}}' });
  await authorize(service, { body: '{' });
  await fetch(`${service.url}/nowhere`);
  const text = await metricsOf(service);
  expect(seriesValue(text, 'writ_decisions_total{decision="ALLOW",matched_policy="demo"}')).toBe(2);
  expect(seriesValue(text, 'writ_decisions_total{decision="DENY",matched_policy="demo"}')).toBe(1);
  expect(seriesValue(text, 'writ_decisions_total{decision="DENY",matched_policy="undeclared_action"}')).toBe(
    1,
  );
  const calls = (tool: string, decision: string) =>
    seriesValue(
      text,
      `writ_tool_calls_total{gen_ai_operation_name="execute_tool",gen_ai_tool_name="${tool}",decision="${decision}"}`,
    );
  expect([calls('demo.allow', 'ALLOW'), calls('demo.deny', 'DENY'), calls('_OTHER', 'DENY')]).toEqual([
    2, 1, 1,
  ]);
  expect(text).not.toContain('no.such');
  expect(seriesValue(text, 'writ_refusals_total{code="invalid_json"}')).toBe(1);
  expect(seriesValue(text, 'writ_refusals_total{code="unknown_route"}')).toBe(1);
  expect(seriesValue(text, 'writ_authorize_seconds_count')).toBe(5);
  expect(seriesValue(text, 'writ_authorize_seconds_bucket{le="+Inf"}')).toBe(5);
  expect(seriesValue(text, 'writ_authorize_seconds_sum')).toBeGreaterThan(0);
  expect(seriesValue(text, 'writ_store_queue_depth')).toBeLessThan(5);
  expect(seriesValue(text, 'writ_store_writable')).toBe(1);
  expect(seriesValue(text, 'process_resident_memory_bytes')).toBeGreaterThan(1e6);
});

test('counts changes of the policies by result, and names the active set', async () => {
  const service = await startService();
  const change = async (text: string) => {
    writeFileSync(service.policyFile, text);
    await service.policies.reload();
    return await metricsOf(service);
  };
  const broken = await change(policyText.replace('to finance', 'to fnance'));
  expect(seriesValue(broken, 'writ_policies_stale')).toBe(1);
  expect(seriesValue(broken, 'writ_policy_reloads_total{result="refused"}')).toBe(1);
  const recovered = await change(policyText);
  expect(seriesValue(recovered, 'writ_policies_stale')).toBe(0);
  expect(seriesValue(recovered, 'writ_policy_reloads_total{result="recovered"}')).toBe(1);
  const taken = await change(policyText.replace('+7', '+8'));
  expect(seriesValue(taken, 'writ_policy_reloads_total{result="taken"}')).toBe(1);
  const { digest } = service.policies.state();
  expect(seriesValue(taken, `writ_policy_set_info{digest="${digest}",commit=""}`)).toBe(1);
});

test('no client input becomes a label', async () => {
  const service = await startService();
  const mark = 'marked-by-client';
  const headers = { 'x-agent-session': mark, 'idempotency-key': mark, 'x-request-id': mark };
  await authorize(service, { headers, body: `{"action_key":"${mark}","payload":{"${mark}":"${mark}"}}` });
  await authorize(service, { headers, body: `{"${mark}":1}` });
  await fetch(`${service.url}/${mark}`);
  const text = await metricsOf(service);
  expect(text).not.toContain(mark);
  expect(text).not.toContain(service.apiKey);
});

test('the text is valid in every state of the service', async () => {
  const service = await startService();
  const fresh = readExposition(await metricsOf(service));
  await authorize(service);
  await authorize(service, { body: '{' });
  await authorize(service, { key: 'bad' });
  writeFileSync(service.policyFile, 'rubbish');
  await service.policies.reload();
  const metrics = readExposition(await metricsOf(service));
  expect(metrics.map(({ name }) => name)).toEqual(fresh.map(({ name }) => name));
  for (const { name, type } of metrics)
    expect([name, name.endsWith('_total')]).toEqual([name, type === 'counter']);
  const readingOf = (name: string) => metrics.find((metric) => metric.name === name)?.samples[0]?.value;
  expect(readingOf('writ_policies_stale')).toBe(1);
  expect(readingOf('writ_clock_ahead_seconds')).toBe(0);
  const decide = metrics.find(({ name }) => name === 'writ_decide_seconds');
  expect(decide?.samples.find(({ name }) => name === 'writ_decide_seconds_count')?.value).toBe(1);
});

test('measures pending requests, kill switches and records', async () => {
  const service = await startService({ isInFile: true });
  const operator = await tokenClient(service, await firstAdmin(service));
  const fresh = await metricsOf(service);
  expect(seriesValue(fresh, 'writ_kill_switches')).toBe(0);
  expect(seriesValue(fresh, 'writ_store_bytes')).toBeGreaterThan(10_000);
  expect(fresh).not.toContain('writ_pending_requests');
  expect(fresh).not.toContain('writ_last_backup_timestamp_seconds');
  for (const key of ['demo.escalate', 'demo.escalate'])
    await authorize(service, { body: `{"action_key":"${key}","payload":{}}` });
  const body = { scope: 'area:other', reason: 'a drill' };
  expect((await operator.send('/v1/kill-switches', { method: 'POST', body })).status).toBe(201);
  await noteBackup(service.store, 1_700_000_000_000);
  await vi.waitFor(
    async () => {
      const text = await metricsOf(service);
      expect(seriesValue(text, 'writ_pending_requests{group="finance"}')).toBe(2);
      expect(seriesValue(text, 'writ_pending_nearest_deadline_seconds{group="finance"}')).toBeGreaterThan(0);
      expect(seriesValue(text, 'writ_kill_switches')).toBe(1);
      expect(seriesValue(text, 'writ_last_backup_timestamp_seconds')).toBe(1_700_000_000);
      expect(seriesValue(text, 'writ_deliveries_pending{channel="webhook"}')).toBe(0);
    },
    { timeout: 10_000, interval: 500 },
  );
});

test.each([
  ['a 1\n', 'without a type'],
  ['# HELP a A.\n# TYPE a counter\na -1\n', 'below nothing'],
  ['# HELP a A.\n# TYPE a gauge\na 1\na 2\n', 'twice'],
  ['# HELP a A.\n# TYPE a gauge\na{b="c"d} 1\n', 'no labels'],
  ['# HELP a A.\n# TYPE a gauge\na 0x1\n', 'no number'],
  [
    '# HELP a A.\n# TYPE a histogram\na_bucket{le="1"} 2\na_bucket{le="+Inf"} 1\na_sum 1\na_count 1\n',
    'less',
  ],
  ['# HELP a A.\n# TYPE a gauge\na 1', 'no end'],
])('the reader of the format refuses what is not of it: %j', (text, message) => {
  expect(() => readExposition(text)).toThrow(message);
});

test('a counter has a bounded number of series: the rest is `other`', () => {
  const registry = createMetricRegistry();
  const counter = registry.counter({ name: 'things_total', help: 'Things.', labels: ['name'] });
  for (let index = 0; index < 2_000; index++) counter.add(`thing ${index}`);
  counter.add('thing 3');
  const lines = registry.text().trimEnd().split('\n');
  expect(lines).toHaveLength(2 + 501);
  expect(lines).toContain('things_total{name="thing 3"} 2');
  expect(lines).toContain('things_total{name="other"} 1500');
});

test('a label with quotes, backslashes and line ends is one label', () => {
  const registry = createMetricRegistry();
  registry.counter({ name: 'a_total', help: 'A.', labels: ['name'] }).add('a"b\\c\nd');
  expect(registry.text()).toContain('a_total{name="a\\"b\\\\c\\nd"} 1\n');
});

test('a histogram counts a value in every bucket that contains it', () => {
  const registry = createMetricRegistry();
  const histogram = registry.histogram({ name: 'h', help: 'H.' }, [1, 2]);
  for (const value of [0.5, 1, 1.5, 9]) histogram.observe(value);
  expect(registry.text()).toBe(
    '# HELP h H.\n# TYPE h histogram\nh_bucket{le="1"} 2\nh_bucket{le="2"} 3\nh_bucket{le="+Inf"} 4\nh_count 4\nh_sum 12\n',
  );
});

function registryText(fill: (registry: ReturnType<typeof createMetricRegistry>) => void): string {
  const registry = createMetricRegistry();
  fill(registry);
  return registry.text();
}

test('the metrics of several workers are merged, with the worker as a label of each sample', () => {
  const textOf = (asked: string) =>
    registryText((registry) => {
      const count = registry.counter({ name: 'writ_a_total', labels: ['of'], help: 'A.' });
      count.add(asked);
      count.add(asked);
      registry.histogram({ name: 'writ_b_seconds', help: 'B.' }, [1, 2]).observe(1.5);
    });
  const only = registryText((registry) =>
    registry.gauge({ name: 'writ_c', help: 'C.' }, () => [{ value: 7 }]),
  );
  const awkward = 'x} 5 {y="z", \\"\n';
  const metrics = readExposition(
    mergeMetrics(
      'worker',
      new Map([
        [1, textOf('plain')],
        [0, textOf(awkward)],
        [10, only],
      ]),
    ),
  );
  const samples = (name: string) => metrics.find((metric) => metric.name === name)?.samples;
  expect(metrics.map(({ name, help, type }) => [name, help, type])).toEqual([
    ['writ_a_total', 'A.', 'counter'],
    ['writ_b_seconds', 'B.', 'histogram'],
    ['writ_c', 'C.', 'gauge'],
  ]);
  expect(samples('writ_a_total')).toEqual([
    { name: 'writ_a_total', labels: { of: awkward, worker: '0' }, value: 2 },
    { name: 'writ_a_total', labels: { of: 'plain', worker: '1' }, value: 2 },
  ]);
  expect(samples('writ_b_seconds')).toHaveLength(10);
  expect(samples('writ_c')).toEqual([{ name: 'writ_c', labels: { worker: '10' }, value: 7 }]);
});

test('a worker that answers late or not at all is left out of the metrics', () => {
  vi.useFakeTimers();
  try {
    const asked: number[] = [];
    const rounds = createMetricsRounds((round) => {
      asked.push(round);
      return [0, 1];
    });
    const told: string[] = [];
    rounds.ask((text) => void told.push(text));
    rounds.ask((text) => void told.push(text));
    const text = registryText((registry) =>
      registry.gauge({ name: 'writ_c', help: 'C.' }, () => [{ value: 7 }]),
    );
    rounds.receive(asked[1]!, 1, text);
    rounds.receive(asked[0]!, 0, text);
    expect(told).toEqual([]);
    rounds.receive(asked[0]!, 1, text);
    expect(told.map((one) => one.match(/worker="\d"/g))).toEqual([['worker="0"', 'worker="1"']]);
    vi.advanceTimersByTime(2_000);
    expect(told[1]?.match(/worker="\d"/g)).toEqual(['worker="1"']);
    rounds.receive(asked[1]!, 0, text);
    expect(told).toHaveLength(2);
  } finally {
    vi.useRealTimers();
  }
});
