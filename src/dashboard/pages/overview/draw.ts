// Draws a plot on a canvas with uPlot, which is loaded only by this file. A plot has steps and series and
// does not depend on decisions; pointing and choosing are reported by calls. INVARIANT: every colour comes
// from the tokens of the theme.

import uPlot from 'uplot';
import { countLabels, enclosingPowers, powers, timeIncrements, timeLabels, wholeIncrements } from './axes.ts';
import { createPalette, type Palette } from './fills.ts';
import {
  type CutBars,
  cutBars,
  isolatedPositions,
  latencyText,
  type Series,
  type SeriesStyle,
  type Steps,
  stacked,
} from './series.ts';
import './draw.css';

export interface PlotData {
  readonly steps: Steps;
  readonly series: readonly Series[];
  /** `bars`: stacked counts. `lines`: times in microseconds on a logarithmic scale. */
  readonly form: 'bars' | 'lines';
}

export interface DrawnPlot {
  /** Draws new values, or other series. */
  readonly update: (drawing: PlotData) => void;
  /** Puts the cursor on a step; null removes it. */
  readonly point: (index: number | null) => void;
  /** Marks steps as chosen; null marks none. */
  readonly choose: (steps: readonly [first: number, last: number] | null) => void;
  readonly close: () => void;
}

export interface PlotEvents {
  /** `leftPx`: distance from the plot's edge to the middle of the step. */
  readonly onPoint: (at: { readonly index: number; readonly leftPx: number } | null) => void;
  readonly onChoose: (first: number, last: number) => void;
  readonly onZoomOut: () => void;
}

const dashes: Readonly<Partial<Record<SeriesStyle, number[]>>> = { dashed: [7, 4], dotted: [2, 3] };
const yAxisPx = 56;
const chosenPxMin = 4;

export function drawPlot(element: HTMLElement, first: PlotData, events: PlotEvents): DrawnPlot {
  let drawing = first;
  let plot = make();

  function make(): uPlot {
    const palette = createPalette(element);
    const options = optionsOf(drawing, { palette, size: sizeOf(element), events, now: () => drawing });
    return new uPlot(options, dataOf(drawing), element);
  }

  const remake = (): void => {
    plot.destroy();
    plot = make();
  };
  const sizes = new ResizeObserver(() => {
    if (element.clientWidth > 0) plot.setSize(sizeOf(element));
  });
  sizes.observe(element);
  const stopFollowing = followTheme(remake);

  const leftOf = (edge: number): number => plot.valToPos(edge, 'x');
  return {
    update: (next) => {
      const isSame = structureOf(next) === structureOf(drawing);
      drawing = next;
      if (isSame) plot.setData(dataOf(next));
      else remake();
    },
    point: (index) => {
      const middle = index === null ? undefined : middles(drawing.steps)[index];
      plot.setCursor(middle === undefined ? { left: -10, top: -10 } : { left: leftOf(middle), top: 0 });
    },
    choose: (steps) => {
      const left = steps === null ? 0 : leftOf(drawing.steps.edges[steps[0]] ?? 0);
      const right = steps === null ? 0 : leftOf(drawing.steps.edges[steps[1] + 1] ?? 0);
      const height = steps === null ? 0 : plot.over.clientHeight;
      plot.setSelect({ left, width: right - left, top: 0, height }, false);
    },
    close: () => {
      stopFollowing();
      sizes.disconnect();
      plot.destroy();
    },
  };
}

interface Size {
  readonly width: number;
  readonly height: number;
}

/** The element's size, which does not depend on the drawing in it. */
function sizeOf({ clientWidth, clientHeight }: HTMLElement): Size {
  return { width: Math.max(clientWidth, 80), height: Math.max(clientHeight, 120) };
}

function structureOf({ form, series }: PlotData): string {
  return [form, ...series.map(({ key }) => key)].join(' ');
}

function dataOf({ steps, series, form }: PlotData): uPlot.AlignedData {
  // A bar without height would still draw an edge over the axis.
  const bars = () => stacked(series).map((sums) => sums.map((sum) => (sum === 0 ? null : sum)));
  const values = form === 'bars' ? bars().toReversed() : series.map((one) => one.values);
  return [middles(steps), ...values.map((list) => [...list])];
}

function middles({ edges }: Steps): number[] {
  return edges.slice(0, -1).map((edge, index) => (edge + (edges[index + 1] ?? edge)) / 2);
}

interface OptionsContext {
  readonly palette: Palette;
  readonly size: Size;
  readonly events: PlotEvents;
  readonly now: () => PlotData;
}

