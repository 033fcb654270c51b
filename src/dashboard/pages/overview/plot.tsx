// A plot, with the table behind it. The plot can be pointed at, zoomed by dragging, and walked along with the
// keyboard. To a screen reader it is a slider over its steps, whose text is the values of the step. The
// drawing code is loaded separately. INVARIANT: without the drawing, the table still has all values.

import type { TargetedKeyboardEvent } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Column, DataTable } from '../../parts/layout/data-table.tsx';
import type { DrawnPlot, PlotData } from './draw.ts';
import { cutBars, movedTo, type Series, type Steps, stacked } from './series.ts';
import { Swatch } from './swatch.tsx';

export interface PlotProps extends PlotData {
  readonly label: string;
  readonly stepName: (index: number) => string;
  readonly valueText: (value: number | null) => string;
  /** Called with the first and the last chosen step. */
  readonly onZoom: (first: number, last: number) => void;
  readonly onZoomOut: () => void;
  readonly hintId: string;
}

interface PointerPosition {
  readonly index: number;
  readonly leftPx: number;
}

export function Plot(props: PlotProps) {
  const { label, steps, series, stepName, valueText, onZoom, onZoomOut, hintId } = props;
  const { container, drawn, pointed, hasFailed } = useDrawnPlot(props);
  const anchor = useRef<number | null>(null);
  const count = Math.max(0, steps.edges.length - 1);
  const index = pointed === null || pointed.index >= count ? null : pointed.index;
  const letGo = (): void => {
    anchor.current = null;
    drawn.current?.choose(null);
  };
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLDivElement>): void => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const { key, shiftKey } = event;
    const next = movedTo(key, index, count);
    if (next !== null) {
      if (!shiftKey) letGo();
      else {
        anchor.current ??= index ?? next;
        drawn.current?.choose([Math.min(anchor.current, next), Math.max(anchor.current, next)]);
      }
      drawn.current?.point(next);
    } else if (key === 'Enter' && index !== null) {
      const from = anchor.current ?? index;
      letGo();
      onZoom(Math.min(from, index), Math.max(from, index));
    } else if (key === 'Escape' && (anchor.current !== null || index !== null)) {
      letGo();
      drawn.current?.point(null);
    } else if (key === 'Backspace') onZoomOut();
    else return;
    event.preventDefault();
  };
  const values =
    index === null ? null : series.map(({ name, values }) => `${name} ${valueText(values[index] ?? null)}`);
  return (
    <div class="overview-plot">
      <div
        class="overview-canvas"
        role="slider"
        tabIndex={0}
        aria-label={label}
        aria-describedby={hintId}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, count - 1)}
        aria-valuenow={index ?? 0}
        aria-valuetext={index === null ? `${count} steps` : `${stepName(index)}: ${values?.join(', ')}`}
        onKeyDown={onKeyDown}
        onBlur={() => {
          letGo();
          drawn.current?.point(null);
        }}
        ref={container}
      />
      <CutNote {...props} />
      {hasFailed && (
        <p class="overview-no-plot" role="status">
          The plot could not be loaded: the table has its numbers.
        </p>
      )}
      {index !== null && pointed !== null && (
        <PlotTip {...props} index={index} leftPx={pointed.leftPx} isRight={index >= count / 2} />
      )}
      <PlotTable
        label={label}
        series={series}
        count={count}
        stepName={stepName}
        valueText={valueText}
        steps={steps}
      />
    </div>
  );
}

const cutNamedMax = 3;

/** Names the bars that are cut, with their values; a screen reader has these from the steps. */
function CutNote({ steps, series, form, stepName, valueText }: PlotProps) {
  const cut = useMemo(() => cutBars(series), [series]);
  if (cut === null || form !== 'bars' || steps.kind !== 'time') return null;
  const totals = stacked(series).at(-1) ?? [];
  const named = cut.steps
    .slice(0, cutNamedMax)
    .map((step) => `${stepName(step)} (${valueText(totals[step] ?? null)})`);
  const more = cut.steps.length - named.length;
  return (
    <p class="overview-cut" aria-hidden="true">
      Higher than shown: {named.join(', ')}
      {more > 0 && ` and ${more} more`}.
    </p>
  );
}

