// Writes the hook into the settings of a coding agent, beside the settings that are there. INVARIANT:
// settings that are not understood stay unchanged; each installed hook stops the tool when the hook itself
// fails.

import { isJsonObject, type Json, type JsonObject } from '../../../language/model/json.ts';

export const hostNames = ['claude-code', 'codex', 'gemini', 'cursor'] as const;
export type HostName = (typeof hostNames)[number];

export interface HookedHost {
  /** The path of a project's settings. */
  readonly path: string;
  /** Returns the settings with the hook; null when they have an unexpected shape. */
  readonly add: (settings: JsonObject, service: Service) => JsonObject | null;
}

export interface Service {
  readonly url: string;
  /** How long people are waited for. */
  readonly waitSeconds: number;
  /** Whether a run of Claude Code is put off while people decide. */
  readonly isDeferring: boolean;
}

export const waitSecondsDefault = 50;

/** Seconds that the agent gives the hook; longer than the hook waits for people. */
const timeoutOf = ({ waitSeconds }: Service): number => waitSeconds + 10;

export const hookedHosts: Readonly<Record<HostName, HookedHost>> = {
  'claude-code': {
    path: '.claude/settings.json',
    add: (settings, service) =>
      withGroup(settings, 'PreToolUse', {
        matcher: '*',
        hooks: [
          {
            type: 'http',
            url: addressOf(service),
            timeout: timeoutOf(service),
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
        hooks: [{ type: 'command', command: commandOf('codex', service), timeout: timeoutOf(service) }],
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
            timeout: timeoutOf(service) * 1_000,
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

/** The address that Claude Code asks itself. */
function addressOf({ url, waitSeconds, isDeferring }: Service): string {
  const address = new URL('/v1/hooks/claude-code', url);
  if (waitSeconds !== waitSecondsDefault) address.searchParams.set('wait', String(waitSeconds));
  if (isDeferring) address.searchParams.set('escalate', 'defer');
  return address.href;
}

/** The hook's command line. It stops the tool even when the command itself is missing or dies. */
function commandOf(dialect: string, { url, waitSeconds }: Service): string {
  const wait = waitSeconds === waitSecondsDefault ? '' : ` --wait ${waitSeconds}`;
  return `writ hook --dialect ${dialect} --url '${url}'${wait} || exit 2`;
}

/**
 * The settings with one more group for an event, in place of an earlier group of Writ's. Null when they have
 * an unexpected shape.
 */
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
