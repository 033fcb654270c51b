// Latency against the number of policies as an SVG: both axes logarithmic, one line an engine, its name at its end.

import { duration } from './figure.ts';

export interface Line {
  readonly name: string;
  readonly isOwn: boolean;
  /** Policies and nanoseconds. */
  readonly points: readonly (readonly [policies: number, nanoseconds: number])[];
}

const size = { width: 860, height: 520, left: 70, right: 210, top: 40, bottom: 50 };
const colours = [
  '#b45309',
  '#0f766e',
  '#7c3aed',
  '#be123c',
  '#4d7c0f',
  '#0369a1',
  '#a16207',
  '#6d28d9',
  '#475569',
];
const labelHeight = 14;

export function plot(title: string, lines: readonly Line[]): string {
  const points = lines.flatMap((line) => line.points);
  const x = scale(
    points.map(([policies]) => policies),
    [size.left, size.width - size.right],
  );
  const y = scale(
    points.map(([, nanoseconds]) => nanoseconds),
    [size.height - size.bottom, size.top],
  );
  const labels = labelPlaces(lines, y.of);
  const drawn = lines.map((line, at) => {
    const colour = line.isOwn ? '#1d4ed8' : colours[at % colours.length]!;
    const path = line.points.map(([policies, ns]) => `${round(x.of(policies))},${round(y.of(ns))}`).join(' ');
    const [policies] = line.points.at(-1)!;
    const width = line.isOwn ? 3 : 1.5;
    const text = { x: x.of(policies) + 8, y: labels[at]! + 4, colour, weight: line.isOwn ? 700 : 400 };
    return `<polyline points="${path}" fill="none" stroke="${colour}" stroke-width="${width}"/>${label(line.name, text)}`;
  });
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" font-family="sans-serif" font-size="12">`,
    `<rect width="100%" height="100%" fill="white"/>`,
    label(title, { x: size.left, y: 24, colour: '#111827', weight: 700 }),
    ...x.ticks.map((tick) => vertical(x.of(tick), tick.toLocaleString('en'))),
    ...y.ticks.map((tick) => horizontal(y.of(tick), duration(tick))),
    label('policies', {
      x: (size.left + size.width - size.right) / 2,
      y: size.height - 12,
      colour: '#374151',
      weight: 400,
    }),
    ...drawn,
    '</svg>\n',
  ].join('\n');
}

interface Scale {
  readonly ticks: readonly number[];
  of(value: number): number;
}

/** Powers of ten from the smallest value to the largest over a stretch of the picture. */
function scale(values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const low = Math.floor(Math.log10(Math.min(...values)));
  const high = Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))));
  const ticks = Array.from({ length: high - low + 1 }, (_, at) => 10 ** (low + at));
  return { ticks, of: (value) => from + ((Math.log10(value) - low) / (high - low)) * (to - from) };
}

/** The heights of the names, moved apart where lines end close together. */
function labelPlaces(lines: readonly Line[], y: (nanoseconds: number) => number): readonly number[] {
  const places = lines.map((line) => y(line.points.at(-1)![1]));
  const order = [...places.keys()].sort((a, b) => places[a]! - places[b]!);
  for (const [rank, at] of order.entries()) {
    const above = rank === 0 ? Number.NEGATIVE_INFINITY : places[order[rank - 1]!]!;
    places[at] = Math.max(places[at]!, above + labelHeight);
  }
  return places;
}

function vertical(x: number, text: string): string {
  const bottom = size.height - size.bottom;
  const line = `<line x1="${round(x)}" y1="${size.top}" x2="${round(x)}" y2="${bottom}" stroke="#e5e7eb"/>`;
  return `${line}<text x="${round(x)}" y="${bottom + 18}" text-anchor="middle" fill="#374151">${text}</text>`;
}

function horizontal(y: number, text: string): string {
  const right = size.width - size.right;
  const line = `<line x1="${size.left}" y1="${round(y)}" x2="${right}" y2="${round(y)}" stroke="#e5e7eb"/>`;
  return `${line}<text x="${size.left - 8}" y="${round(y + 4)}" text-anchor="end" fill="#374151">${text}</text>`;
}

interface Label {
  readonly x: number;
  readonly y: number;
  readonly colour: string;
  readonly weight: number;
}

function label(text: string, { x, y, colour, weight }: Label): string {
  const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}" fill="${colour}" font-weight="${weight}">${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
