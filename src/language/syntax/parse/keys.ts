// Checks the text of action keys and of patterns over them. Reports a key without two segments, blanks
// inside, and a `*` that is neither first nor last.

import type { Span } from '../../diagnostic/span.ts';
import { type Reader, syntaxError, withFix } from './context.ts';

export function reportKeyShape(text: string, span: Span, ctx: Reader): void {
  if (/^[^\s*.]+(?:\.[^\s*.]+)+$/.test(text)) return;
  const message = `\`${text}\` is not an action key`;
  const help = 'a key has an area and a verb joined by a dot, such as `payment.create`';
  ctx.report(syntaxError('key-shape', span, message, help));
}

// Reports blanks inside a key: `payment . create` would look like two names.
export function reportBlanks(text: string, span: Span, ctx: Reader): void {
  if (!/\s/.test(ctx.source.text.slice(span.start, span.end))) return;
  const message = `\`${text}\` is written with blanks inside`;
  const diagnostic = syntaxError('key-shape', span, message, `write \`${text}\``);
  ctx.report(withFix(diagnostic, { title: 'remove the blanks', text }));
}

export function reportWildcard(text: string, span: Span, ctx: Reader): void {
  if (isPattern(text)) return;
  const message =
    starsOf(text).length > 1
      ? `\`${text}\` has more than one \`*\``
      : `\`*\` in \`${text}\` is neither first nor last`;
  const help = 'write `area.*`, `*.verb` or `*`, where `*` matches one or more whole segments';
  ctx.report(syntaxError('misplaced-wildcard', span, message, help));
}

/** Whether a text has at most one `*`, which is the first or the last segment. */
export function isPattern(text: string): boolean {
  const segments = text.split('.');
  const stars = starsOf(text);
  return stars.length === 0 || (stars.length === 1 && (segments[0] === '*' || segments.at(-1) === '*'));
}

function starsOf(text: string): readonly string[] {
  return text.split('.').filter((segment) => segment.includes('*'));
}
