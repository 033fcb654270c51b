// Prometheus's own tools read what the service shows and what it ships for monitoring: the metrics of a busy
// service, the alert rules with their unit tests, and every query of the dashboard.

import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { busyMetrics } from '../e2e/deploy/busy-metrics.ts';
import { queriesOf } from '../e2e/deploy/dashboard-queries.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { requireProgram } from './programs.ts';

const folder = 'integrations/deploy/monitoring';

beforeAll(() => requireProgram(['promtool', '--version'], 'prometheus'));

function promtool(args: readonly string[], { cwd = folder, input = '' } = {}) {
  const { status, stdout, stderr } = spawnSync('promtool', args, { cwd, input, encoding: 'utf8' });
  return { status, said: `${stdout}${stderr}` };
}

test('the metrics are of the format and by the conventions', async () => {
  const input = await busyMetrics();
  expect(input).toContain('writ_pending_requests{group="finance"} 1\n');
  expect(promtool(['check', 'metrics'], { input })).toEqual({ status: 0, said: '' });
});

test('the alert rules are right, and each fires where it should', () => {
  expect(promtool(['check', 'rules', 'alerts.yaml'])).toMatchObject({ status: 0 });
  expect(promtool(['test', 'rules', 'alerts.test.yaml'])).toMatchObject({ status: 0 });
  const alerts = [...readFileSync(join(folder, 'alerts.yaml'), 'utf8').matchAll(/alert: (\w+)/g)];
  const tests = readFileSync(join(folder, 'alerts.test.yaml'), 'utf8');
  for (const [, name = ''] of alerts) expect(tests).toContain(`alertname: ${name}\n        eval_time`);
});

test('the queries of the dashboard are queries', () => {
  const rules = queriesOf(join(folder, 'grafana.json')).map((expr, index) => ({
    record: `query:${index}`,
    expr: expr.replaceAll('$__rate_interval', '5m').replaceAll('$job', 'writ'),
  }));
  expect(rules.length).toBeGreaterThan(15);
  const place = temporaryFolder();
  writeFileSync(join(place, 'rules.yaml'), JSON.stringify({ groups: [{ name: 'dashboard', rules }] }));
  expect(promtool(['check', 'rules', 'rules.yaml'], { cwd: place })).toMatchObject({ status: 0 });
});
