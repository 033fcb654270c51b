// Writes the hook into the settings of a coding agent, beside what stands there. INVARIANT: settings that are not understood
// are left as they are; each hook that is written stops the tool where it fails itself.

import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';

export const hostNames = ['claude-code', 'codex', 'gemini', 'cursor'] as const;
export type HostName = (typeof hostNames)[number];

export interface HookedHost {
  /** Where the settings of a project are. */
  readonly path: string;
  /** The settings with the hook; null where they have another shape than they should. */
  readonly add: (settings: JsonObject, service: Service) => JsonObject | null;
}

export interface Service {
  readonly url: string;
}

/** Longer than people are waited for. */
const timeoutSeconds = 60;

export const hookedHosts: Readonly<Record<HostName, HookedHost>> = {
  'claude-code': {
    path: '.claude/settings.json',
    add: (settings, { url }) =>
      withGroup(settings, 'PreToolUse', {
        matcher: '*',
        hooks: [
          {
            type: 'http',
            url: new URL('/v1/hooks/claude-code', url).href,
            timeout: timeoutSeconds,
            onFailure: 'block',
            headers: { 'X-Agent-API-Key': '$WRIT_API_KEY', 'X-Writ-Agent': '$WRIT_AGENT' },
            allowedEnvVars: ['WRIT_API_KEY', 'WRIT_AGENT'],
          },
        ],
      }),
  },
  codex: {
    path: '.codex/hooks.json',
    add: (settings, service) =>
      withGroup(settings, 'PreToolUse', {
        hooks: [{ type: 'command', command: commandOf('codex', service), timeout: timeoutSeconds }],
      }),
  },
  gemini: {
    path: '.gemini/settings.json',
    add: (settings, service) =>
      withGroup(settings, 'BeforeTool', {
        matcher: '.*',
        hooks: [
          {
            type: 'command',
            name: 'writ',
            command: commandOf('gemini', service),
            timeout: timeoutSeconds * 1_000,
          },
        ],
      }),
  },
  cursor: {
    path: '.cursor/hooks.json',
    add: (settings, service) => {
      const hook = { command: commandOf('cursor', service), failClosed: true };
      const events = ['beforeShellExecution', 'beforeMCPExecution', 'beforeReadFile'];
      return events.reduce<JsonObject | null>(
        (all, event) => (all === null ? null : withGroup(all, event, hook)),
        { ...settings, version: 1 },
      );
    },
  },
};

/** Where the command itself is missing or dies, the tool does not run either. */
function commandOf(dialect: string, { url }: Service): string {
  return `writ hook --dialect ${dialect} --url '${url}' || exit 2`;
}

/** With one more group of an event, in place of an earlier one of ours. */
function withGroup(settings: JsonObject, event: string, group: JsonObject): JsonObject | null {
  const { hooks = {} } = settings;
  if (!isJsonObject(hooks)) return null;
  const { [event]: groups = [] } = hooks;
  if (!Array.isArray(groups)) return null;
  const others = groups.filter((one: Json) => !isOurs(one));
  return { ...settings, hooks: { ...hooks, [event]: [...others, group] } };
}

function isOurs(group: Json): boolean {
  return /\/v1\/hooks\/claude-code|writ hook --dialect/.test(JSON.stringify(group));
}
