// The action keys of tools, as `writ hook` makes them, and the names of their policies.

import type { HostEffect, HostTool } from './host-settings.ts';

const keyShape = /^[A-Za-z_][A-Za-z0-9_]*\.[A-Za-z_][A-Za-z0-9_]*$/;

export function isToolKey(key: string): boolean {
  return keyShape.test(key);
}

/** The name of the policy of a tool: `claude_code_web_fetch` for `claude_code.WebFetch`. */
export function toolName(key: string): string {
  return key
    .replaceAll(/(?<=[a-z0-9])(?=[A-Z])/g, '_')
    .replaceAll(/[^A-Za-z0-9]+/g, '_')
    .replaceAll(/^_+/g, '')
    .toLowerCase();
}

/** The keys among these, without repetitions. */
export function namedServerTools(keys: readonly (string | null)[]): readonly string[] {
  return [...new Set(keys.filter((key): key is string => key !== null && isToolKey(key)))];
}

/** A tool whose calls are all decided alike. */
export function otherTool(key: string, otherwise: HostEffect): HostTool {
  return { name: toolName(key), keys: [key], title: `Use ${key}`, field: null, otherwise };
}
