// How long deciding took over time, on a logarithmic scale.

import { useMemo } from 'preact/hooks';
import { Section } from '../../parts/layout/page.tsx';
import { Legend } from './legend.tsx';
import { latencySeries, latencyText } from './series.ts';
import { type OverTime, TimePlot } from './time-plot.tsx';

export function LatencySection(props: OverTime) {
  const series = useMemo(() => latencySeries(props.overview), [props.overview]);
  return (
    <Section title="Latency of decisions" actions={<Legend series={series} />}>
      <TimePlot {...props} label="Latency over time" form="lines" series={series} valueText={latencyText} />
    </Section>
  );
}
