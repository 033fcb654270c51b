// The overview: outcomes, latency, escalations, policies and risk over a stretch of time that is in the
// address, kept live. The old numbers stay until those of another stretch arrive.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { useResource } from '../../api/resource.ts';
import { setQuery, useAddress } from '../../navigation/navigation.ts';
import { Empty, Loading, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, PageFrame, Section } from '../../parts/layout/page.tsx';
import { EscalationsSection, Legend, type OverTime, TimePlot } from './escalations.tsx';
import './overview.css';
import { useEvents } from '../../api/event-stream.ts';
import { useGrant } from '../../api/session.tsx';
import { Button, ButtonLink } from '../../parts/layout/button.tsx';
import { RefusalList } from '../../parts/policy/refusal-list.tsx';
import { CopyText } from '../../parts/text/copy.tsx';
import { stretchText } from './axes.ts';
import { Plot } from './plot.tsx';
import { PoliciesSection } from './policies.tsx';
import { type Range, type RangeName, rangeNames, rangeQuery, ranges, readRange, zoomQuery } from './range.ts';
import {
  countText,
  latencySeries,
  latencyText,
  type OutcomeKey,
  type Overview,
  outcomeSeries,
  outcomes,
  outcomeTotals,
  riskSeries,
  riskSteps,
  shareText,
  timeSteps,
} from './series.ts';
import { Swatch } from './swatch.tsx';

/** The risk of decisions, in steps of ten. The zoom is in the address. */
export function RiskSection({ overview, hintId }: { readonly overview: Overview; readonly hintId: string }) {
  const zoom = useAddress().query.get('risk') ?? '';
  const { steps, series } = useMemo(() => {
    const [least, most] = readZoom(zoom);
    const risk = overview.risk.filter(({ from, to }) => from >= least && to <= most);
    const part = { ...overview, risk: risk.length === 0 ? overview.risk : risk };
    return { steps: riskSteps(part), series: riskSeries(part) };
  }, [overview, zoom]);
  const onZoom = (first: number, last: number): void =>
    setQuery({ risk: `${steps.edges[first]}-${steps.edges[last + 1]}` });
  const onZoomOut = (): void => setQuery({ risk: null });
  return (
    <Section title="Risk" actions={zoom !== '' && <Button onClick={onZoomOut}>All scores</Button>}>
      <Plot
        label={'Decisions by risk score'}
        form={'bars'}
        steps={steps}
        series={series}
        onZoom={onZoom}
        onZoomOut={onZoomOut}
        hintId={hintId}
        stepName={(index) => `Risk ${stepText(steps.edges, index)}`}
        valueText={countText}
      />
    </Section>
  );
}

const scoreMax = 100;

/** Reads a zoom such as `40-100`; all scores for any other text. */
function readZoom(text: string): readonly [number, number] {
  const [, least, most] = /^(\d{1,3})-(\d{1,3})$/.exec(text) ?? [];
  return least === undefined || most === undefined ? [0, scoreMax] : [Number(least), Number(most)];
}

function stepText(edges: readonly number[], index: number): string {
  const to = edges[index + 1] ?? scoreMax;
  return `${edges[index] ?? 0} to ${to === scoreMax ? to : to - 1}`;
}

/**
 * Milliseconds between two reloads. Under load the event stream never rests, and counting a month costs more
 * than drawing it.
 */
const pauseMs = 3_000;
const idleMs = 20_000;

export function useLive(isLive: boolean, reload: () => void): void {
  const latest = useRef(reload);
  latest.current = reload;
  const lastMs = useRef(Date.now());
  const timer = useRef<ReturnType<typeof setTimeout> | null>(null);

  const lookNow = (): void => {
    timer.current = null;
    if (document.hidden) return;
    lastMs.current = Date.now();
    latest.current();
  };
  const lookSoon = (): void => {
    if (!isLive || timer.current !== null) return;
    timer.current = setTimeout(lookNow, Math.max(0, lastMs.current + pauseMs - Date.now()));
  };
  useEvents(['requests'], lookSoon);
  useEffect(() => {
    if (!isLive) return;
    const idle = setInterval(() => {
      if (Date.now() - lastMs.current >= idleMs) lookSoon();
    }, idleMs / 4);
    document.addEventListener('visibilitychange', lookSoon);
    return () => {
      clearInterval(idle);
      document.removeEventListener('visibilitychange', lookSoon);
      if (timer.current !== null) clearTimeout(timer.current);
      timer.current = null;
    };
  }, [isLive]);
}

// Shown on the overview while there is nothing to count: how to send a first request.

const payload = '{"amount": 120, "currency": "USD", "vendor": "Staples"}';

