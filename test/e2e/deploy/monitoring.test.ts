// The dashboard and the alert rules ask only for metrics that a running service shows or that its page documents,
// with labels that these metrics have.

import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { shareService } from '../../service/http/service.ts';
import { queriesOf } from './dashboard-queries.ts';

const folder = 'integrations/deploy/monitoring';
const service = shareService();

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

const rules = (
  parse(readFileSync(join(folder, 'alerts.yaml'), 'utf8')) as {
    groups: readonly { rules: readonly { alert: string; expr: string; annotations: object }[] }[];
  }
).groups.flatMap(({ rules: ofGroup }) => ofGroup);
const queries = [...queriesOf(join(folder, 'grafana.json')), ...rules.map(({ expr }) => expr)];

test('every metric is one of the service, and every label one of the metric', async () => {
  const shown = await (await fetch(`${service().url}/metrics`)).text();
  const types = new Map(
    [...shown.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const table = documented();
  expect(queries.length).toBeGreaterThan(25);
  for (const query of queries) {
    for (const metric of metricsIn(query)) {
      const name = ['histogram', 'summary'].includes(types.get(metric.replace(suffix, '')) ?? '')
        ? metric.replace(suffix, '')
        : metric;
      expect([metric, types.has(name) || table.has(name)]).toEqual([metric, true]);
      if (name.startsWith('writ_')) expect([name, table.has(name)]).toEqual([name, true]);
    }
    const [, grouped = ''] = /by \(([^)]*)\)/.exec(query) ?? [];
    const labels = metricsIn(query).flatMap((metric) => table.get(metric) ?? []);
    const strange = grouped.split(', ').filter((label) => !['', 'job', 'le', ...labels].includes(label));
    expect([query, strange]).toEqual([query, []]);
  }
});

test('every metric that the service shows is documented', async () => {
  const shown = await (await fetch(`${service().url}/metrics`)).text();
  const names = [...shown.matchAll(/^# TYPE (writ_\S+) /gm)].map(([, name = '']) => name);
  expect(names.filter((name) => !documented().has(name))).toEqual([]);
});

test('every rule says what to do', () => {
  for (const { alert, annotations } of rules)
    expect([alert, Object.keys(annotations)]).toEqual([alert, ['summary', 'runbook']]);
});