function optionsOf(drawing: PlotData, { palette, size, events, now }: OptionsContext): uPlot.Options {
  const { steps, form } = drawing;
  const isTime = steps.kind === 'time';
  const axis = axisLook(palette);
  return {
    ...size,
    ms: 1,
    legend: { show: false },
    padding: [8, 20, 0, 0],
    series: [{}, ...(form === 'bars' ? barsOf(drawing, palette) : linesOf(drawing, palette))],
    scales: {
      x: { time: isTime, range: () => [now().steps.from, now().steps.to] },
      y:
        form === 'bars'
          ? { range: (_, __, max) => countRange(now(), max) }
          : { distr: 3, range: latencyRange },
    },
    axes: [
      {
        ...axis,
        space: isTime ? 68 : 44,
        size: 30,
        ...(isTime
          ? { incrs: timeIncrements, values: (_, ticks) => timeLabels(ticks) }
          : { incrs: [5, 10, 20, 25, 50], values: (_, ticks) => ticks.map(String) }),
      },
      form === 'bars'
        ? { ...axis, size: yAxisPx, incrs: wholeIncrements, values: (_, ticks) => countLabels(ticks) }
        : {
            ...axis,
            size: yAxisPx,
            filter: (_, ticks) => ticks,
            splits: (_, __, min, max) => thinned(powers(min, max)),
            values: (_, ticks) => ticks.map((tick) => latencyText(tick)),
          },
    ],
    cursor: {
      y: false,
      drag: { x: true, y: false, setScale: false, dist: chosenPxMin },
      points: { show: form === 'lines', size: 7, width: 2 },
      bind: {
        dblclick: () => () => {
          events.onZoomOut();
          return null;
        },
      },
    },
    hooks: {
      draw: [(plot) => markCuts(plot, now(), palette)],
      setCursor: [(plot) => events.onPoint(pointedAt(plot))],
      setSelect: [(plot) => tellChosen(plot, now().steps, events)],
    },
  };
}

/** Labels at 1, 2 and 5 while there are few, else only at powers of ten. */
function thinned(ticks: readonly number[]): number[] {
  return ticks.length <= 7 ? [...ticks] : ticks.filter((tick) => Math.abs(Math.log10(tick) % 1) < 1e-9);
}

function pointedAt(plot: uPlot): { readonly index: number; readonly leftPx: number } | null {
  const index = plot.cursor.idx;
  if (index === null || index === undefined || (plot.cursor.left ?? -1) < 0) return null;
  const middle = plot.data[0]?.[index];
  if (middle === undefined) return null;
  return { index, leftPx: plot.over.offsetLeft + plot.valToPos(middle, 'x') };
}

function tellChosen(plot: uPlot, { edges }: Steps, events: PlotEvents): void {
  const { left, width } = plot.select;
  plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  if (width < chosenPxMin || edges.length < 2) return;
  const lastStep = edges.length - 2;
  const stepAt = (px: number): number => {
    const value = plot.posToVal(px, 'x');
    const after = edges.findIndex((edge) => edge > value);
    return after === -1 ? lastStep : Math.max(0, after - 1);
  };
  events.onChoose(stepAt(left), stepAt(left + width));
}

/** Draws from the top of the stack down, so that each bar lies behind the one below it. */
function barsOf({ series }: PlotData, palette: Palette): uPlot.Series[] {
  const paths = uPlot.paths.bars?.({ size: [0.86, 72, 1] });
  return series.toReversed().map(({ name, color, style }) => ({
    label: name,
    width: 1,
    points: { show: false },
    stroke: palette.color('surface'),
    ...(paths === undefined ? {} : { paths }),
    fill: () => palette.fill(color, style),
  }));
}

function linesOf({ series }: PlotData, palette: Palette): uPlot.Series[] {
  return series.map(({ name, color, style }) => {
    const dash = dashes[style];
    return {
      label: name,
      width: 2,
      stroke: palette.color(color),
      // A lone value has no line to a neighbour, so it is drawn as a point.
      points: { show: true, size: 7, filter: (plot, at) => isolatedPositions([...(plot.data[at] ?? [])]) },
      ...(dash === undefined ? {} : { dash }),
    };
  });
}

function axisLook(palette: Palette): Partial<uPlot.Axis> {
  const line = { stroke: palette.color('line'), width: 1 };
  const font = `12px ${getComputedStyle(document.body).fontFamily}`;
  return { stroke: palette.color('text-soft'), grid: line, ticks: { ...line, size: 4 }, gap: 4, font };
}

function countRange(data: PlotData, max: number | null): uPlot.Range.MinMax {
  const top = cutOf(data)?.limit ?? max ?? 0;
  return [0, Math.max(4, top * 1.08)];
}

/** Scores have few bars, whose ratio is what the plot shows. */
function cutOf({ steps, series, form }: PlotData): CutBars | null {
  return form === 'bars' && steps.kind === 'time' ? cutBars(series) : null;
}

const cutMarkPx = { below: 10, height: 5, width: 3 } as const;

/** Draws a gap across each bar that is cut, in the colour of the ground. */
function markCuts({ ctx, bbox, valToPos }: uPlot, drawing: PlotData, palette: Palette): void {
  const cut = cutOf(drawing);
  if (cut === null) return;
  const { edges } = drawing.steps;
  const scale = devicePixelRatio;
  const top = bbox.top + cutMarkPx.below * scale;
  ctx.save();
  ctx.strokeStyle = palette.color('surface');
  ctx.lineWidth = cutMarkPx.width * scale;
  ctx.beginPath();
  for (const step of cut.steps) {
    ctx.moveTo(valToPos(edges[step] ?? 0, 'x', true), top + cutMarkPx.height * scale);
    ctx.lineTo(valToPos(edges[step + 1] ?? 0, 'x', true), top);
  }
  ctx.stroke();
  ctx.restore();
}

function latencyRange(_: uPlot, min: number | null, max: number | null): uPlot.Range.MinMax {
  return enclosingPowers(min ?? 1, max ?? 100);
}

/** Calls `onChange` when the colours have changed; returns a function that stops that. */
function followTheme(onChange: () => void): () => void {
  const mediaQueries = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map((text) =>
    window.matchMedia(text),
  );
  const chosen = new MutationObserver(onChange);
  chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  for (const media of mediaQueries) media.addEventListener('change', onChange);
  return () => {
    chosen.disconnect();
    for (const media of mediaQueries) media.removeEventListener('change', onChange);
  };
}
