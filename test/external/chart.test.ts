// Go's own templates, with the functions that Helm adds, make the same objects of the Helm chart as the renderer of the
// tests.

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { chartReleases } from '../e2e/deploy/chart-releases.ts';
import { chartData, chartTemplates, objectsOf, renderChart } from '../e2e/deploy/render-chart.ts';
import { requireProgram } from './programs.ts';

const chart = 'integrations/deploy/helm/writ';
const packages = 'golang-go golang-github-masterminds-sprig-dev golang-gopkg-yaml.v3-dev';

beforeAll(() => requireProgram(['go', 'version'], packages));

test.each(Object.entries(chartReleases))('the objects of a release with %s', (_name, values) => {
  const release = { name: 'gate', values };
  const templates = chartTemplates(chart);
  const alerts = 'files/alerts.yaml';
  const input = JSON.stringify({
    files: Object.fromEntries(templates),
    data: chartData(chart, release),
    texts: { [alerts]: readFileSync(join(chart, alerts), 'utf8') },
  });
  const { status, stdout, stderr } = spawnSync('go', ['run', 'test/external/chart.go'], {
    input,
    encoding: 'utf8',
    env: { ...process.env, GO111MODULE: 'off', GOPATH: '/usr/share/gocode' },
  });
  expect([status, stderr]).toEqual([0, '']);
  const texts = JSON.parse(stdout) as Readonly<Record<string, string>>;
  const manifests = [...templates.keys()].filter((file) => file.endsWith('.yaml'));
  expect(manifests.flatMap((file) => objectsOf(texts[file] ?? ''))).toEqual(renderChart(chart, release));
  expect(texts['NOTES.txt']).toContain('app.kubernetes.io/instance=gate ');
});
