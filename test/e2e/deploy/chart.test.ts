// The Helm chart: its values against their schema, and the objects that it makes against the schemas of Kubernetes and of the
// Prometheus operator, and against what the service has.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { describe, expect, test } from 'vitest';
import { parse as parseYaml } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { settings } from '../../../src/service/settings/table.ts';
import { shareService } from '../../service/http/service.ts';
import { chartReleases as releases } from './chart-releases.ts';
import { kubernetesFaults } from './kubernetes-schemas.ts';
import { chartValues, renderChart } from './render-chart.ts';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
type Got = any;

const chart = 'integrations/deploy/helm/writ';
const schema = new Ajv({ strict: true, allErrors: true }).compile(
  JSON.parse(readFileSync(join(chart, 'values.schema.json'), 'utf8')),
);
const service = shareService();

describe('the values', () => {
  test.each(Object.entries(releases))('of %s are of the schema', (_name, values) => {
    schema(chartValues(chart, values));
    expect(schema.errors ?? []).toEqual([]);
  });

  test.each([
    [{ replicaCount: 3 }],
    [{ store: { kind: 'mysql' } }],
    [{ store: { kind: 'postgres', replicas: 0 } }],
    [{ publicUrl: 'writ.example.com' }],
    [{ policies: { configMap: '' } }],
    [{ policies: { volume: { name: 'x' } } }],
    [{ networkPolicy: { from: [] } }],
    [{ networkPolicy: { from: [{}] } }],
    [{ env: [{ value: 'x' }] }],
  ])('%j are refused', (values) => {
    expect(schema(chartValues(chart, values))).toBe(false);
  });

  test('name the version of Writ and settings that there are', () => {
    const { version, appVersion } = parseYaml(readFileSync(join(chart, 'Chart.yaml'), 'utf8'));
    expect([version, appVersion]).toEqual([manifest.version, manifest.version]);
    const known = Object.keys(settings).map((name) => `WRIT_${name.replaceAll('.', '_').toUpperCase()}`);
    const named = Object.values(releases).flatMap((values) =>
      JSON.stringify(render(values)).match(/"WRIT_\w+"/g),
    );
    expect(new Set(named).size).toBeGreaterThan(3);
    expect(named.filter((name) => !known.includes(JSON.parse(name ?? '""')))).toEqual([]);
  });
});

const render = (values: object): readonly Got[] => renderChart(chart, { name: 'gate', values });

describe.each(Object.entries(releases))('the objects of a release with %s', (_name, values) => {
  const objects = render(values);
  const workload = objects.find(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
  const { template } = workload.spec;
  const containers = [...template.spec.containers, ...(template.spec.initContainers ?? [])];

  test('are of the schemas of Kubernetes', () => {
    expect(objects.flatMap(kubernetesFaults)).toEqual([]);
  });

  test('have one name, and select the pods', () => {
    expect(new Set(objects.map(({ metadata }) => metadata.name))).toEqual(new Set(['gate-writ']));
    const { labels } = template.metadata;
    const selectors = objects.flatMap(({ kind, spec }) => {
      if (kind === 'Service') return [spec.selector];
      if (kind === 'PrometheusRule') return [];
      return [(spec.podSelector ?? spec.selector).matchLabels];
    });
    expect(selectors.length).toBeGreaterThan(1);
    for (const selector of selectors) expect(selector).toEqual(labels);
    const of = objects.find(({ kind }) => kind === 'Service');
    expect(of.metadata.labels).toMatchObject(labels);
  });

  test('confine each container, and mount what they declare', () => {
    const { runAsNonRoot, runAsUser, seccompProfile } = template.spec.securityContext;
    expect([runAsNonRoot, runAsUser, seccompProfile]).toEqual([true, 65532, { type: 'RuntimeDefault' }]);
    for (const { securityContext } of containers)
      expect(securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
    const claims = workload.spec.volumeClaimTemplates ?? [];
    const declared = [...template.spec.volumes, ...claims.map(({ metadata }: Got) => metadata)];
    const mounted = containers.flatMap(({ volumeMounts }) => volumeMounts.map(({ name }: Got) => name));
    expect(new Set(mounted)).toEqual(new Set(declared.map(({ name }) => name)));
    const { automountServiceAccountToken, enableServiceLinks } = template.spec;
    expect([automountServiceAccountToken, enableServiceLinks]).toEqual([false, false]);
  });

  test('probe and scrape what the service answers', async () => {
    const [container] = template.spec.containers;
    const paths = ['readinessProbe', 'livenessProbe', 'startupProbe'].map(
      (name) => container[name].httpGet.path,
    );
    const monitor = objects.find(({ kind }) => kind === 'ServiceMonitor');
    for (const path of [...paths, ...(monitor?.spec.endpoints ?? []).map((one: Got) => one.path)])
      expect([path, (await fetch(`${service().url}${path}`)).status]).toEqual([path, 200]);
  });

  test('have the alert rules as they are', () => {
    const rule = objects.find(({ kind }) => kind === 'PrometheusRule');
    const shipped = parseYaml(readFileSync('integrations/deploy/monitoring/alerts.yaml', 'utf8'));
    if (rule === undefined) expect(values).not.toHaveProperty('prometheusRule');
    else expect(rule.spec).toEqual(shipped);
  });
});

test('the schemas of Kubernetes find mistakes', () => {
  const ofKind = render({}).find(({ kind }) => kind === 'StatefulSet');
  expect(kubernetesFaults({ ...ofKind, spec: { ...ofKind.spec, replicas: 'one' } })).not.toEqual([]);
  expect(kubernetesFaults({ ...ofKind, kind: 'StatefulSets' })).not.toEqual([]);
});

test('a file has one process and a volume, a database has replicas and a budget', () => {
  const kinds = (values: object) =>
    render(values)
      .map(({ kind }) => kind)
      .toSorted();
  expect(kinds({})).toEqual(['NetworkPolicy', 'Service', 'StatefulSet']);
  expect(kinds({ store: { kind: 'postgres' } })).toEqual([
    ...['Deployment', 'NetworkPolicy', 'PodDisruptionBudget', 'Service'],
  ]);
  const ofFile = render({ store: { replicas: 5 } }).find(({ kind }) => kind === 'StatefulSet');
  expect([ofFile.spec.replicas, ofFile.spec.volumeClaimTemplates.length]).toEqual([1, 1]);
  const ofDatabase = render({ store: { kind: 'postgres', replicas: 5 } }).find(
    ({ kind }) => kind === 'Deployment',
  );
  expect(ofDatabase.spec.replicas).toBe(5);
});
