// A table whose columns are data. One that is wider or higher than its place scrolls, by keyboard too, and the page does
// not. On a phone its rows are cards. INVARIANT: the table has a name, and each head says what it is the head of.

import type { ComponentChildren, VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import './data-table.css';

export interface Column<Row> {
  readonly head: ComponentChildren;
  readonly cell: (row: Row) => ComponentChildren;
  /**
   * `row`: its cells are the heads of their rows; `number`: figures; `actions`: buttons, with a head for screen readers
   * only.
   */
  readonly kind?: 'row' | 'number' | 'actions';
  /** The label of the value in a card: the head if absent, none if null. */
  readonly label?: string | null;
  /** Explains the head. */
  readonly title?: string;
  /** Of the head and all cells. `brief-hidden` leaves the column out of brief cards. */
  readonly class?: string;
}

export interface RowGroup<Row> {
  readonly key: string;
  readonly label: string;
  readonly rows: readonly Row[];
}

interface DataTableProps<Row> {
  /** Names the contents of the table. */
  readonly label: string;
  /** Rows are drawn once as long as this array is the same, so a long list needs a constant. */
  readonly columns: readonly (Column<Row> | false)[];
  readonly rows: readonly Row[];
  readonly rowKey: (row: Row) => string | number;
  readonly rowClass?: (row: Row) => string | undefined;
  /** Splits the rows into parts, each with a heading. */
  readonly groups?: (rows: readonly Row[]) => readonly RowGroup<Row>[];
  /** On a phone: cards with labels, cards of few lines without labels, or a table that scrolls. */
  readonly narrow?: 'cards' | 'brief' | 'scroll';
  /** Whether newer contents are being loaded. */
  readonly isOld?: boolean;
  /** Replaces the label for everyone to read. */
  readonly caption?: ComponentChildren;
  readonly class?: string;
}

const looks = {
  cards: 'table table-stack',
  brief: 'table table-stack table-brief',
  scroll: 'table',
} as const;

export function DataTable<Row extends object>(props: DataTableProps<Row>) {
  const { label, rows, groups, narrow = 'cards', isOld = false, caption, class: own = '' } = props;
  const columns = props.columns.filter((column) => column !== false);
  const drawn = useDrawnRows(props, columns);
  return (
    <Scroll label={label} isOld={isOld}>
      <table class={`${looks[narrow]} ${own}`.trim()} aria-label={caption === undefined ? label : undefined}>
        {caption !== undefined && <caption>{caption}</caption>}
        <thead>
          <tr>
            {columns.map((column, index) => (
              <th key={index} scope="col" class={classOf(column)} title={column.title}>
                {column.kind === 'actions' ? <span class="visually-hidden">{column.head}</span> : column.head}
              </th>
            ))}
          </tr>
        </thead>
        {groups === undefined ? (
          <tbody>{rows.map(drawn)}</tbody>
        ) : (
          groups(rows).map((group) => (
            <tbody key={group.key}>
              <tr class="table-group">
                <th colSpan={2} scope="rowgroup">
                  {group.label}
                </th>
              </tr>
              {group.rows.map(drawn)}
            </tbody>
          ))
        )}
      </table>
    </Scroll>
  );
}

/** Keeps the element of a row while the row is the same object, so that redrawing costs only what has changed. */
function useDrawnRows<Row extends object>(
  { columns, rowKey, rowClass }: DataTableProps<Row>,
  shown: readonly Column<Row>[],
): (row: Row) => VNode {
  const rendered = useRef({ columns, rows: new WeakMap<Row, VNode>() });
  if (rendered.current.columns !== columns) rendered.current = { columns, rows: new WeakMap() };
  const { rows } = rendered.current;
  return (row) => {
    const cached = rows.get(row);
    if (cached !== undefined) return cached;
    const made = (
      <tr key={rowKey(row)} class={rowClass?.(row)}>
        {shown.map((column, index) => cellOf(column, row, index))}
      </tr>
    );
    rows.set(row, made);
    return made;
  };
}

function cellOf<Row>(column: Column<Row>, row: Row, key: number): VNode {
  const { kind, head, label = typeof head === 'string' ? head : null } = column;
  if (kind === 'row')
    return (
      <th key={key} scope="row" class={classOf(column)}>
        {column.cell(row)}
      </th>
    );
  return (
    <td key={key} class={classOf(column)} data-label={kind === 'actions' ? undefined : (label ?? undefined)}>
      {column.cell(row)}
    </td>
  );
}

const kindClasses = { row: '', number: 'number', actions: 'table-end' } as const;

function classOf<Row>({ kind = 'row', class: own = '' }: Column<Row>): string | undefined {
  const all = `${kindClasses[kind]} ${own}`.trim();
  return all === '' ? undefined : all;
}

interface ScrollProps extends Pick<DataTableProps<never>, 'label'> {
  readonly isOld: boolean;
  readonly children: ComponentChildren;
}

function Scroll({ label, isOld, children }: ScrollProps) {
  const frame = useRef<HTMLDivElement>(null);
  const [isCut, setCut] = useState(false);
  useEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() =>
      setCut(element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight + 1),
    );
    observer.observe(element);
    for (const child of element.children) observer.observe(child);
    return () => observer.disconnect();
  }, []);
  // A region that scrolls must be reachable by keyboard; one that does not scroll would be a useless stop.
  const reach = isCut ? ({ tabIndex: 0, role: 'region', 'aria-label': label } as const) : {};
  return (
    <div ref={frame} class="table-wrap" aria-busy={isOld} {...reach}>
      {children}
    </div>
  );
}
