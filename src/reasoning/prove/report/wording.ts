// Words for a claim, and for what keeps the claim from being decided.

import type { SourceOf } from '../../../language/diagnostic/render.ts';
import type { Span } from '../../../language/diagnostic/span.ts';
import { cut } from '../../../language/value/text.ts';
import type { UnknownReason } from '../prove.ts';

/** The claim's text on one line. */
export function clauseText({ span }: { readonly span: Span }, sourceOf: SourceOf): string {
  return textAt(span, sourceOf);
}

/** The source text of the span, on one line. */
export function textAt({ file, start, end }: Span, sourceOf: SourceOf): string {
  return (sourceOf(file) ?? '').slice(start, end).replace(/\s+/g, ' ').trim();
}

const conditionMax = 300;

/** The condition's text, cut to its beginning if it is long, which is enough to recognise the condition. */
export function shortenCondition(text: string): string {
  return text.length > conditionMax ? `${cut(text, conditionMax)}…` : text;
}

export const undecidedReasons: Readonly<Record<UnknownReason, string>> = {
  'guessed conditions': 'it depends on conditions that the prover cannot analyse',
  'long lists': 'proved only for short lists; a longer list might change the decision',
  'many digits': 'numbers with very many digits might change the decision',
  'huge payloads': 'a very large payload might change the decision',
  'too much search': 'the search took too long',
};

/** What an author can do about each reason. */
export const undecidedHelps: Readonly<Record<UnknownReason, string>> = {
  'guessed conditions': 'write the claim without these conditions, or replace them with simpler ones',
  'long lists': 'declare the maximum number of list elements, such as `[string] ..20`',
  'many digits': 'declare the ranges of the numbers',
  'huge payloads':
    'declare the maximum length of texts and lists, such as `string ..200` and `[string ..200] ..20`',
  'too much search': 'split the claim into several, or name fewer actions',
};