export function NoRequests({ name }: { readonly name: RangeName | null }) {
  const mayRegister = useGrant('agents.register') === 'yes';
  const stretch = name === null ? 'in the time that you zoomed into' : `in the last ${ranges[name].word}`;
  const command = [
    `curl ${window.location.origin}/v1/authorize`,
    "-H 'Content-Type: application/json' -H 'X-Agent-API-Key: writ_...'",
    `-d '{"action_key": "payment.create", "payload": ${payload}}'`,
  ].join(' \\\n  ');
  return (
    <Section title="Decisions">
      <Empty icon="chart" title={`No requests ${stretch}`}>
        <p>
          An agent sends a request before it acts. Each decision is counted here immediately, with its
          latency, policy, risk score and approvals.
        </p>
      </Empty>
      <CopyText text={command} label="the command" />
      <div class="overview-next">
        {mayRegister && (
          <ButtonLink href="/agents/new" icon="plus" variant="primary">
            Register an agent
          </ButtonLink>
        )}
        {name !== '30d' && <ButtonLink href="/overview?range=30d">Show the last 30 days</ButtonLink>}
      </div>
    </Section>
  );
}

const hintId = 'overview-hint';

export default function OverviewPage() {
  const { query } = useAddress();
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
        Drag over a plot to zoom in.
        <span class="visually-hidden">
          {' '}
          Double-click to zoom out. With the keyboard: arrows to move, with Shift to select, Enter to zoom in,
          Backspace to zoom out, Escape to cancel.
        </span>
      </p>
    </div>
  );
}

/** Requests that the service itself refused before any policy, by reason. */
export function RefusalsSection({ overview: { refusals } }: { readonly overview: Overview }) {
  return (
    <Section title="Refused before any policy">
      {refusals.length === 0 ? <p>Nothing was refused in this time.</p> : <RefusalList refusals={refusals} />}
    </Section>
  );
}

/** How long decisions took: three numbers, and a plot over time on a logarithmic scale. */
export function LatencySection(props: OverTime) {
  const series = useMemo(() => latencySeries(props.overview), [props.overview]);
  const of = props.overview.total_latency;
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

// The choice of the stretch of time: ranges up to now, or a zoomed part with a way back.

interface RangeChoiceProps {
  readonly query: URLSearchParams;
  /** Null when zoomed into a part. */
  readonly name: RangeName | null;
}

export function RangeChoice({ query, name }: RangeChoiceProps) {
  const addressOf = (one: RangeName): string => {
    const next = new URLSearchParams(query);
    next.delete('from');
    next.delete('to');
    next.set('range', one);
    return `/overview?${next}`;
  };
  return (
    <nav class="overview-ranges" aria-label="Time shown">
      {rangeNames.map((one) => (
        <a key={one} href={addressOf(one)} aria-current={one === name ? 'true' : undefined}>
          <span class="visually-hidden">The last </span>
          {ranges[one].word}
        </a>
      ))}
    </nav>
  );
}

export function Zoomed({ range: { fromMs, untilMs } }: { readonly range: Range }) {
  return (
    <p class="overview-zoomed" role="status">
      <span>{stretchText(fromMs, untilMs)}</span>
      <Button icon="close" onClick={() => setQuery({ from: null, to: null })}>
        Zoom out
      </Button>
    </p>
  );
}

/**
 * Decisions over time by outcome. The numbers above the plot are its legend. Each number hides or shows its
 * outcome, because a few denials cannot be seen among a thousand grants.
 */
export function DecisionsSection(props: OverTime) {
  const { overview } = props;
  const hiddenText = useAddress().query.get('hide') ?? '';
  const shownKeys = useMemo(() => {
    const hidden = hiddenText.split(',');
    return outcomes.map(({ key }) => key).filter((key) => !hidden.includes(key));
  }, [hiddenText]);
  const series = useMemo(() => outcomeSeries(overview, shownKeys), [overview, shownKeys]);
  const totals = outcomeTotals(overview);
  const toggle = (key: OutcomeKey): void => {
    const hidden = outcomes.map((one) => one.key).filter((one) => shownKeys.includes(one) === (one === key));
    setQuery({ hide: hidden.join(',') }, { replace: true });
  };
  return (
    <Section
      title="Decisions"
      actions={<span class="overview-total">{countText(overview.total)} requests</span>}
    >
      <ul class="overview-legend">
        {outcomes.map(({ key, name, color, style }) => (
          <li key={key}>
            <button
              type="button"
              class="overview-outcome"
              aria-pressed={shownKeys.includes(key)}
              title={shownKeys.includes(key) ? `Hide ${name} in the plot` : `Show ${name} in the plot`}
              onClick={() => toggle(key)}
            >
              <span>
                <Swatch color={color} style={style} /> {name}
              </span>
              <strong>{countText(totals[key])}</strong>
              <small>{shareText(totals[key], overview.total)}</small>
            </button>
          </li>
        ))}
      </ul>
      <TimePlot {...props} label="Decisions over time" form="bars" series={series} valueText={countText} />
    </Section>
  );
}
