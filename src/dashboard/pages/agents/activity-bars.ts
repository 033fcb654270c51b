// Turns an agent's requests by day into stacked bars on one scale that fits all of them.

export const outcomes = ['allow', 'escalate', 'reauth', 'deny', 'refused'] as const;
export type Outcome = (typeof outcomes)[number];

export type Day = Readonly<Record<Outcome, number>> & { readonly at: string };

export interface Bar {
  readonly at: string;
  readonly total: number;
  /** From the bottom up; `from` and `size` are shares of the scale, 0 to 1. */
  readonly parts: readonly { readonly outcome: Outcome; readonly from: number; readonly size: number }[];
}

export interface Bars {
  /** Number of requests at the top of the scale. */
  readonly top: number;
  readonly total: number;
  readonly bars: readonly Bar[];
}

export function activityBars(days: readonly Day[]): Bars {
  const totals = days.map((day) => outcomes.reduce((sum, outcome) => sum + day[outcome], 0));
  const top = roundUp(Math.max(0, ...totals));
  const bars = days.map((day, index) => {
    let from = 0;
    const parts = outcomes
      .filter((outcome) => day[outcome] > 0)
      .map((outcome) => {
        const part = { outcome, from, size: day[outcome] / top };
        from += part.size;
        return part;
      });
    return { at: day.at, total: totals[index] ?? 0, parts };
  });
  return { top, total: totals.reduce((sum, one) => sum + one, 0), bars };
}

/** The next number of the form 1, 2 or 5 times a power of ten, at least 5. */
function roundUp(count: number): number {
  if (count <= 5) return 5;
  const power = 10 ** Math.floor(Math.log10(count));
  return [1, 2, 5, 10].map((step) => step * power).find((step) => step >= count) ?? count;
}
