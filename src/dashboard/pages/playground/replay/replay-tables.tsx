// The figures of a replay: decisions as recorded and by the copy, and what is asked of people a day, by all
// requests or by some.

import { DecisionBadge } from '../../../parts/layout/badge.tsx';
import { type Column, DataTable } from '../../../parts/layout/data-table.tsx';
import { PlainText } from '../../../parts/text/plain-text.tsx';
import { groupLabel } from '../../requests/person-name.ts';
import { moreText, outcomes } from './replay-labels.ts';
import type { ReplayResult } from './use-replay.ts';

export function MatrixTable({ matrix }: Pick<ReplayResult, 'matrix'>) {
  const columns: readonly Column<MatrixRow>[] = [
    { head: 'Recorded', kind: 'row', cell: ({ before }) => <DecisionBadge decision={before} /> },
    ...outcomes.map(
      (now): Column<MatrixRow> => ({
        head: <DecisionBadge decision={now} />,
        kind: 'number',
        cell: ({ before }) => <Figure count={matrix[before][now]} isChange={now !== before} />,
      }),
    ),
  ];
  return (
    <DataTable
      label="Decisions as recorded and by your copy"
      caption="Decisions: as recorded, by row; by your copy, by column"
      columns={columns}
      rows={outcomes
        .filter((before) => outcomes.some((now) => matrix[before][now] > 0))
        .map((before) => ({ before }))}
      rowKey={({ before }) => before}
      narrow="scroll"
    />
  );
}

interface MatrixRow {
  readonly before: (typeof outcomes)[number];
}

function Figure({ count, isChange }: { readonly count: number; readonly isChange: boolean }) {
  if (count === 0) return <span class="replay-none">0</span>;
  const text = count.toLocaleString();
  return isChange ? <strong>{text}</strong> : text;
}

interface PeopleTableProps {
  readonly people: ReplayResult['people'];
  /** Minutes that one vote is assumed to take. */
  readonly minutes: number;
}

export function PeopleTable({ people, minutes }: PeopleTableProps) {
  if (people.length === 0) return <p>Nobody is asked, neither as recorded nor by your copy.</p>;
  return (
    <DataTable
      label="What is asked of people"
      caption={`What is asked of people: as recorded → by your copy; a vote is taken to cost ${minutes} minutes`}
      columns={peopleColumns}
      rows={people}
      rowKey={({ group }) => group}
      narrow="scroll"
    />
  );
}

type PersonRow = ReplayResult['people'][number];

const peopleColumns: readonly Column<PersonRow>[] = [
  { head: 'Who', kind: 'row', cell: ({ group }) => <PlainText text={groupLabel(group)} isShort /> },
  turnColumn('Votes', ({ votes }) => votes),
  turnColumn('A day (median)', ({ day }) => ({ before: day.before.median, now: day.now.median })),
  turnColumn('Busiest day', ({ day }) => ({ before: day.before.worst, now: day.now.worst })),
  turnColumn('Busiest hour', ({ busiest }) => busiest),
  turnColumn('Hours', ({ hours }) => hours),
];

function turnColumn(head: string, turnOf: (row: PersonRow) => Turn): Column<PersonRow> {
  return { head, kind: 'number', cell: (row) => <Turned {...turnOf(row)} /> };
}

interface Turn {
  readonly before: number;
  readonly now: number;
}

function Turned({ before, now }: Turn) {
  if (before === now) return <>{now.toLocaleString()}</>;
  return (
    <span class="replay-turn">
      {before.toLocaleString()} <span aria-hidden="true">→</span>
      <span class="visually-hidden">becomes</span> <strong>{now.toLocaleString()}</strong>
    </span>
  );
}

/** What some of the requests ask of people, one line for each group. */
export function VotesTable({ people }: Pick<PeopleTableProps, 'people'>) {
  if (people.length === 0) return null;
  return (
    <ul class="replay-asked" aria-label="What these requests ask of people">
      {people.map(({ group, votes, day, busiest }) => (
        <li key={group}>
          <PlainText text={groupLabel(group)} isShort />: {moreText(votes)}, <Turned {...votes} />; a day{' '}
          <Turned before={day.before.median} now={day.now.median} />, on the busiest{' '}
          <Turned before={day.before.worst} now={day.now.worst} />, in the busiest hour{' '}
          <Turned {...busiest} />
        </li>
      ))}
    </ul>
  );
}
