// Writes the hooks before and after a tool into the settings of a coding agent, beside the settings that are
// there. INVARIANT: settings that are not understood stay unchanged; each hook before a tool stops the tool when
// the hook itself fails; what a host runs without asking, and what it does not report, is said.

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
  /** Of what the host reports the results. */
  readonly reports: string;
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
  /** Actions whose tools answer with JSON text. */
  readonly jsonText: readonly string[];
}

export const waitSecondsDefault = 50;

/** Seconds that the agent gives the hook; longer than the hook waits for people. */
const timeoutOf = ({ waitSeconds }: Service): number => waitSeconds + 10;

/** Seconds that the agent gives the hook after a tool. */
const reportSeconds = 10;

const trialTool = { tool_name: 'WritTrial', tool_input: {} } as const;

export const hookedHosts: Readonly<Record<HostName, HookedHost>> = {
  'claude-code': {
    name: 'Claude Code',
    dialect: 'claude',
    path: '.claude/settings.json',
    add: (settings, service) =>
      withGroups(settings, {
        PreToolUse: { matcher: '*', hooks: [claudeHook(service)] },
        PostToolUse: { matcher: '*', hooks: [claudeReport(service)] },
        PostToolUseFailure: { matcher: '*', hooks: [claudeReport(service)] },
      }),
    asks: 'each tool',
    reports: 'each tool',
    limits: ['It reads files mentioned with `@` without asking.'],
    trial: { ...trialTool, hook_event_name: 'PreToolUse', session_id: 'writ-trial' },
  },
  codex: {
    name: 'Codex',
    dialect: 'codex',
    path: '.codex/hooks.json',
    add: (settings, service) =>
      withGroups(settings, {
        PreToolUse: {
          hooks: [{ type: 'command', command: commandOf('codex', service), timeout: timeoutOf(service) }],
        },
        PostToolUse: {
          hooks: [{ type: 'command', command: reportOf('codex', service), timeout: reportSeconds }],
        },
      }),
    asks: 'shell commands, `apply_patch` and tools of MCP servers',
    reports: 'the same',
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
      withGroups(settings, {
        BeforeTool: geminiGroup(commandOf('gemini', service), timeoutOf(service)),
        AfterTool: geminiGroup(reportOf('gemini', service), reportSeconds),
      }),
    asks: 'each tool',
    reports: 'each tool, but without the structured content of MCP tools',
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
      const report = { command: reportOf('cursor', service), timeout: reportSeconds };
      return withGroups(
        { ...settings, version: 1 },
        {
          beforeShellExecution: hook,
          beforeMCPExecution: hook,
          beforeReadFile: hook,
          // Shell commands and reads have events of their own, which say more.
          preToolUse: { ...hook, command: commandOf('cursor', service, ' --apart') },
          afterShellExecution: report,
          afterMCPExecution: report,
          postToolUse: { ...report, command: reportOf('cursor', service, ' --apart') },
        },
      );
    },
    asks: 'each tool of its agent: shell commands, reads, writes, MCP tools and all others',
    reports: 'shell commands, MCP tools that Cursor names the server of, and other tools, but not reads',
    limits: [
      'Before a tool of an MCP server it asks twice: as `cursor.MCP`, without the name of the server, and as `SERVER.TOOL`.',
      'Versions without the event `preToolUse` write files without asking; the command line and cloud agents read files without asking.',
      'It does not ask about Tab completions.',
    ],
    trial: { ...trialTool, hook_event_name: 'preToolUse', conversation_id: 'writ-trial' },
  },
};

function geminiGroup(command: string, timeoutSeconds: number): JsonObject {
  return {
    matcher: '.*',
    hooks: [{ type: 'command', name: 'writ', command, timeout: timeoutSeconds * 1_000 }],
  };
}

function claudeHook(service: Service): JsonObject {
  return service.url === null ? claudeCommand(service) : claudeAddress(service, service.url);
}

/** Claude Code goes on when this hook fails, which leaves the result unknown. */
function claudeReport(service: Service): JsonObject {
  return service.url === null
    ? { type: 'command', command: reportOf('claude', service), timeout: reportSeconds }
    : {
        type: 'http',
        url: new URL('/v1/hooks/claude-code', service.url).href,
        timeout: reportSeconds,
        ...keyOfAgent,
      };
}

const keyOfAgent = {
  headers: { 'X-Agent-API-Key': '$WRIT_API_KEY' },
  allowedEnvVars: ['WRIT_API_KEY'],
} as const;

function claudeAddress(service: Service, url: string): JsonObject {
  return {
    type: 'http',
    url: addressOf(service, url),
    timeout: timeoutOf(service),
    onFailure: 'block',
    ...keyOfAgent,
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
function commandOf(dialect: DialectName, service: Service, more = ''): string {
  const { waitSeconds } = service;
  const wait = waitSeconds === waitSecondsDefault ? '' : ` --wait ${waitSeconds}`;
  return `writ hook --dialect ${dialect} ${addressOption(service)}${wait}${more} || exit 2`;
}

/** The command line of the hook after a tool. */
function reportOf(dialect: DialectName, service: Service, more = ''): string {
  const texts = service.jsonText.map((action) => ` --json-text ${action}`).join('');
  return `writ hook --dialect ${dialect} ${addressOption(service)} --after${more}${texts}`;
}

function addressOption({ url, socket }: Service): string {
  return socket === null ? `--url '${url}'` : `--socket '${socket}'`;
}

/** The settings with these groups, by the event of each. Null when they have an unexpected shape. */
function withGroups(settings: JsonObject, groups: Readonly<Record<string, JsonObject>>): JsonObject | null {
  return Object.entries(groups).reduce<JsonObject | null>(
    (all, [event, group]) => (all === null ? null : withGroup(all, event, group)),
    settings,
  );
}

/** The settings with one more group for an event, in place of an earlier group of Writ's. */
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
