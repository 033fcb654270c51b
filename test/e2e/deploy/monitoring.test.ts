// The dashboard and the alert rules ask only for metrics that a running service shows, with labels that these metrics
// have, and leave out none.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { readExposition } from '../../service/http/exposition.ts';
import { busyMetrics } from './busy-metrics.ts';
import { queriesOf } from './dashboard-queries.ts';

const folder = 'integrations/deploy/monitoring';

/** The metrics in the table of the documentation, with their labels. */
function documented(): ReadonlyMap<string, readonly string[]> {
  const pages = globSync('docs/**/*.md').map((page) => readFileSync(page, 'utf8'));
  const rows = pages.flatMap((text) => text.match(/^\| `writ_.*$/gm) ?? []);
  const names = rows.flatMap((row) => [
    ...(row.split(' | ')[0] ?? '').matchAll(/`(writ_\w+)(?:\{([^}]*)\})?`/g),
  ]);
  return new Map(names.map(([, name = '', labels = '']) => [name, labels.split(', ')]));
}

const suffix = /_(bucket|sum|count)$/;

function metricsIn(query: string): readonly string[] {
  return query.match(/\b(?:writ|process|nodejs)_\w+/g) ?? [];
}

/** The labels by which a query selects or groups. */
function labelsIn(query: string): readonly string[] {
  const grouped = [...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, names = '']) => names.split(', '));
  return [...grouped, ...[...query.matchAll(/(\w+)=~?"/g)].map(([, name = '']) => name)];
}

const rules = (
  parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
    groups: readonly { rules: readonly { alert: string; expr: string; annotations: object }[] }[];
  }
).groups.flatMap(({ rules: ofGroup }) => ofGroup);
const queries = [...queriesOf(join(folder, 'grafana.json')), ...rules.map(({ expr }) => expr)];

const ownLabels = ['job', 'instance', 'le'];

test('the service shows every metric that a query names, with the labels by which it selects and groups', async () => {
  const metrics = readExposition(await busyMetrics());
  const samples = Map.groupBy(
    metrics.flatMap((one) => one.samples),
    ({ name }) => name,
  );
  expect(queries.length).toBeGreaterThan(30);
  for (const query of queries) {
    const names = metricsIn(query);
    expect([query, names.filter((name) => !samples.has(name))]).toEqual([query, []]);
    const shown = names
      .flatMap((name) => samples.get(name) ?? [])
      .flatMap(({ labels }) => Object.keys(labels));
    const strange = labelsIn(query).filter((label) => ![...ownLabels, ...shown].includes(label));
    expect([query, strange]).toEqual([query, []]);
  }
});

/** What is looked up when needed, and nobody watches. */
const facts = [
  'writ_policy_set_info',
  'writ_policies_loaded_timestamp_seconds',
  'writ_policy_rules',
  'writ_policy_actions',
  'writ_replicas',
  'writ_siem_lag_records',
  'writ_siem_records_sent_total',
  'writ_siem_batches_failed_total',
];

test('every metric of the service is documented with its labels, and in a panel or a rule', async () => {
  const table = documented();
  const metrics = readExposition(await busyMetrics()).filter(({ name }) => name.startsWith('writ_'));
  expect(metrics.length).toBeGreaterThan(30);
  for (const { name, samples } of metrics) {
    expect([name, table.has(name)]).toEqual([name, true]);
    const labels = new Set(samples.flatMap((one) => Object.keys(one.labels)));
    const told = [...(table.get(name) ?? []), 'le', 'quantile'];
    expect([name, [...labels].filter((label) => !told.includes(label))]).toEqual([name, []]);
  }
  const watched = new Set(queries.flatMap(metricsIn).map((name) => name.replace(suffix, '')));
  const names = metrics.map(({ name }) => name);
  expect(names.filter((name) => !watched.has(name) && !facts.includes(name))).toEqual([]);
  expect(facts.filter((name) => !names.includes(name))).toEqual([]);
});

test('every rule says what to do', () => {
  for (const { alert, annotations } of rules)
    expect([alert, Object.keys(annotations)]).toEqual([alert, ['summary', 'runbook']]);
});