/** Draws the plot into `container`, and draws it again when its values change. */
function useDrawnPlot(props: PlotProps) {
  const { steps, series, form } = props;
  const container = useRef<HTMLDivElement>(null);
  const drawn = useRef<DrawnPlot | null>(null);
  const [pointed, setPointed] = useState<PointerPosition | null>(null);
  const [hasFailed, setFailed] = useState(false);
  const latest = useRef(props);
  latest.current = props;
  useEffect(() => {
    let isWanted = true;
    loadDraw().then(
      (drawPlot) => {
        if (!isWanted || container.current === null) return;
        const { steps, series, form } = latest.current;
        drawn.current = drawPlot(
          container.current,
          { steps, series, form },
          {
            onPoint: (at) => setPointed((before) => (isSame(before, at) ? before : at)),
            onChoose: (first, last) => latest.current.onZoom(first, last),
            onZoomOut: () => latest.current.onZoomOut(),
          },
        );
      },
      () => setFailed(true),
    );
    return () => {
      isWanted = false;
      drawn.current?.close();
      drawn.current = null;
    };
  }, []);
  useEffect(() => drawn.current?.update({ steps, series, form }), [steps, series, form]);
  return { container, drawn, pointed, hasFailed };
}

let turn: Promise<unknown> = Promise.resolve();

/** Plots of a page are drawn one at a time, so that together they do not delay typing. */
async function loadDraw() {
  const { drawPlot } = await import('./draw.ts');
  turn = turn.then(() => new Promise((resolve) => setTimeout(resolve)));
  await turn;
  return drawPlot;
}

function isSame(a: PointerPosition | null, b: PointerPosition | null): boolean {
  return a === b || (a !== null && b !== null && a.index === b.index && a.leftPx === b.leftPx);
}

interface PlotTipProps extends PlotProps {
  readonly index: number;
  readonly leftPx: number;
  /** Whether the step is in the right half, where the values are shown on its left. */
  readonly isRight: boolean;
}

/** Shows the text that a screen reader speaks. */
function PlotTip({ series, stepName, valueText, index, leftPx, isRight }: PlotTipProps) {
  return (
    <div
      class={isRight ? 'overview-tip overview-tip-right' : 'overview-tip'}
      style={{ left: `${Math.round(leftPx)}px` }}
      aria-hidden="true"
    >
      <strong>{stepName(index)}</strong>
      {series.map(({ key, name, color, style, values }) => (
        <div key={key}>
          <Swatch color={color} style={style} /> {name}
          <span class="overview-tip-value">{valueText(values[index] ?? null)}</span>
        </div>
      ))}
    </div>
  );
}

// The table behind a plot, with the values of each step; built on demand.

interface PlotTableProps {
  readonly label: string;
  readonly series: readonly Series[];
  readonly steps: Steps;
  readonly count: number;
  readonly stepName: (index: number) => string;
  readonly valueText: (value: number | null) => string;
}

function PlotTable({ label, series, steps, count, stepName, valueText }: PlotTableProps) {
  const [isOpen, setOpen] = useState(false);
  const columns: readonly Column<{ readonly index: number }>[] = [
    {
      head: steps.kind === 'time' ? 'Time' : 'Risk',
      kind: 'row',
      cell: ({ index }) => stepName(index),
    },
    ...series.map(
      ({ name, values }): Column<{ readonly index: number }> => ({
        head: name,
        kind: 'number',
        cell: ({ index }) => valueText(values[index] ?? null),
      }),
    ),
  ];
  return (
    <details class="overview-details" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        Table<span class="visually-hidden"> of {label}</span>
      </summary>
      {isOpen && (
        <DataTable
          label={`Table of ${label}`}
          columns={columns}
          rows={Array.from({ length: count }, (_, index) => ({ index }))}
          rowKey={({ index }) => index}
          narrow="scroll"
        />
      )}
    </details>
  );
}
