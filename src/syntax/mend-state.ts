// What the parts of the mender share: the tokens, what became of them so far, and how a slip is reported.

import type { Token } from '../../grammar/tokens.ts';
import type { Code } from '../diagnostic/codes.ts';
import type { Span } from '../diagnostic/span.ts';
import { syntaxError } from './build-context.ts';
import type { Reader } from './concrete.ts';

export interface MendState {
  readonly tokens: readonly Token[];
  readonly reader: Reader;
  readonly mended: Token[];
  /** Whether a declaration has begun that gives its name a value. */
  awaitsAssign: boolean;
  /** How many braces are open. */
  braces: number;
  /** The word that began the declaration. */
  declaration: Token['tokenType'] | null;
}

export interface Problem {
  readonly code: Code;
  readonly message: string;
  /** What to write instead, or null where that is not known. */
  readonly write: string | null;
  readonly help?: string;
}

export function reportProblem(span: Span, { code, message, write, help }: Problem, reader: Reader): void {
  const what = write?.trim();
  const diagnostic = syntaxError(
    code,
    span,
    message,
    help ?? (what === undefined ? undefined : `write \`${what}\``),
  );
  const fix = { title: `write \`${what}\``, edits: [{ span, text: write ?? '' }] };
  reader.report(write === null ? diagnostic : { ...diagnostic, fix });
}
