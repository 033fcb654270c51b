// The table of an agent's or an enforcement point's keys: when each was made, last used and ends.

import { Badge } from './badge.tsx';
import { TableScroll } from './table-scroll.tsx';
import { Ago, useNow } from './time.tsx';

interface ShownKey {
  readonly id: string;
  readonly created_at: string;
  readonly last_used_at: string | null;
  /** Null while this is the current key. */
  readonly not_after: string | null;
}

export interface KeyTableProps {
  /** Tells a screen reader whose keys these are. */
  readonly label: string;
  /** The first characters of every key. */
  readonly prefix: string;
  readonly keys: readonly ShownKey[];
}

export function KeyTable({ label, prefix, keys }: KeyTableProps) {
  const now = useNow();
  return (
    <TableScroll label={label}>
      <table class="table table-stack">
        <thead>
          <tr>
            <th scope="col">Key</th>
            <th scope="col">Status</th>
            <th scope="col">Created</th>
            <th scope="col">Last used</th>
            <th scope="col">Ends</th>
          </tr>
        </thead>
        <tbody>
          {keys.map(({ id, created_at: made, last_used_at: used, not_after: ends }) => (
            <tr key={id}>
              <td data-label="Key">
                <code>
                  {prefix}
                  {id}…
                </code>
              </td>
              <td data-label="Status">{keyBadge(ends, now)}</td>
              <td data-label="Created">
                <Ago at={made} />
              </td>
              <td data-label="Last used">{used === null ? 'never' : <Ago at={used} />}</td>
              <td data-label="Ends">{ends === null ? 'no end' : <Ago at={ends} />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </TableScroll>
  );
}

function keyBadge(ends: string | null, now: number) {
  if (ends === null) return <Badge tone="allow">Active</Badge>;
  return Date.parse(ends) > now ? (
    <Badge tone="escalate">Replaced</Badge>
  ) : (
    <Badge tone="unknown">Ended</Badge>
  );
}
