// Decisions over time by outcome. The numbers above the plot are its legend. Each number hides or shows its
// outcome, because a few denials cannot be seen among a thousand grants.

import { useMemo } from 'preact/hooks';
import { setQuery, usePlace } from '../../navigation/navigation.ts';
import { Section } from '../../parts/layout/page.tsx';
import { countText, type OutcomeKey, outcomeSeries, outcomes, outcomeTotals, shareText } from './series.ts';
import { Swatch } from './swatch.tsx';
import { type OverTime, TimePlot } from './time-plot.tsx';

export function DecisionsSection(props: OverTime) {
  const { overview } = props;
  const hiddenText = usePlace().query.get('hide') ?? '';
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
        {outcomes.map(({ key, name, color, look }) => (
          <li key={key}>
            <button
              type="button"
              class="overview-outcome"
              aria-pressed={shownKeys.includes(key)}
              title={shownKeys.includes(key) ? `Hide ${name} in the plot` : `Show ${name} in the plot`}
              onClick={() => toggle(key)}
            >
              <span>
                <Swatch color={color} look={look} /> {name}
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
