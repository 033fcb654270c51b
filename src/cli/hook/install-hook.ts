// Writes the hook into the settings of a coding agent, beside the settings that are there. INVARIANT:
// settings that are not understood stay unchanged; each installed hook stops the tool when the hook itself
// fails; what a host runs without asking is said.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import type { DialectName } from './dialects.ts';

export const hostNames = ['claude-code', 'codex', 'gemini', 'cursor'] as const;
export type HostName = (typeof hostNames)[number];

export interface HookedHost {
  readonly name: string;
  readonly dialect: DialectName;
  /** The path of a project's settings. */
  readonly path: string;
  /** Returns the settings with the hook; null when they have an unexpected shape. */
  readonly add: (settings: JsonObject, service: Service) => JsonObject | null;
  /** What the host asks about, to follow "asks ADDRESS before". */
  readonly asks: string;
  /** What the host does without asking, and what it needs besides the settings; a sentence each. */
  readonly limits: readonly string[];
  /** The event of a tool that does not exist, to try the hook with. */
  readonly trial: JsonObject;
}

export interface Service {
  /** Where the service is; the hook needs a key then. Null with a socket. */
  readonly url: string | null;
  /** The socket of a helper that has the key; null without one. */
  readonly socket: string | null;
  /** How long people are waited for. */
  readonly waitSeconds: number;
  /** Whether a run of Claude Code is put off while people decide. */
  readonly isDeferring: boolean;
}

export const waitSecondsDefault = 50;

/** Seconds that the agent gives the hook; longer than the hook waits for people. */
const timeoutOf = ({ waitSeconds }: Service): number => waitSeconds + 10;

const trialTool = { tool_name: 'WritTrial', tool_input: {} } as const;

export const hookedHosts: Readonly<Record<HostName, HookedHost>> = {
  'claude-code': {
    name: 'Claude Code',
    dialect: 'claude',
    path: '.claude/settings.json',
    add: (settings, service) =>
      withGroup(settings, 'PreToolUse', {
        matcher: '*',
        hooks: [service.url === null ? claudeCommand(service) : claudeAddress(service, service.url)],
      }),
    asks: 'each tool',
    limits: ['It reads files mentioned with `@` without asking.'],
    trial: { ...trialTool, hook_event_name: 'PreToolUse', session_id: 'writ-trial' },
  },
  codex: {
    name: 'Codex',
    dialect: 'codex',
    path: '.codex/hooks.json',
    add: (settings, service) =>
      withGroup(settings, 'PreToolUse', {
        hooks: [{ type: 'command', command: commandOf('codex', service), timeout: timeoutOf(service) }],
      }),
    asks: 'shell commands, `apply_patch` and tools of MCP servers',
    limits: [
      'It runs the hook only after a person trusts it with `/hooks`. Until then, and after each change, it silently skips the hook.',
      'It searches the web, reads files with its own tools, and runs some shell commands of `unified_exec` without asking.',
    ],
    trial: { ...trialTool, hook_event_name: 'PreToolUse', session_id: 'writ-trial' },
  },
  gemini: {
    name: 'Gemini CLI',
    dialect: 'gemini',
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
    asks: 'each tool',
    limits: ['In an untrusted folder it runs no hooks, so it asks about nothing.'],
    trial: { ...trialTool, hook_event_name: 'BeforeTool', session_id: 'writ-trial' },
  },
  cursor: {
    name: 'Cursor',
    dialect: 'cursor',
    path: '.cursor/hooks.json',
    add: (settings, service) => {
      const timeout = timeoutOf(service);
      const hook = { command: commandOf('cursor', service), failClosed: true, timeout };
      const rest = { ...hook, command: commandOf('cursor', service, ' --apart') };
      return cursorEvents.reduce<JsonObject | null>(
        (all, event) => (all === null ? null : withGroup(all, event, event === 'preToolUse' ? rest : hook)),
        { ...settings, version: 1 },
      );
    },
    asks: 'each tool of its agent: shell commands, reads, writes, MCP tools and all others',
    limits: [
      'Before a tool of an MCP server it asks twice: as `cursor.MCP`, without the name of the server, and as `SERVER.TOOL`.',
      'Versions without the event `preToolUse` write files without asking; the command line and cloud agents read files without asking.',
      'It does not ask about Tab completions.',
    ],
    trial: { ...trialTool, hook_event_name: 'preToolUse', conversation_id: 'writ-trial' },
  },
};

/** Shell commands and reads have events of their own, which say more; `preToolUse` is for all other tools. */
const cursorEvents = ['beforeShellExecution', 'beforeMCPExecution', 'beforeReadFile', 'preToolUse'] as const;

function claudeAddress(service: Service, url: string): JsonObject {
  return {
    type: 'http',
    url: addressOf(service, url),
    timeout: timeoutOf(service),
    onFailure: 'block',
    headers: { 'X-Agent-API-Key': '$WRIT_API_KEY' },
    allowedEnvVars: ['WRIT_API_KEY'],
  };
}

function claudeCommand(service: Service): JsonObject {
  const more = service.isDeferring ? ' --escalate defer' : '';
  return { type: 'command', command: commandOf('claude', service, more), timeout: timeoutOf(service) };
}

/** The address that Claude Code asks itself. */
function addressOf({ waitSeconds, isDeferring }: Service, url: string): string {
  const address = new URL('/v1/hooks/claude-code', url);
  if (waitSeconds !== waitSecondsDefault) address.searchParams.set('wait', String(waitSeconds));
  if (isDeferring) address.searchParams.set('escalate', 'defer');
  return address.href;
}

/** The hook's command line. It stops the tool even when the command itself is missing or dies. */
function commandOf(dialect: DialectName, { url, socket, waitSeconds }: Service, more = ''): string {
  const wait = waitSeconds === waitSecondsDefault ? '' : ` --wait ${waitSeconds}`;
  const where = socket === null ? `--url '${url}'` : `--socket '${socket}'`;
  return `writ hook --dialect ${dialect} ${where}${wait}${more} || exit 2`;
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
