// Turns tokens of the theme into paint for a canvas. Bars also differ by pattern and lines by dash, so that
// they can be told apart without colours, for example when the system replaces them.

import type { SeriesStyle } from './series.ts';

type Paint = CanvasRenderingContext2D['fillStyle'];

export interface Palette {
  /** Returns the present colour of a token. */
  readonly color: (token: string) => string;
  readonly fill: (token: string, style: SeriesStyle) => Paint;
}

/**
 * In forced-colours mode all text has one colour, so these parts, which are not text, get other system
 * colours.
 */
const systemColors: Readonly<Record<string, string>> = { surface: 'Canvas', line: 'GrayText' };

/** The palette of the element's present theme; after a change of the theme, create a new one. */
export function createPalette(element: HTMLElement): Palette {
  const probe = document.createElement('span');
  probe.hidden = true;
  element.append(probe);
  const isForced = window.matchMedia('(forced-colors: active)').matches;
  const colors = new Map<string, string>();
  const fills = new Map<string, Paint>();
  const color = (token: string): string => {
    const cached = colors.get(token);
    if (cached !== undefined) return cached;
    probe.style.color = (isForced ? systemColors[token] : undefined) ?? `var(--${token})`;
    if (!probe.isConnected) element.append(probe);
    const resolvedColor = getComputedStyle(probe).color;
    probe.remove();
    colors.set(token, resolvedColor);
    return resolvedColor;
  };
  return {
    color,
    fill: (token, style) => {
      const key = `${token} ${style}`;
      const cachedFill = fills.get(key) ?? pattern(color(token), color('surface'), style);
      fills.set(key, cachedFill);
      return cachedFill;
    },
  };
}

/** The side of a pattern's tile, in CSS pixels. */
const tileSize = 6;

/** The mark of each style on its tile, from the corner (0, 0) to (1, 1). */
const marks: Readonly<Partial<Record<SeriesStyle, (paint: CanvasRenderingContext2D) => void>>> = {
  stripes: (paint) =>
    lines(paint, [
      [-0.25, 0.25, 0.25, -0.25],
      [-0.25, 1.25, 1.25, -0.25],
      [0.75, 1.25, 1.25, 0.75],
    ]),
  'back-stripes': (paint) =>
    lines(paint, [
      [-0.25, 0.75, 0.25, 1.25],
      [-0.25, -0.25, 1.25, 1.25],
      [0.75, -0.25, 1.25, 0.25],
    ]),
  bars: (paint) => lines(paint, [[0.5, -1, 0.5, 2]]),
  dots: (paint) => {
    paint.beginPath();
    paint.arc(0.5, 0.5, 0.3, 0, 2 * Math.PI);
    paint.fill();
  },
};

const plainAlpha = 0.62;
const groundAlpha = 0.28;

function pattern(color: string, ground: string, style: SeriesStyle): Paint {
  const side = Math.round(tileSize * window.devicePixelRatio);
  const canvas = document.createElement('canvas');
  canvas.width = side;
  canvas.height = side;
  const paint = canvas.getContext('2d');
  if (paint === null) return color;
  const mark = marks[style];
  // Bars overlap, and the one behind must not show through.
  paint.fillStyle = ground;
  paint.fillRect(0, 0, side, side);
  paint.fillStyle = color;
  paint.strokeStyle = color;
  paint.globalAlpha = mark === undefined ? plainAlpha : groundAlpha;
  paint.fillRect(0, 0, side, side);
  paint.globalAlpha = 1;
  paint.scale(side, side);
  paint.lineWidth = 0.36;
  mark?.(paint);
  return paint.createPattern(canvas, 'repeat') ?? color;
}

function lines(
  paint: CanvasRenderingContext2D,
  all: readonly (readonly [number, number, number, number])[],
): void {
  paint.beginPath();
  for (const [fromX, fromY, toX, toY] of all) {
    paint.moveTo(fromX, fromY);
    paint.lineTo(toX, toY);
  }
  paint.stroke();
}
