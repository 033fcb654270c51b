// Counters, gauges and histograms into the Prometheus text format (version 0.0.4). INVARIANT: a metric never has more
// than its bound of series: what comes with new labels after that is counted under `other`.

type LabelValues = readonly string[];

export interface MetricOptions {
  /** Ends in the unit, and a counter in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Counter {
  /** One more, under the values of the labels in their order. */
  add(...values: LabelValues): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

export interface MetricRegistry {
  counter(options: MetricOptions): Counter;
  /** Read when the metrics are asked for. */
  gauge(options: MetricOptions, read: () => readonly GaugeReading[]): void;
  /** `bounds`: the upper ends of all buckets but the last, rising. */
  histogram(options: MetricOptions, bounds: readonly number[]): HistogramMetric;
  text(): string;
}

export interface GaugeReading {
  readonly value: number;
  readonly labels?: LabelValues;
}

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

const seriesMax = 500;
const overflow = 'other';
/** What stands between the values of labels in the name of a series; no word of the service and no name of a policy has one. */
const separator = '\n';

interface Series {
  /** The labels as they are written. */
  readonly text: string;
  value: number;
}

export function createMetricRegistry(): MetricRegistry {
  const metrics: (() => readonly string[])[] = [];
  return {
    counter({ name, help, labels = [] }) {
      const series = new Map<string, Series>();
      const open = (values: LabelValues): Series => {
        const key = values.join(separator);
        const known = series.get(key);
        if (known !== undefined) return known;
        const opened = { text: labelText(labels, values), value: 0 };
        series.set(key, opened);
        return opened;
      };
      // Without labels there is one series, which exists from the start.
      if (labels.length === 0) open([]);
      metrics.push(() => [
        ...head(name, help, 'counter'),
        ...[...series.values()].map(({ text, value }) => `${name}${text} ${value}`),
      ]);
      return {
        add(...values) {
          const known = series.get(values.join(separator));
          const counted = known ?? open(series.size < seriesMax ? values : labels.map(() => overflow));
          counted.value += 1;
        },
      };
    },
    gauge({ name, help, labels = [] }, read) {
      metrics.push(() => [
        ...head(name, help, 'gauge'),
        ...read().map(
          ({ value, labels: values = [] }) => `${name}${labelText(labels, values)} ${numberText(value)}`,
        ),
      ]);
    },
    histogram({ name, help }, bounds) {
      const counts = new Float64Array(bounds.length + 1);
      let sum = 0;
      metrics.push(() => [
        ...head(name, help, 'histogram'),
        ...buckets(name, bounds, counts),
        `${name}_sum ${sum}`,
      ]);
      return {
        observe(value) {
          let index = 0;
          while (index < bounds.length && value > bounds[index]!) index += 1;
          counts[index] = counts[index]! + 1;
          sum += value;
        },
      };
    },
    text: () => `${metrics.flatMap((lines) => lines()).join('\n')}\n`,
  };
}

function head(name: string, help: string, type: 'counter' | 'gauge' | 'histogram'): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** Each bucket counts what the smaller ones do as well; the last counts all. */
function buckets(name: string, bounds: readonly number[], counts: Float64Array): readonly string[] {
  let total = 0;
  const lines = [...bounds, Infinity].map((bound, index) => {
    total += counts[index] ?? 0;
    return `${name}_bucket{le="${numberText(bound)}"} ${total}`;
  });
  return [...lines, `${name}_count ${total}`];
}

function labelText(names: readonly string[], values: LabelValues): string {
  if (names.length === 0) return '';
  return `{${names.map((name, index) => `${name}="${escapeLabel(values[index] ?? '')}"`).join(',')}}`;
}

function escapeLabel(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
}

function numberText(value: number): string {
  if (value === Infinity) return '+Inf';
  return Number.isNaN(value) ? 'NaN' : String(value);
}
