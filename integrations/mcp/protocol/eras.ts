// The two eras of the protocol. Until 2025-11-25 a client opens a session with `initialize` and names its
// abilities there. Since 2026-07-28, the stateless era, there are no sessions, and every request names the
// client's abilities.

import { isObject, type JsonObject, member } from './messages.ts';

export type Era = 'sessions' | 'stateless';

export const metaNames = {
  version: 'io.modelcontextprotocol/protocolVersion',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  tasks: 'io.modelcontextprotocol/tasks',
} as const;

/** Protocol versions with sessions; later versions have none. */
export const versionsWithSessions = ['2024-11-05', '2025-03-26', '2025-06-18', '2025-11-25'] as const;

export function versionOf(params: JsonObject | undefined): string | null {
  const version = member(params, '_meta', metaNames.version);
  return typeof version === 'string' ? version : null;
}

export function eraOf(params: JsonObject | undefined): Era {
  return versionOf(params) === null ? 'sessions' : 'stateless';
}

export interface Abilities {
  readonly era: Era;
  /** Whether the client opens addresses for people. */
  readonly opensUrls: boolean;
  /** Whether the client comes back for the result of a task. */
  readonly takesTasks: boolean;
}

/** The abilities of the client. `initialized` holds the capabilities that it named when the session began. */
export function abilitiesOf(params: JsonObject | undefined, initialized: JsonObject): Abilities {
  const era = eraOf(params);
  const declared = era === 'sessions' ? initialized : member(params, '_meta', metaNames.capabilities);
  return {
    era,
    opensUrls: isObject(member(declared, 'elicitation', 'url')),
    takesTasks: era === 'stateless' && isObject(member(declared, 'extensions', metaNames.tasks)),
  };
}

/** Marks a result as complete, which the stateless era requires of every result. */
export function completed(era: Era, result: JsonObject): JsonObject {
  return era === 'stateless' ? { resultType: 'complete', ...result } : result;
}
