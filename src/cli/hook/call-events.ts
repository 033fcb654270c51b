// Reads the call of a tool from an event of a coding agent, before or after the tool has run. INVARIANT: an event that
// differs from the known ones in any field that counts is read as null; a tool of an MCP server whose name is not said is no
// tool of the host.

import { jsonLimits } from '../../language/json/read-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import {
  claudeCall,
  type HookedCall,
  type Host,
  parseJsonObject,
  serverToolKey,
  toolKey,
} from '../../service/http/resources/hooks/claude-code.ts';

/** The call of an event of Claude Code, or of Codex, before or after the tool. */
export function readToolUse(event: JsonObject, host: Host): HookedCall | null {
  const tool = textIn(event, 'tool_name');
  const session = textIn(event, 'session_id');
  const input = event.tool_input;
  const id = event.tool_use_id;
  const isKnown = id === undefined || typeof id === 'string';
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
export function geminiCall(event: JsonObject): HookedCall | null {
  const tool = textIn(event, 'tool_name');
  const session = textIn(event, 'session_id');
  const input = event.tool_input;
  if (tool === null || session === null || !isJsonObject(input)) return null;
  const { mcp_context: mcp } = event;
  // Names of tools of servers begin so; without the context, nothing says whose tool it is.
  if (mcp === undefined) return tool.startsWith('mcp_') ? null : called(`gemini.${tool}`, input, session);
  if (!isJsonObject(mcp)) return null;
  const [server, own] = [textIn(mcp, 'server_name'), textIn(mcp, 'tool_name')];
  return server === null || own === null ? null : called(serverToolKey(server, own), input, session);
}

/** Some versions write the server into the name of the tool. */
const cursorMcp = /^MCP:(?:(?<server>[^:]+):)?(?<tool>.+)$/s;

export function cursorServerTool(event: JsonObject, session: string): HookedCall | null {
  const [name, input] = [textIn(event, 'tool_name'), argumentsIn(event.tool_input)];
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
export function cursorTool(event: JsonObject, session: string): HookedCall | null {
  const [name, input] = [textIn(event, 'tool_name'), argumentsIn(event.tool_input)];
  if (name === null || input === null) return null;
  if (name.startsWith('MCP:'))
    return called('cursor.MCP', { tool: name.slice('MCP:'.length), input }, session);
  return called(toolKey(name, 'cursor'), input, session);
}

/** The arguments of a tool. Some versions send them as the text of an object. */
function argumentsIn(input: Json | undefined): JsonObject | null {
  if (typeof input === 'string') return parseJsonObject(input, jsonLimits);
  return isJsonObject(input) ? input : null;
}

/** A shell command of Cursor. */
export function shellCall(command: string, cwd: string | undefined, session: string): HookedCall {
  const payload = { command, ...(cwd === undefined ? {} : { cwd }) };
  return { actionKey: 'cursor.Shell', payload, session, idempotencyKey: null };
}

export function called(actionKey: string | null, payload: JsonObject, session: string): HookedCall | null {
  return actionKey === null ? null : { actionKey, payload, session, idempotencyKey: null };
}

export function textIn(object: JsonObject, name: string): string | null {
  const value = object[name];
  return typeof value === 'string' && value !== '' ? value : null;
}
