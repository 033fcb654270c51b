// What a look at one part of an installation finds. INVARIANT: whatever is wrong comes with what to do.

export type PartFinding =
  | { readonly state: 'ok' | 'unused'; readonly what: string }
  /** `warning`: the service works, and should not be left so. */
  | { readonly state: 'warning' | 'wrong'; readonly what: string; readonly fix: string };

export const ok = (what: string): PartFinding => ({ state: 'ok', what });
export const unused = (what: string): PartFinding => ({ state: 'unused', what });
export const warned = (what: string, fix: string): PartFinding => ({ state: 'warning', what, fix });
export const wrong = (what: string, fix: string): PartFinding => ({ state: 'wrong', what, fix });

/** Errors for operators say what is wrong, then `: `, then what to do. */
export function wrongBy(error: unknown): PartFinding {
  const message = error instanceof Error ? error.message : String(error);
  const at = message.lastIndexOf(': ');
  return at < 0
    ? wrong(message, 'see docs/TROUBLESHOOTING.md')
    : wrong(message.slice(0, at), message.slice(at + 2));
}

/** What the network or the system calls an error, such as `ECONNREFUSED`; `fetch` hides it in the cause. */
export function codeOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if ('code' in error && typeof error.code === 'string') return error.code;
  return error.cause instanceof Error ? codeOf(error.cause) : error.message;
}
