// Addresses of policy files: a file, one of its lines, one of its rules, and where a file that failed to load is fixed.

export interface FilePlace {
  readonly path: string;
  /** Of what did not take over. */
  readonly of?: 'failed';
  /** `policy/rule`. */
  readonly rule?: string;
  readonly policy?: string;
  readonly line?: number;
}

export function fileHref({ path, of, rule, policy, line }: FilePlace): string {
  const query = new URLSearchParams({
    path,
    ...(of === undefined ? {} : { of }),
    ...(rule === undefined ? {} : { rule }),
    ...(policy === undefined ? {} : { policy }),
  });
  return `/policies/file?${query}${line === undefined ? '' : `#L${line}`}`;
}

/** Where a file that failed to load is fixed: the playground starts from its text. */
export function fixHref(path: string, at: { readonly line: number; readonly column: number } | null): string {
  const place = at === null ? {} : { at: `${at.line}:${at.column}` };
  return `/playground?${new URLSearchParams({ file: path, take: 'failed', ...place })}`;
}
