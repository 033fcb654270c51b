// The figures of a replay: decisions as recorded and by the copy, and what is asked of people a day, by all
// requests or by some.

import { DecisionBadge } from '../../../parts/layout/badge.tsx';
import { TableScroll } from '../../../parts/layout/table-scroll.tsx';
import { PlainText } from '../../../parts/text/plain-text.tsx';
import { moreText, outcomes } from './replay-words.ts';
import type { ReplayResult } from './use-replay.ts';

export function MatrixTable({ matrix }: Pick<ReplayResult, 'matrix'>) {
  const rows = outcomes.filter((before) => outcomes.some((now) => matrix[before][now] > 0));
  return (
    <TableScroll label="Decisions as recorded and by your copy">
      <table class="table">
        <caption class="replay-caption">Decisions: as recorded, by row; by your copy, by column</caption>
        <thead>
          <tr>
            <th scope="col">Recorded</th>
            {outcomes.map((now) => (
              <th key={now} scope="col" class="number">
                <DecisionBadge decision={now} />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((before) => (
            <tr key={before}>
              <th scope="row">
                <DecisionBadge decision={before} />
              </th>
              {outcomes.map((now) => (
                <Figure key={now} count={matrix[before][now]} isChange={now !== before} />
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function Figure({ count, isChange }: { readonly count: number; readonly isChange: boolean }) {
  if (count === 0) return <td class="number replay-none">0</td>;
  return (
    <td class="number">{isChange ? <strong>{count.toLocaleString()}</strong> : count.toLocaleString()}</td>
  );
}

interface PeopleTableProps {
  readonly people: ReplayResult['people'];
  /** Minutes that one vote is assumed to take. */
  readonly minutes: number;
}

export function PeopleTable({ people, minutes }: PeopleTableProps) {
  if (people.length === 0) return <p>Nobody is asked, neither as recorded nor by your copy.</p>;
  return (
    <TableScroll label="What is asked of people">
      <table class="table">
        <caption class="replay-caption">
          What is asked of people: as recorded → by your copy; a vote is taken to cost {minutes} minutes
        </caption>
        <thead>
          <tr>
            <th scope="col">Who</th>
            {['Votes', 'A day (median)', 'Busiest day', 'Busiest hour', 'Hours'].map((name) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {people.map(({ group, votes, day, busiest, hours }) => (
            <tr key={group}>
              <th scope="row">
                <PlainText text={group} isShort />
              </th>
              <Became before={votes.before} now={votes.now} />
              <Became before={day.before.median} now={day.now.median} />
              <Became before={day.before.worst} now={day.now.worst} />
              <Became before={busiest.before} now={busiest.now} />
              <Became before={hours.before} now={hours.now} />
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

interface Turn {
  readonly before: number;
  readonly now: number;
}

function Became(turn: Turn) {
  return (
    <td class="number">
      <Turned {...turn} />
    </td>
  );
}

function Turned({ before, now }: Turn) {
  if (before === now) return <>{now.toLocaleString()}</>;
  return (
    <>
      {before.toLocaleString()} <span aria-hidden="true">→</span>
      <span class="visually-hidden">becomes</span> <strong>{now.toLocaleString()}</strong>
    </>
  );
}

/** What some of the requests ask of people, one line for each group. */
export function AskedOfPeople({ people }: Pick<PeopleTableProps, 'people'>) {
  if (people.length === 0) return null;
  return (
    <ul class="replay-asked" aria-label="What these requests ask of people">
      {people.map(({ group, votes, day, busiest }) => (
        <li key={group}>
          <PlainText text={group} isShort />: {moreText(votes)}, <Turned {...votes} />; a day{' '}
          <Turned before={day.before.median} now={day.now.median} />, on the busiest{' '}
          <Turned before={day.before.worst} now={day.now.worst} />, in the busiest hour{' '}
          <Turned {...busiest} />
        </li>
      ))}
    </ul>
  );
}
