// Files for supervisors and container engines: each refers only to addresses, settings and files that exist.

import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseAllDocuments, parse as parseYaml } from 'yaml';
import manifest from '../../../package.json' with { type: 'json' };
import { notifyReady } from '../../../src/cli/support/supervisor.ts';
import { packageManifest } from '../../../src/packaging/package/manifests.ts';
import { settings } from '../../../src/service/settings/table.ts';
import { shareService } from '../../service/http/service.ts';
import { temporaryFolder } from '../../service/store/rows.ts';

const folder = 'integrations/deploy';
const textOf = (path: string) => readFileSync(join(folder, path), 'utf8');
// biome-ignore lint/suspicious/noExplicitAny: a test looks into what it got
type Got = any;

const service = shareService();
const known = new Set(Object.keys(settings).map((name) => `WRIT_${name.replaceAll('.', '_').toUpperCase()}`));
const variablesOf = (text: string) => [...new Set(text.match(/\bWRIT_[A-Z_]+\b/g) ?? [])];

describe('every file', () => {
  test.each([
    'systemd/writ.service',
    'container/Containerfile',
    'container/compose.yaml',
    'kubernetes/writ.yaml',
  ])('%s names settings and files that there are', (path) => {
    const text = textOf(path);
    expect(variablesOf(text).filter((name) => !known.has(name))).toEqual([]);
    const entries = [...text.matchAll(/node_modules\/writ\/(\S+?\.js)/g)].map(([, entry]) => entry);
    expect(entries.filter((entry) => entry !== packageManifest.bin.writ)).toEqual([]);
  });
});

describe('the unit of systemd', () => {
  const text = textOf('systemd/writ.service');

  test('waits for the service to say that it is ready, which it does once', async () => {
    expect(text).toContain('Type=notify');
    const place = temporaryFolder();
    const said = join(place, 'said');
    const fake = join(place, 'systemd-notify');
    writeFileSync(fake, `#!/bin/sh\necho "$NOTIFY_SOCKET $@" >> ${said}\n`);
    chmodSync(fake, 0o755);
    const warnings: string[] = [];
    const warn = (line: string) => void warnings.push(line);
    const environment = { PATH: `${place}:${process.env.PATH}`, NOTIFY_SOCKET: '/run/notify' };
    await notifyReady(warn, environment);
    await notifyReady(warn, { PATH: environment.PATH });
    expect(readFileSync(said, 'utf8')).toBe(`/run/notify --ready --pid=${process.pid}\n`);
    await notifyReady(warn, { PATH: temporaryFolder(), NOTIFY_SOCKET: '/run/notify' });
    expect(warnings).toEqual([expect.stringContaining('could not notify systemd')]);
  });
});

describe('the container', () => {
  const text = textOf('container/Containerfile');

  test('runs as nobody in particular, and is asked for its health where it answers', async () => {
    expect(text).toMatch(/^USER \d+:\d+$/m);
    expect(text).toContain(` pg@${manifest.dependencies.pg} `);
    const [, path = ''] = /fetch\('http:\/\/127\.0\.0\.1:8181(\/[a-z]+)'\)/.exec(text) ?? [];
    expect((await fetch(`${service().url}${path}`)).status).toBe(200);
    expect(text).toContain(`WRIT_PORT=${/EXPOSE (\d+)/.exec(text)?.[1]}`);
  });

  test('is started by compose without rights and with a root that is not written', () => {
    const { writ } = parseYaml(textOf('container/compose.yaml')).services;
    expect(writ).toMatchObject({
      read_only: true,
      cap_drop: ['ALL'],
      build: { dockerfile: 'Containerfile' },
    });
    const volumes = writ.volumes.map((volume: string) => volume.split(':')[1]);
    for (const place of volumes) expect(text).toContain(`=${place}`);
  });
});

describe('the manifests of Kubernetes', () => {
  const documents: readonly Got[] = parseAllDocuments(textOf('kubernetes/writ.yaml'), { merge: true }).map(
    (document) => document.toJS(),
  );
  const [deployment] = documents.filter(({ kind }) => kind === 'Deployment');
  const { template, selector, replicas } = deployment.spec;
  const [container] = template.spec.containers;

  test('probe what the service answers', async () => {
    for (const name of ['readinessProbe', 'livenessProbe', 'startupProbe']) {
      const { path, port } = container[name].httpGet;
      expect((await fetch(`${service().url}${path}`)).status).toBe(200);
      expect(container.ports.map((one: Got) => one.name)).toContain(port);
    }
  });

  test('let no container write its root or gain rights, and none run as root', () => {
    expect(template.spec).toMatchObject({
      securityContext: { runAsNonRoot: true },
      enableServiceLinks: false,
    });
    for (const { securityContext } of [container, ...template.spec.initContainers])
      expect(securityContext).toEqual({
        readOnlyRootFilesystem: true,
        allowPrivilegeEscalation: false,
        capabilities: { drop: ['ALL'] },
      });
  });

  test('name each other, mount what they declare, and keep more than half of the replicas', () => {
    const volumes = template.spec.volumes.map(({ name }: Got) => name);
    const mounted = [container, ...template.spec.initContainers].flatMap(({ volumeMounts }) =>
      volumeMounts.map(({ name }: Got) => name),
    );
    expect(new Set(mounted)).toEqual(new Set(volumes));
    for (const { kind, spec } of documents) {
      const labels = kind === 'Service' ? spec.selector : spec.selector.matchLabels;
      expect([kind, labels]).toEqual([kind, template.metadata.labels]);
    }
    expect(selector.matchLabels).toEqual(template.metadata.labels);
    const [budget] = documents.filter(({ kind }) => kind === 'PodDisruptionBudget');
    expect(budget.spec.minAvailable).toBeGreaterThan(replicas / 2);
  });
});
