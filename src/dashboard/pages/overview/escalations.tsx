// What people were asked over time, the outcomes, and how long people took.

import { useMemo } from 'preact/hooks';
import { useGrant } from '../../api/session.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { spanText } from '../../parts/layout/span-text.ts';
import { Legend } from './legend.tsx';
import { countText, outcomeSeries } from './series.ts';
import { type OverTime, TimePlot } from './time-plot.tsx';

export function EscalationsSection(props: OverTime) {
  const { escalations } = props.overview;
  const mayApprove = useGrant('requests.approve') !== 'no';
  const series = useMemo(() => outcomeSeries(props.overview, ['escalate', 'reauth']), [props.overview]);
  const { p50, p90 } = escalations.time_to_approve_seconds;
  const waitingAddress = mayApprove ? '/approvals' : '/requests?status=pending';
  return (
    <Section title="Escalations" actions={<Legend series={series} />}>
      <Facts
        items={[
          ['Waiting now', <a href={waitingAddress}>{countText(escalations.waiting)}</a>],
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
