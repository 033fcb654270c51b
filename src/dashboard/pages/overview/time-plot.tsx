// What the sections over time share: a plot whose steps are named by their times.

import { stretchText } from './axes.ts';
import { Plot, type PlotProps } from './plot.tsx';
import type { Overview, Steps } from './series.ts';

/** The props of each section over time. */
export interface OverTime {
  readonly overview: Overview;
  readonly steps: Steps;
  readonly onZoom: (first: number, last: number) => void;
  readonly onZoomOut: () => void;
  readonly hintId: string;
}

export function TimePlot(props: Omit<PlotProps, 'stepName'>) {
  const { edges } = props.steps;
  return <Plot {...props} stepName={(index) => stretchText(edges[index] ?? 0, edges[index + 1] ?? 0)} />;
}
