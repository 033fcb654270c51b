// What people were asked over time, the outcomes, and how long people took.

import { useMemo } from 'preact/hooks';
import { useGrant } from '../../api/session.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { stretchText } from './axes.ts';
import { Plot, type PlotProps } from './plot.tsx';
import { countText, type Overview, outcomeSeries, type Series, type Steps } from './series.ts';
import { Swatch } from './swatch.tsx';

export function EscalationsSection(props: OverTime) {
  const { escalations } = props.overview;
  const mayApprove = useGrant('requests.approve') !== 'no';
  const series = useMemo(() => outcomeSeries(props.overview, ['escalate', 'reauth']), [props.overview]);
  const { p50, p90 } = escalations.time_to_approve_seconds;
  const pendingAddress = mayApprove ? '/approvals' : '/requests?status=pending';
  return (
    <Section title="Escalations" actions={<Legend series={series} />}>
      <Facts
        items={[
          ['Pending now', <a href={pendingAddress}>{countText(escalations.pending)}</a>],
          ['Approved', countText(escalations.approved)],
          ['Rejected', countText(escalations.rejected)],
          ['Unanswered', countText(escalations.expired)],
          ['Median time to approve', waitText(p50)],
          ['90th percentile', waitText(p90)],
        ]}
      />
      <TimePlot {...props} label="Escalations over time" form="bars" series={series} valueText={countText} />
    </Section>
  );
}

function waitText(seconds: number | null): string {
  return seconds === null ? '–' : spanText(seconds * 1_000);
}

/** The names of a plot's series, each with a sample of its colour and pattern. */
export function Legend({ series }: { readonly series: readonly Series[] }) {
  return (
    <ul class="overview-names">
      {series.map(({ key, name, color, style }) => (
        <li key={key}>
          <Swatch color={color} style={style} /> {name}
        </li>
      ))}
    </ul>
  );
}

/** The props of each section over time. */
export interface OverTime {
  readonly overview: Overview;
  readonly steps: Steps;
  readonly onZoom: (first: number, last: number) => void;
  readonly onZoomOut: () => void;
  readonly hintId: string;
}

export function TimePlot(props: Omit<PlotProps, 'stepName'>) {
  const { edges } = props.steps;
  return <Plot {...props} stepName={(index) => stretchText(edges[index] ?? 0, edges[index + 1] ?? 0)} />;
}
