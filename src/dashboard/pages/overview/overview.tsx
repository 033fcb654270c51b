// The overview: outcomes, latency, escalations, policies and risk over a stretch of time that is in the
// address, kept live. The old numbers stay until those of another stretch arrive.

import { useMemo, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import { Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { PageFrame } from '../../parts/layout/page.tsx';
import { DecisionsSection } from './decisions.tsx';
import { EscalationsSection } from './escalations.tsx';
import { LatencySection } from './latency.tsx';
import { useLive } from './live.ts';
import { NoRequests } from './no-requests.tsx';
import './overview.css';
import { PoliciesSection } from './policies.tsx';
import { type Range, rangeQuery, readRange, zoomQuery } from './range.ts';
import { RangeChoice, Zoomed } from './range-choice.tsx';
import { RefusalsSection } from './refusals.tsx';
import { RiskSection } from './risk.tsx';
import { type Overview, timeSteps } from './series.ts';

const hintId = 'overview-hint';

export default function OverviewPage() {
  const { query } = usePlace();
  const [nowMs, setNowMs] = useState(Date.now);
  const range = readRange(query, {
    nowMs,
    zoneMs: -new Date(nowMs).getTimezoneOffset() * 60_000,
    isNarrow: window.matchMedia('(width < 40rem)').matches,
  });
  const { data, problem, isLoading, reload } = useResource('getOverview', { query: rangeQuery(range) });
  const last = useRef<Overview | null>(null);
  if (data !== null) last.current = data;
  useLive(range.isLive, () => {
    setNowMs(Date.now());
    reload();
  });
  const overview = last.current;
  return (
    <PageFrame title="Overview" actions={<RangeChoice query={query} name={range.name} />}>
      {range.name === null && <Zoomed range={range} />}
      <ProblemNote problem={problem} onRetry={reload} />
      {overview === null ? (
        problem === null && <Loading lines={12} label="Counting" />
      ) : overview.total === 0 ? (
        <NoRequests name={range.name} />
      ) : (
        <Sections overview={overview} range={range} isOld={isLoading && data === null} />
      )}
    </PageFrame>
  );
}

interface SectionsProps {
  readonly overview: Overview;
  readonly range: Range;
  /** Whether the numbers belong to the previous stretch. */
  readonly isOld: boolean;
}

function Sections({ overview, range, isOld }: SectionsProps) {
  const steps = useMemo(() => timeSteps(overview), [overview]);
  const onZoom = (first: number, last: number): void => {
    const { edges } = steps;
    const zoomed = zoomQuery(edges[first] ?? steps.from, edges[last + 1] ?? steps.to);
    setQuery({ ...zoomed, range: null });
  };
  const onZoomOut = (): void => {
    if (range.name === null) setQuery({ from: null, to: null });
  };
  const shared = { overview, steps, onZoom, onZoomOut, hintId };
  return (
    <div class="overview" aria-busy={isOld}>
      <DecisionsSection {...shared} />
      <div class="overview-pair">
        <EscalationsSection {...shared} />
        <LatencySection {...shared} />
        <PoliciesSection overview={overview} />
        <RiskSection overview={overview} hintId={hintId} />
        <RefusalsSection overview={overview} />
      </div>
      <p class="overview-hint" id={hintId}>
        Drag over a plot to zoom in, double-click to zoom out. With the keyboard: arrows to move, with Shift
        to choose, Enter to zoom in, Backspace to zoom out, Escape to let go.
      </p>
    </div>
  );
}
