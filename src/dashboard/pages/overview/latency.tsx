// How long decisions took: three numbers, and a plot over time on a logarithmic scale.

import { useMemo } from 'preact/hooks';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { Legend } from './legend.tsx';
import { latencySeries, latencyText } from './series.ts';
import { type OverTime, TimePlot } from './time-plot.tsx';

export function LatencySection(props: OverTime) {
  const series = useMemo(() => latencySeries(props.overview), [props.overview]);
  const of = props.overview.latency_of_all;
  return (
    <Section title="Latency of decisions" actions={<Legend series={series} />}>
      {of.p50_us === null ? (
        <p>No data: nothing was decided in this time.</p>
      ) : (
        <>
          <Facts
            items={[
              ['Median', latencyText(of.p50_us)],
              ['90th percentile', latencyText(of.p90_us)],
              ['99th percentile', latencyText(of.p99_us)],
            ]}
          />
          <TimePlot
            {...props}
            label="Latency over time"
            form="lines"
            series={series}
            valueText={latencyText}
          />
        </>
      )}
    </Section>
  );
}
