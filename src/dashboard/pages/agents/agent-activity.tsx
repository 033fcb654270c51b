// An agent's requests of the last 14 days, as bars and as a table.

import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { Loading, Note, ProblemNote } from '../../parts/layout/note.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { TableScroll } from '../../parts/layout/table-scroll.tsx';
import { Ago } from '../../parts/layout/time.tsx';
import { RefusalList } from '../../parts/policy/refusal-list.tsx';
import { activityBars, type Bars, type Day, type Outcome, outcomes } from './activity-bars.ts';
import { ActivityFills, FillSwatch, fillOf } from './activity-fills.tsx';
import type { AgentProps } from './agent-props.ts';

const words: Readonly<Record<Outcome, string>> = {
  allow: 'Allow',
  deny: 'Deny',
  escalate: 'Escalate',
  reauth: 'Step-up',
  refused: 'Refused',
};

export function AgentActivity({ agent: { id } }: AgentProps) {
  const mayRequests = useGrant('requests.view') !== 'no';
  const { data, problem, reload } = useResource('getAgentActivity', { params: { id } }, [
    'requests',
    'agents',
  ]);
  if (data === null) {
    return (
      <Section title="Activity">
        <ProblemNote problem={problem} onRetry={reload} />
        {problem === null && <Loading />}
      </Section>
    );
  }
  const bars = activityBars(data.days);
  const { open_requests: open, open_requests_max: openMax, refusals } = data;
  return (
    <Section title="Activity">
      <ProblemNote problem={problem} onRetry={reload} />
      <Facts
        items={[
          ['Requests in 14 days', bars.total.toLocaleString()],
          ['Last used', data.last_used_at === null ? 'never' : <Ago key="used" at={data.last_used_at} />],
          [
            'Waiting for people',
            open > 0 && mayRequests ? (
              <a key="open" href={`/requests?agent=${id}&status=pending`}>
                {open} of {openMax}
              </a>
            ) : (
              `${open} of ${openMax}`
            ),
          ],
        ]}
      />
      {open >= openMax && (
        <Note tone="deny" icon="warning">
          {open} of {openMax} requests wait: further escalations are refused until people answer some. An
          operator raises the limit with the setting <code>requests.open_max</code>.
        </Note>
      )}
      {refusals.length > 0 && (
        <>
          <h3>Refused in 24 hours</h3>
          <RefusalList refusals={refusals} />
        </>
      )}
      <Chart bars={bars} />
      <details class="agent-days">
        <summary>As a table</summary>
        <DayTable days={data.days} />
      </details>
    </Section>
  );
}

/**
 * Drawn in shares of its width and height, so that the patterns keep their form; the table holds the same
 * numbers.
 */
function Chart({ bars: { top, bars, total } }: { readonly bars: Bars }) {
  const last = bars.length - 1;
  const left = (index: number): string => percent((index + 0.1) / bars.length);
  const width = percent(0.8 / bars.length);
  return (
    <figure class="agent-chart">
      <figcaption class="visually-hidden">
        {total} requests in {bars.length} days; the table below has each day.
      </figcaption>
      <div class="agent-chart-plot">
        <span class="agent-chart-top" aria-hidden="true">
          {top.toLocaleString()}
        </span>
        <svg aria-hidden="true">
          <ActivityFills />
          {bars.map(({ at, total: count, parts }, index) => (
            <g key={at}>
              <title>{`${dayName(at)}: ${count}`}</title>
              <rect class="agent-bar-none" x={left(index)} y="0" width={width} height="100%" />
              {parts.map(({ outcome, from, size }) => (
                <rect
                  key={outcome}
                  fill={fillOf(outcome)}
                  x={left(index)}
                  y={percent(1 - from - size)}
                  width={width}
                  height={percent(size)}
                />
              ))}
            </g>
          ))}
        </svg>
        <div class="agent-chart-ends" aria-hidden="true">
          <span>{dayName(bars[0]?.at)}</span>
          <span>{dayName(bars[last]?.at)}</span>
        </div>
      </div>
      <ul class="agent-legend" aria-hidden="true">
        {outcomes.map((outcome) => (
          <li key={outcome}>
            <FillSwatch outcome={outcome} />
            {words[outcome]}
          </li>
        ))}
      </ul>
    </figure>
  );
}

function percent(share: number): string {
  return `${100 * share}%`;
}

function DayTable({ days }: { readonly days: readonly Day[] }) {
  return (
    <TableScroll label="Requests by day">
      <table class="table">
        <thead>
          <tr>
            <th scope="col">Day (UTC)</th>
            {outcomes.map((outcome) => (
              <th scope="col" class="number" key={outcome}>
                {words[outcome]}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.toReversed().map((day) => (
            <tr key={day.at}>
              <th scope="row">{dayName(day.at)}</th>
              {outcomes.map((outcome) => (
                <td class="number" key={outcome}>
                  {day[outcome].toLocaleString()}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

const dayForm = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayName(at: string | undefined): string {
  return at === undefined ? '' : dayForm.format(Date.parse(at));
}
