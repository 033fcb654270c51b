// The risk of decisions, in steps of ten. The zoom is in the address.

import { useMemo } from 'preact/hooks';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import { Button } from '../../parts/layout/button.tsx';
import { Section } from '../../parts/layout/page.tsx';
import { Plot } from './plot.tsx';
import { countText, type Overview, riskSeries, riskSteps } from './series.ts';

export function RiskSection({ overview, hintId }: { readonly overview: Overview; readonly hintId: string }) {
  const zoom = usePlace().query.get('risk') ?? '';
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
