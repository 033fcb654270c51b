// Addresses of policy files: a file, one of its lines or rules, and the place to fix a file that failed to
// load.

export interface FileLocation {
  readonly path: string;
  /** Set for a file of the set that failed to become active. */
  readonly of?: 'failed';
  /** `policy/rule`. */
  readonly rule?: string;
  readonly policy?: string;
  readonly line?: number;
}

export function fileHref({ path, of, rule, policy, line }: FileLocation): string {
  const query = new URLSearchParams({
    path,
    ...(of === undefined ? {} : { of }),
    ...(rule === undefined ? {} : { rule }),
    ...(policy === undefined ? {} : { policy }),
  });
  return `/policies/file?${query}${line === undefined ? '' : `#L${line}`}`;
}

/** The address at which a file that failed to load is fixed: the playground starts from its text. */
export function fixHref(path: string, at: { readonly line: number; readonly column: number } | null): string {
  const position = at === null ? {} : { at: `${at.line}:${at.column}` };
  return `/playground?${new URLSearchParams({ file: path, take: 'failed', ...position })}`;
}
