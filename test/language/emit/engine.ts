// Turns policy text into a linked engine, and makes requests with sensible facts, for the tests of this
// folder.

import { hasErrors } from '../../../src/language/diagnostic/diagnostic.ts';
import { createFunctionCache, type FunctionCache } from '../../../src/language/emit/cache.ts';
import type { LinkedFunctions } from '../../../src/language/emit/link.ts';
import type { Facts } from '../../../src/language/model/request.ts';
import { fromNumber } from '../../../src/language/value/decimal.ts';
import { type CompileResult, compile, createCompileCache } from '../../../src/pipeline.ts';

/** Compiles one file; throws with the diagnostics when there are errors. */
export function compileText(text: string, cache: FunctionCache = createFunctionCache()): CompileResult {
  const readListFile = () => ({ code: 'list-file-missing', message: 'there are no list files' }) as const;
  const compiled = compile(
    { files: [{ path: 'test.policy', text }], readListFile },
    { ...createCompileCache(), functions: cache },
  );
  const errors = compiled.diagnostics.filter((diagnostic) => hasErrors([diagnostic]));
  if (errors.length > 0) throw new Error(errors.map(({ code, message }) => `${code}: ${message}`).join('\n'));
  return compiled;
}

export function engineOf(text: string, cache?: FunctionCache): LinkedFunctions {
  return compileText(text, cache).engine!;
}

/** A request of action `a.b` by an agent whose facts are all known. */
export function factsOf(payload: Facts['payload'], changes: Partial<Facts> = {}): Facts {
  return {
    action: 'a.b',
    payload,
    agent: {
      id: 'agt-1',
      name: 'buyer',
      risk_tier: 'low',
      control_owner: 'ops@example.com',
      tags: ['trusted'],
    },
    request: { signed: true, ip: '10.0.0.7', session: 's-1' },
    nowMs: Date.UTC(2026, 2, 2, 15),
    meters: {},
    satisfied: { escalate: [], reauth: [] },
    ...changes,
  };
}

/** A meter's reading between two whole numbers. */
export function reading(low: number, high: number) {
  return { low: fromNumber(low), high: fromNumber(high) };
}
