// A claim and what keeps it from being decided, in words.

import type { SourceOf } from '../../../language/diagnostic/render.ts';
import type { Span } from '../../../language/diagnostic/span.ts';
import { cut } from '../../../language/value/text.ts';
import type { Why } from '../prove.ts';

/** A claim as it is written, on one line. */
export function claimText({ span }: { readonly span: Span }, sourceOf: SourceOf): string {
  return textAt(span, sourceOf);
}

/** On one line. */
export function textAt({ file, start, end }: Span, sourceOf: SourceOf): string {
  return (sourceOf(file) ?? '').slice(start, end).replace(/\s+/g, ' ').trim();
}

const conditionMax = 300;

/** Of a condition that goes on and on its beginning: it only tells which one is meant. */
export function shownCondition(text: string): string {
  return text.length > conditionMax ? `${cut(text, conditionMax)}…` : text;
}

export const whyUndecided: Readonly<Record<Why, string>> = {
  'guessed conditions': 'it turns on what is not followed through',
  'long lists': 'proved for short lists only; a longer one might decide otherwise',
  'many digits': 'numbers with so many digits that this has no exact answer might decide otherwise',
  'huge payloads': 'a payload so large that this is unknown might decide otherwise',
  'too much search': 'the search took too long',
};
