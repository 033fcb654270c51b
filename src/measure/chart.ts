// Draws lines over two axes as an SVG picture that is readable on a light and on a dark background. Each line
// has its name at its end, and the line that matters most is bold. INVARIANT: the text is valid XML, whatever
// names are given.

export interface Chart {
  readonly title: string;
  readonly x: Axis;
  readonly y: Axis;
  /** Each line has at least one point; logarithmic axes take positive values only. */
  readonly lines: readonly ChartLine[];
}

export interface Axis {
  readonly label: string;
  readonly kind: 'linear' | 'logarithmic';
  /** Writes the value of a tick. */
  readonly format: (value: number) => string;
  /** Values of the ticks; absent for ticks at round numbers. */
  readonly ticks?: readonly number[];
}

export interface ChartLine {
  readonly name: string;
  /** Whether the line is bold, above the other lines. */
  readonly isOwn: boolean;
  readonly points: readonly (readonly [x: number, y: number])[];
}

const size = { width: 900, height: 480, left: 80, right: 240, top: 64, bottom: 56 };
const plotRight = size.width - size.right;
const plotBottom = size.height - size.bottom;
const labelHeight = 15;
const nameLengthMax = 34;

/** Colours for a light and a dark background; the first is for the own line. */
const colours = [
  ['#1d4ed8', '#93c5fd'],
  ['#b45309', '#fbbf24'],
  ['#0f766e', '#5eead4'],
  ['#7c3aed', '#c4b5fd'],
  ['#be123c', '#fda4af'],
  ['#4d7c0f', '#bef264'],
  ['#0369a1', '#7dd3fc'],
  ['#86198f', '#f0abfc'],
  ['#475569', '#cbd5e1'],
  ['#92400e', '#fdba74'],
] as const;

export function drawChart({ title, x, y, lines }: Chart): string {
  const xScale = createScale(x, valuesAt(lines, 0), [size.left, plotRight]);
  const yScale = createScale(y, valuesAt(lines, 1), [plotBottom, size.top]);
  const names = namePlaces(lines.map(({ points }) => yScale.of(points.at(-1)![1])));
  const colourOf = colourPlaces(lines);
  const order = [...lines.keys()].sort((a, b) => Number(lines[a]!.isOwn) - Number(lines[b]!.isOwn));
  const middle = (size.left + plotRight) / 2;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${size.width} ${size.height}" role="img" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="12">`,
    `<title>${escapeXml(title)}</title>`,
    `<style>${style()}</style>`,
    `<rect class="ground" width="${size.width}" height="${size.height}"/>`,
    text(title, { x: size.left, y: 28, anchor: 'start', kind: 'title' }),
    ...xScale.ticks.map((tick) => vertical(xScale.of(tick), x.format(tick))),
    ...yScale.ticks.map((tick) => horizontal(yScale.of(tick), y.format(tick))),
    text(x.label, { x: middle, y: size.height - 14, anchor: 'middle', kind: 'axis' }),
    text(y.label, { x: size.left, y: size.top - 12, anchor: 'start', kind: 'axis' }),
    ...order.map((at) => {
      const placement = { colour: colourOf[at]!, nameY: names[at]! };
      return drawLine(lines[at]!, { x: xScale, y: yScale }, placement);
    }),
    '</svg>\n',
  ].join('\n');
}

function valuesAt(lines: readonly ChartLine[], at: 0 | 1): readonly number[] {
  return lines.flatMap(({ points }) => points.map((point) => point[at]));
}

/** The place of each line's colour. The first own line gets the first colour. */
function colourPlaces(lines: readonly ChartLine[]): readonly number[] {
  const others = lines.some(({ isOwn }) => isOwn) ? 1 : 0;
  let next = others;
  return lines.map(({ isOwn }, at) => {
    if (isOwn && lines.findIndex((line) => line.isOwn) === at) return 0;
    const placement = others + ((next - others) % (colours.length - others));
    next += 1;
    return placement;
  });
}

interface Scale {
  readonly ticks: readonly number[];
  of(value: number): number;
}

function createScale(axis: Axis, values: readonly number[], [from, to]: readonly [number, number]): Scale {
  const isLogarithmic = axis.kind === 'logarithmic';
  const of = isLogarithmic ? Math.log : (value: number) => value;
  const [smallest, largest] = [min(values), max(values)];
  const tickValues = isLogarithmic
    ? logarithmicTicks(smallest, largest)
    : linearTicks(Math.min(0, smallest), largest);
  const low = of(tickValues[0]!);
  const high = of(tickValues.at(-1)!);
  const ticks = axis.ticks?.filter((tick) => of(tick) >= low && of(tick) <= high);
  return {
    ticks: ticks ?? tickValues,
    of: (value) => from + ((of(value) - low) / (high - low)) * (to - from),
  };
}

/** Powers of ten around the values; when these are few, also twice and five times each power. */
function logarithmicTicks(smallest: number, largest: number): readonly number[] {
  // The logarithm of a power of ten may be rounded to either side of the whole number.
  const first =
    Math.floor(Math.log10(smallest)) - (10 ** Math.floor(Math.log10(smallest)) > smallest ? 1 : 0);
  const upper = Math.ceil(Math.log10(largest));
  const last = Math.max(first + 1, upper + (10 ** upper < largest ? 1 : 0));
  const steps = last - first <= 3 ? [1, 2, 5] : [1];
  const all = Array.from({ length: last - first + 1 }, (_, at) => first + at).flatMap((power) =>
    steps.map((step) => step * 10 ** power),
  );
  const from = all.findLastIndex((tick) => tick <= smallest);
  const to = all.findIndex((tick) => tick >= largest);
  return all.slice(from, to === from ? to + 2 : to + 1);
}

