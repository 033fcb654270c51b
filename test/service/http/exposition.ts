// Reads the Prometheus text format, version 0.0.4, by its definition: metrics with their type and their
// samples. Throws at the first line that breaks the format, and at samples that contradict their type.

import { expect } from 'vitest';
import type { Service } from './service.ts';

const types = ['counter', 'gauge', 'histogram', 'summary'] as const;

export interface Metric {
  readonly name: string;
  readonly help: string;
  readonly type: (typeof types)[number];
  readonly samples: readonly Sample[];
}

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const nameForm = '[a-zA-Z_:][a-zA-Z0-9_:]*';
const headLine = new RegExp(`^# (HELP|TYPE) (${nameForm}) (.*)$`);
const sampleLine = new RegExp(`^(${nameForm})(?:\\{(.*)\\})? (\\S+)$`);
const labelPart = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

export function readExposition(text: string): readonly Metric[] {
  if (!text.endsWith('\n')) throw new Error('the last line has no end');
  const metrics = new Map<string, { help: string | null; type: Metric['type'] | null; samples: Sample[] }>();
  const seen = new Set<string>();
  let current: string | null = null;
  for (const line of text.slice(0, -1).split('\n')) {
    const head = headLine.exec(line);
    if (head !== null) {
      const [, kind, name = '', rest = ''] = head;
      const metric = metrics.get(name) ?? { help: null, type: null, samples: [] };
      if (metric.samples.length > 0) throw new Error(`${line}: stands behind its samples`);
      if (current !== name && metrics.has(name)) throw new Error(`${line}: its lines are apart`);
      metrics.set(name, metric);
      current = name;
      if (kind === 'HELP') metric.help = rest;
      else metric.type = typeOf(rest);
      continue;
    }
    const sample = readSample(line);
    const metric = metrics.get(current ?? '');
    if (metric === undefined || current === null || metric.type === null)
      throw new Error(`${line}: without a type`);
    if (!namesOf(current, metric.type).includes(sample.name))
      throw new Error(`${line}: is not of ${current}`);
    const key = `${sample.name} ${JSON.stringify(Object.entries(sample.labels).sort())}`;
    if (seen.has(key)) throw new Error(`${line}: is there twice`);
    seen.add(key);
    metric.samples.push(sample);
  }
  return [...metrics].map(([name, metric]) => checkMetric(name, metric));
}

function typeOf(text: string): Metric['type'] {
  const type = types.find((one) => one === text);
  if (type === undefined) throw new Error(`no type: ${text}`);
  return type;
}

function namesOf(name: string, type: Metric['type']): readonly string[] {
  if (type === 'summary') return [name, `${name}_sum`, `${name}_count`];
  return type === 'histogram' ? [`${name}_bucket`, `${name}_sum`, `${name}_count`] : [name];
}

function readSample(line: string): Sample {
  const [, name, labelText = '', valueText = ''] = sampleLine.exec(line) ?? [];
  if (name === undefined) throw new Error(`no sample: ${line}`);
  const labels: Record<string, string> = {};
  for (let rest = labelText; rest !== ''; ) {
    const [whole, label, value] = labelPart.exec(rest) ?? [];
    if (whole === undefined || label === undefined || value === undefined)
      throw new Error(`no labels: ${line}`);
    if (Object.hasOwn(labels, label)) throw new Error(`a label twice: ${line}`);
    labels[label] = value.replaceAll(/\\(.)/g, (_match, escaped: string) =>
      escaped === 'n' ? '\n' : escaped,
    );
    rest = rest.slice(whole.length);
  }
  return { name, labels, value: readValue(valueText, line) };
}

function readValue(text: string, line: string): number {
  if (text === '+Inf') return Infinity;
  if (text === '-Inf') return -Infinity;
  if (text === 'NaN') return Number.NaN;
  if (!/^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text)) throw new Error(`no number: ${line}`);
  return Number(text);
}

function checkMetric(
  name: string,
  { help, type, samples }: { help: string | null; type: Metric['type'] | null; samples: Sample[] },
): Metric {
  if (help === null || help === '' || type === null) throw new Error(`${name} lacks its help or its type`);
  if (type === 'counter' && samples.some(({ value }) => !(value >= 0)))
    throw new Error(`${name} counts below nothing`);
  if (type === 'histogram')
    for (const ofOne of Map.groupBy(samples, otherLabels).values()) checkHistogram(name, ofOne);
  return { name, help, type, samples };
}

/** The labels without `le`: they tell the histograms of one name apart. */
function otherLabels({ labels: { le: _, ...others } }: Sample): string {
  return JSON.stringify(Object.entries(others).sort());
}

/**
 * Checks that bounds rise and end at infinity, that counts never fall, and that the last count is the total.
 */
function checkHistogram(name: string, samples: readonly Sample[]): void {
  const buckets = samples.filter((sample) => sample.name === `${name}_bucket`);
  const bounds = buckets.map(({ labels }) => readValue(labels.le ?? '', `${name} le=${labels.le}`));
  const isRising = bounds.every((bound, index) => index === 0 || bound > bounds[index - 1]!);
  if (!isRising || bounds.at(-1) !== Infinity) throw new Error(`${name}: bounds do not rise to infinity`);
  if (buckets.some(({ value }, index) => index > 0 && value < buckets[index - 1]!.value))
    throw new Error(`${name}: a bucket holds less than a smaller one`);
  const count = samples.find((sample) => sample.name === `${name}_count`)?.value;
  if (count === undefined || count !== buckets.at(-1)?.value)
    throw new Error(`${name}: the count is not of all`);
  if (!samples.some((sample) => sample.name === `${name}_sum`)) throw new Error(`${name} has no sum`);
}

/** What `GET /metrics` of a service answers. */
export async function metricsOf({ url }: Pick<Service, 'url'>): Promise<string> {
  const reply = await fetch(`${url}/metrics`);
  expect(reply.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  return await reply.text();
}

/** The value of a series in the exposition; NaN when the series is absent. */
export function seriesValue(text: string, series: string): number {
  const line = text.split('\n').find((candidate) => candidate.startsWith(`${series} `));
  return line === undefined ? Number.NaN : Number(line.slice(series.length + 1));
}
