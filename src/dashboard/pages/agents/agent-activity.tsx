// An agent's requests of the last 14 days, as bars and as a table.

import type { Reply } from '../../../api/operations.ts';
import { useResource } from '../../api/resource.ts';
import { useGrant } from '../../api/session.tsx';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import { Note } from '../../parts/layout/note.tsx';
import { Facts, Section } from '../../parts/layout/page.tsx';
import { ResourceView } from '../../parts/layout/resource-view.tsx';
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
  const loaded = useResource('getAgentActivity', { params: { id } }, ['requests', 'agents']);
  return (
    <Section title="Activity">
      <ResourceView resource={loaded}>{(activity) => <Activity id={id} activity={activity} />}</ResourceView>
    </Section>
  );
}

interface ActivityProps {
  readonly id: string;
  readonly activity: Reply<'getAgentActivity'>;
}

function Activity({ id, activity }: ActivityProps) {
  const mayRequests = useGrant('requests.view') !== 'no';
  const { days, last_used_at: usedAt, open_requests: open, open_requests_max: openMax, refusals } = activity;
  const bars = activityBars(days);
  return (
    <>
      <Facts
        items={[
          ['Requests in 14 days', bars.total.toLocaleString()],
          ['Last used', usedAt === null ? 'never' : <Ago key="used" at={usedAt} />],
          [
            'Pending',
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
          {open} of {openMax} requests are pending: further escalations are refused until people answer some.
          An operator can raise the limit with the setting <code>requests.open_max</code>.
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
        <DataTable
          label="Requests by day"
          columns={dayColumns}
          rows={days.toReversed()}
          rowKey={({ at }) => at}
          narrow="scroll"
        />
      </details>
    </>
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

const dayColumns: readonly Column<Day>[] = [
  { head: 'Day (UTC)', kind: 'row', cell: ({ at }) => dayName(at) },
  ...outcomes.map(
    (outcome): Column<Day> => ({
      head: words[outcome],
      kind: 'number',
      cell: (day) => day[outcome].toLocaleString(),
    }),
  ),
];

const dayForm = new Intl.DateTimeFormat(undefined, { day: 'numeric', month: 'short', timeZone: 'UTC' });

function dayName(at: string | undefined): string {
  return at === undefined ? '' : dayForm.format(Date.parse(at));
}
