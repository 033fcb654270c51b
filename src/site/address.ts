// The addresses of the documentation, which the service serves to everybody.

/** Where the documentation begins, without a slash at the end. */
export const documentationPath = '/docs';

/** The page about a diagnostic. */
export function diagnosticAddress(code: string): string {
  return `${documentationPath}/diagnostics/${encodeURIComponent(code)}`;
}

/** The page about an error code of the service. */
export function errorAddress(code: string): string {
  return `${documentationPath}/errors/${encodeURIComponent(code)}`;
}
