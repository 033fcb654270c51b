// Turns counters, gauges and histograms into the Prometheus text format (version 0.0.4). INVARIANT: a metric
// never has more series than its bound; further labels are counted under `other`.

type LabelValues = readonly string[];

export interface MetricOptions {
  /** The name ends in the unit, that of a counter in `_total`. */
  readonly name: string;
  readonly help: string;
  readonly labels?: readonly string[];
}

export interface Counter {
  /** Counts one more, under the values of the labels in their order. */
  add(...values: LabelValues): void;
}

export interface HistogramMetric {
  observe(value: number): void;
}

export interface MetricRegistry {
  counter(options: MetricOptions): Counter;
  /** Adds a gauge; `read` is called when the metrics are requested. */
  gauge(options: MetricOptions, read: () => readonly GaugeReading[]): void;
  /** Adds a counter that is kept elsewhere; `read` is called when the metrics are requested. */
  counted(options: MetricOptions, read: () => readonly GaugeReading[]): void;
  /** Adds a summary that is kept elsewhere; `read` is called when the metrics are requested. */
  summary(options: Omit<MetricOptions, 'labels'>, read: () => SummaryReading): void;
  /** Adds a histogram; `bounds` are the upper ends of all buckets but the last, rising. */
  histogram(options: MetricOptions, bounds: readonly number[]): HistogramMetric;
  text(): string;
}

export interface GaugeReading {
  readonly value: number;
  readonly labels?: LabelValues;
}

export interface SummaryReading {
  /** Values by quantile, from 0 to 1. */
  readonly quantiles: readonly (readonly [number, number])[];
  /** Since the start; neither ever falls. */
  readonly sum: number;
  readonly count: number;
}

export const metricsType = 'text/plain; version=0.0.4; charset=utf-8';

const seriesMax = 500;
const overflow = 'other';
/**
 * Separates the values of labels in the key of a series; no word of the service and no name of a policy
 * contains it.
 */
const separator = '\n';

interface Series {
  /** The labels as the text format writes them. */
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
        const cached = series.get(key);
        if (cached !== undefined) return cached;
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
          const cached = series.get(values.join(separator));
          const counted = cached ?? open(series.size < seriesMax ? values : labels.map(() => overflow));
          counted.value += 1;
        },
      };
    },
    gauge(options, read) {
      metrics.push(() => readings(options, 'gauge', read()));
    },
    counted(options, read) {
      metrics.push(() => readings(options, 'counter', read()));
    },
    summary({ name, help }, read) {
      metrics.push(() => {
        const { quantiles, sum, count } = read();
        return [
          ...head(name, help, 'summary'),
          ...quantiles.map(([quantile, value]) => `${name}{quantile="${quantile}"} ${numberText(value)}`),
          `${name}_sum ${sum}`,
          `${name}_count ${count}`,
        ];
      });
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

/** The lines of a metric; none, not even its head, when it has no samples. */
function readings(
  { name, help, labels = [] }: MetricOptions,
  type: 'counter' | 'gauge',
  samples: readonly GaugeReading[],
): readonly string[] {
  if (samples.length === 0) return [];
  const lines = samples.map(
    ({ value, labels: values = [] }) => `${name}${labelText(labels, values)} ${numberText(value)}`,
  );
  return [...head(name, help, type), ...lines];
}

function head(
  name: string,
  help: string,
  type: 'counter' | 'gauge' | 'histogram' | 'summary',
): readonly string[] {
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`];
}

/** The lines of the buckets. Each bucket also counts what smaller ones count; the last counts all. */
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
