// What the repairs share: what they know of the text, what they answer, and how a slip is reported.

import type { TokenType } from 'chevrotain';
import type { Code } from '../../diagnostic/codes.ts';
import type { Span } from '../../diagnostic/span.ts';
import { type Reader, syntaxError, withFix } from '../parse/context.ts';
import type { Token } from '../parse/tokens.ts';

export interface RepairState {
  readonly tokens: readonly Token[];
  readonly reader: Reader;
  /** Whether a declaration has begun that gives its name a value. */
  awaitsAssign: boolean;
  braces: number;
  /** The word that began the declaration. */
  declaration: TokenType | null;
  /** Tokens further on, by index, that are to be read as others. */
  readonly rereads: Map<number, Token>;
}

/** Repairs what stands at one place; null where nothing is to be repaired. */
export type RepairAt = (index: number, state: RepairState) => Repair | null;

/** Tokens in the place of as many as are taken from the text. */
export interface Repair {
  /** Tokens that were read already and are taken, too. */
  readonly before?: number;
  readonly taken: number;
  readonly tokens: readonly Token[];
}

export interface SyntaxProblem {
  readonly code: Code;
  readonly message: string;
  /** What to write instead, or null where that is not known. */
  readonly write: string | null;
  readonly help?: string | undefined;
}

export function reportProblem(
  span: Span,
  { code, message, write, help }: SyntaxProblem,
  reader: Reader,
): void {
  const better = `write \`${write?.trim()}\``;
  const diagnostic = syntaxError(code, span, message, help ?? (write === null ? undefined : better));
  reader.report(write === null ? diagnostic : withFix(diagnostic, { title: better, text: write }));
}