const ticksWanted = 6;

function linearTicks(smallest: number, largest: number): readonly number[] {
  const range = largest - smallest || 1;
  const power = 10 ** Math.floor(Math.log10(range / ticksWanted));
  const step = power * ([1, 2, 5].find((factor) => range / (factor * power) <= ticksWanted) ?? 10);
  const first = Math.floor(smallest / step);
  const last = Math.max(first + 1, Math.ceil(largest / step));
  return Array.from({ length: last - first + 1 }, (_, at) => (first + at) * step);
}

/** The heights of the names: moved apart when lines end close together, and kept within the picture. */
function namePlaces(ends: readonly number[]): readonly number[] {
  const positions = [...ends];
  const order = [...positions.keys()].sort((a, b) => positions[a]! - positions[b]!);
  for (const [rank, at] of order.entries()) {
    const above = rank === 0 ? size.top : positions[order[rank - 1]!]! + labelHeight;
    positions[at] = Math.max(positions[at]!, above);
  }
  for (const [rank, at] of order.toReversed().entries()) {
    const below = rank === 0 ? plotBottom : positions[order[order.length - rank]!]! - labelHeight;
    positions[at] = Math.min(positions[at]!, below);
  }
  return positions;
}

interface Scales {
  readonly x: Scale;
  readonly y: Scale;
}

function drawLine(
  { name, isOwn, points }: ChartLine,
  { x, y }: Scales,
  placement: { colour: number; nameY: number },
): string {
  const { colour, nameY } = placement;
  const kind = isOwn ? `c${colour} own` : `c${colour}`;
  const path = points.map(([px, py]) => `${round(x.of(px))},${round(y.of(py))}`);
  const [endX, endY] = path.at(-1)!.split(',').map(Number) as [number, number];
  const nameX = plotRight + 14;
  const leader = `<path class="leader" d="M${round(endX + 4)},${endY} L${plotRight + 8},${round(nameY)}"/>`;
  return [
    path.length === 1 ? '' : `<polyline class="line ${kind}" points="${path.join(' ')}"/>`,
    points.length <= 12 ? path.map((point) => dot(point, colour)).join('') : dot(path.at(-1)!, colour),
    leader,
    `<text class="name n${colour}${isOwn ? ' own' : ''}" x="${nameX}" y="${round(nameY + 4)}">${escapeXml(shortened(name))}</text>`,
  ].join('');
}

function dot(point: string, colour: number): string {
  const [x, y] = point.split(',');
  return `<circle class="n${colour}" cx="${x}" cy="${y}" r="2.5"/>`;
}

function vertical(x: number, tick: string): string {
  const line = `<path class="grid" d="M${round(x)},${size.top} V${plotBottom}"/>`;
  return line + text(tick, { x, y: plotBottom + 18, anchor: 'middle', kind: 'axis' });
}

function horizontal(y: number, tick: string): string {
  const line = `<path class="grid" d="M${size.left},${round(y)} H${plotRight}"/>`;
  return line + text(tick, { x: size.left - 8, y: y + 4, anchor: 'end', kind: 'axis' });
}

interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor: 'start' | 'middle' | 'end';
  readonly kind: 'title' | 'axis';
}

function text(content: string, { x, y, anchor, kind }: TextPlace): string {
  return `<text class="${kind}" x="${round(x)}" y="${round(y)}" text-anchor="${anchor}">${escapeXml(content)}</text>`;
}

/** Styles with colours for a light background, and for a dark one if the reader prefers that. */
function style(): string {
  const ground = (paper: string, ink: string, faint: string, grid: string): string =>
    `.ground{fill:${paper}}.title{fill:${ink};font-weight:700;font-size:14px}.axis{fill:${faint}}.grid,.leader{stroke:${grid};fill:none}`;
  const rules = (which: 0 | 1): string =>
    colours.map((pair, at) => `.c${at}{stroke:${pair[which]}}.n${at}{fill:${pair[which]}}`).join('');
  const shapes =
    '.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.line.own{stroke-width:3.2}.name.own{font-weight:700}';
  const light = ground('#ffffff', '#111827', '#4b5563', '#e5e7eb') + rules(0);
  const dark = ground('#0d1117', '#f3f4f6', '#9ca3af', '#30363d') + rules(1);
  return `${light}${shapes}@media (prefers-color-scheme:dark){${dark}}`;
}

function shortened(name: string): string {
  const characters = [...name];
  return characters.length <= nameLengthMax ? name : `…${characters.slice(1 - nameLengthMax).join('')}`;
}

/** Escapes a text. A character that XML does not allow becomes the replacement character. */
function escapeXml(content: string): string {
  return content
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;');
}

function min(values: readonly number[]): number {
  return values.reduce((least, value) => Math.min(least, value), Number.POSITIVE_INFINITY);
}

function max(values: readonly number[]): number {
  return values.reduce((most, value) => Math.max(most, value), Number.NEGATIVE_INFINITY);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
