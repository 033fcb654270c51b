// The result of examining one part of an installation. INVARIANT: each fault comes with what to do about it.

export type PartFinding =
  | { readonly state: 'ok' | 'unused'; readonly what: string }
  /** `warning`: the service works, but the operator should change this. */
  | { readonly state: 'warning' | 'wrong'; readonly what: string; readonly fix: string };

export const ok = (what: string): PartFinding => ({ state: 'ok', what });
export const unused = (what: string): PartFinding => ({ state: 'unused', what });
export const warned = (what: string, fix: string): PartFinding => ({ state: 'warning', what, fix });
export const wrong = (what: string, fix: string): PartFinding => ({ state: 'wrong', what, fix });

/** Splits the message of an error for operators at its last `: ` into what is wrong and what to do. */
export function findingFromError(error: unknown): PartFinding {
  const message = error instanceof Error ? error.message : String(error);
  const at = message.lastIndexOf(': ');
  return at < 0
    ? wrong(message, 'see docs/TROUBLESHOOTING.md')
    : wrong(message.slice(0, at), message.slice(at + 2));
}

/**
 * The code of an error of the network or the system, such as `ECONNREFUSED`; `fetch` hides it in the cause.
 * Falls back to the message.
 */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause instanceof Error ? codeOf(error.cause) : error.message;
}
