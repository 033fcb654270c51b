// The two constructors of the checker's diagnostics: error and warning.

import type { Code } from '../../diagnostic/codes.ts';
import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { Span } from '../../diagnostic/span.ts';

/** The optional parts of a diagnostic, beside code, place and message. */
export type DiagnosticDetails = Pick<Diagnostic, 'help' | 'related' | 'fix'>;

export function error(code: Code, span: Span, message: string, extra: DiagnosticDetails = {}): Diagnostic {
  return { code, severity: 'error', span, message, ...extra };
}

export function warning(code: Code, span: Span, message: string, extra: DiagnosticDetails = {}): Diagnostic {
  return { code, severity: 'warning', span, message, ...extra };
}

/** Returns the place of an earlier declaration as related information. */
export function earlier(span: Span, message: string): DiagnosticDetails {
  return { related: [{ span, message }] };
}
