// Reads what four coding agents send to a command hook before a tool runs, and holds what each reads as an
// answer. A refusal is always exit code 2 with the reason on standard error, which stops the tool in all
// four. The answer `ask` is never given, because some agents run the tool then. INVARIANT: an event that
// differs from the known ones in any field that counts is read as null; a tool of an MCP server whose name is
// not said is no tool of the host.

import { readJson } from '../../language/json/read-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import {
  claudeCall,
  type HookedCall,
  type Host,
  serverToolKey,
  toolKey,
} from '../../service/http/resources/hooks/claude-code.ts';

export const dialectNames = ['claude', 'codex', 'gemini', 'cursor'] as const;
export type DialectName = (typeof dialectNames)[number];

export interface Dialect {
  readonly read: (event: JsonObject) => HookedCall | null;
  /**
   * Standard output when the tool may run: at most that nothing speaks against the call, if the dialect has
   * such a word.
   */
  readonly allowed: string;
  /** Whether another hook of the host decides about this event, where the settings have both. */
  readonly isDecidedApart: (event: JsonObject) => boolean;
  /** Makes the answer that ends a run until it is resumed; null when the dialect has no such answer. */
  readonly deferred: ((reason: string) => string) | null;
}

const nothing = '{}';
const never = (): boolean => false;

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  claude: {
    read: (event) => readToolUse(event, 'claude_code'),
    allowed: nothing,
    isDecidedApart: never,
    deferred: (permissionDecisionReason) =>
      JSON.stringify({
        hookSpecificOutput: {
          hookEventName: 'PreToolUse',
          permissionDecision: 'defer',
          permissionDecisionReason,
        },
      }),
  },
  codex: {
    read: (event) => readToolUse(event, 'codex'),
    allowed: nothing,
    isDecidedApart: never,
    deferred: null,
  },
  gemini: { read: readGemini, allowed: nothing, isDecidedApart: never, deferred: null },
  cursor: {
    read: readCursor,
    allowed: '{"permission":"allow"}',
    isDecidedApart: ({ hook_event_name: name, tool_name: tool }) =>
      name === 'preToolUse' && (tool === 'Shell' || tool === 'Read'),
    deferred: null,
  },
};

function readToolUse(event: JsonObject, host: Host): HookedCall | null {
  const tool = textIn(event, 'tool_name');
  const session = textIn(event, 'session_id');
  const input = event.tool_input;
  const id = event.tool_use_id;
  const isKnown = event.hook_event_name === 'PreToolUse' && (id === undefined || typeof id === 'string');
  if (!isKnown || tool === null || session === null || !isJsonObject(input)) return null;
  return claudeCall(
    {
      hook_event_name: 'PreToolUse',
      session_id: session,
      tool_name: tool,
      tool_input: input,
      ...(id === undefined ? {} : { tool_use_id: id }),
    },
    host,
  );
}

/**
 * The event of a tool of an MCP server also names the server. The tool's name is `mcp_files_read_file` or the
 * server's own name for it.
 */
function readGemini(event: JsonObject): HookedCall | null {
  const tool = textIn(event, 'tool_name');
  const session = textIn(event, 'session_id');
  const input = event.tool_input;
  if (event.hook_event_name !== 'BeforeTool' || tool === null || session === null || !isJsonObject(input))
    return null;
  const { mcp_context: mcp } = event;
  // Names of tools of servers begin so; without the context, nothing says whose tool it is.
  if (mcp === undefined) return tool.startsWith('mcp_') ? null : called(`gemini.${tool}`, input, session);
  if (!isJsonObject(mcp)) return null;
  const [server, own] = [textIn(mcp, 'server_name'), textIn(mcp, 'tool_name')];
  return server === null || own === null ? null : called(serverToolKey(server, own), input, session);
}

function readCursor(event: JsonObject): HookedCall | null {
  const session = textIn(event, 'conversation_id');
  if (session === null) return null;
  switch (event.hook_event_name) {
    case 'beforeShellExecution': {
      const [command, cwd] = [textIn(event, 'command'), event.cwd];
      if (command === null || (cwd !== undefined && typeof cwd !== 'string')) return null;
      return called('cursor.Shell', { command, ...(cwd === undefined ? {} : { cwd }) }, session);
    }
    case 'beforeReadFile': {
      const file_path = textIn(event, 'file_path');
      // The content of the file is nobody's business, so it is left out.
      return file_path === null ? null : called('cursor.Read', { file_path }, session);
    }
    case 'beforeMCPExecution':
      return cursorServerTool(event, session);
    case 'preToolUse':
      return cursorTool(event, session);
    default:
      return null;
  }
}

/** Some versions write the server into the name of the tool. */
const cursorMcp = /^MCP:(?:(?<server>[^:]+):)?(?<tool>.+)$/s;

function cursorServerTool(event: JsonObject, session: string): HookedCall | null {
  const [name, input] = [textIn(event, 'tool_name'), objectIn(event.tool_input)];
  if (name === null || input === null) return null;
  const { server: written, tool = name } = cursorMcp.exec(name)?.groups ?? {};
  const { mcp_server_name: said = written } = event;
  if (typeof said !== 'string' || said === '' || (written !== undefined && written !== said)) return null;
  return called(serverToolKey(said, tool), input, session);
}

/**
 * The event before any tool. It does not say whose tool an MCP tool is, so it is an action of its own; the
 * tool of its server is decided by `beforeMCPExecution`.
 */
function cursorTool(event: JsonObject, session: string): HookedCall | null {
  const [name, input] = [textIn(event, 'tool_name'), objectIn(event.tool_input)];
  if (name === null || input === null) return null;
  if (name.startsWith('MCP:'))
    return called('cursor.MCP', { tool: name.slice('MCP:'.length), input }, session);
  return called(toolKey(name, 'cursor'), input, session);
}

/** The arguments of a tool. Some versions send them as the text of an object. */
function objectIn(input: Json | undefined): JsonObject | null {
  if (typeof input !== 'string') return isJsonObject(input) ? input : null;
  const json = readJson(Buffer.from(input));
  return json.ok && isJsonObject(json.value) ? json.value : null;
}

function called(actionKey: string | null, payload: JsonObject, session: string): HookedCall | null {
  return actionKey === null ? null : { actionKey, payload, session, idempotencyKey: null };
}

function textIn(object: JsonObject, name: string): string | null {
  const value = object[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
