// Groups the rows of a list by the reader's days, each with a label.

import type { RowGroup } from '../../parts/layout/data-table.tsx';
import type { Row } from './rows.ts';

const date = new Intl.DateTimeFormat(undefined, { weekday: 'long', day: 'numeric', month: 'long' });
const dateWithYear = new Intl.DateTimeFormat(undefined, { dateStyle: 'full' });

/** In the order of the rows. A day that is interrupted by rows of another day appears again. */
export function daysOf(rows: readonly Row[], nowMs: number = Date.now()): readonly RowGroup<Row>[] {
  const days: { key: string; label: string; rows: Row[] }[] = [];
  for (const row of rows) {
    const at = new Date(row.item.created_at);
    const label = dayLabel(at, new Date(nowMs));
    const last = days.at(-1);
    if (last?.label === label) last.rows.push(row);
    else
      days.push({ key: `${label} ${days.filter((one) => one.label === label).length}`, label, rows: [row] });
  }
  return days;
}

function dayLabel(at: Date, now: Date): string {
  const yesterday = new Date(now);
  yesterday.setDate(now.getDate() - 1);
  if (at.toDateString() === now.toDateString()) return 'Today';
  if (at.toDateString() === yesterday.toDateString()) return 'Yesterday';
  return (at.getFullYear() === now.getFullYear() ? date : dateWithYear).format(at);
}
