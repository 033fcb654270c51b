// The table of diagnostic codes. Each code has one line, and a page under docs/diagnostics that says what to
// avoid, what to prefer and why. A test keeps table and pages equal.

import { checkCodes } from './check-codes.ts';
import { sourceCodes } from './source-codes.ts';
import { syntaxCodes } from './syntax-codes.ts';

/** By code, the one-line summary that heads its page. */
export const codes = { ...sourceCodes, ...syntaxCodes, ...checkCodes } as const;

export type Code = keyof typeof codes;
