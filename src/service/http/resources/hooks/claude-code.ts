// Turns what Claude Code tells a hook about a tool call into the action and payload that policies decide. A
// tool of an MCP server has the same key as through `writ mcp`.

import { type JsonLimits, readJson } from '../../../../language/json/read-json.ts';
import { isJsonObject, type Json, type JsonObject } from '../../../../language/model/json.ts';
import { failedCall, type ReturnedCall, returnedByTool } from '../../../../language/value/reported-result.ts';

/** The events that are understood; other members of an event are ignored. */
export interface ClaudeEvent {
  readonly hook_event_name: 'PreToolUse' | 'PostToolUse' | 'PostToolUseFailure';
  readonly session_id: string;
  readonly tool_name: string;
  readonly tool_input: JsonObject;
  /** Absent in old versions of Claude Code, which then make a new request with each try. */
  readonly tool_use_id?: string;
  /** What the tool returned; only in the event `PostToolUse`. */
  readonly tool_response?: Json;
}

export interface HookedCall {
  readonly actionKey: string;
  readonly payload: JsonObject;
  readonly session: string | null;
  /**
   * Identifies this one tool call, which is sent again when a run goes on; null when the event has no
   * `tool_use_id`.
   */
  readonly idempotencyKey: string | null;
}

const mcpTool = /^mcp__(?<server>.+?)__(?<tool>.+)$/s;

/** The first parts of the keys of tools that the hosts themselves have. */
const hosts = ['claude_code', 'codex', 'gemini', 'cursor'] as const;
export type Host = (typeof hosts)[number];

/**
 * The action key of a tool: `files.read_file` for `mcp__files__read_file`, `claude_code.Bash` for a tool of
 * the host; null when `serverToolKey` refuses the server's name.
 */
export function toolKey(name: string, host: Host): string | null {
  const { server, tool } = mcpTool.exec(name)?.groups ?? {};
  return server === undefined || tool === undefined ? `${host}.${name}` : serverToolKey(server, tool);
}

/**
 * The action key of a server's tool; null when the server's name would make its tools look like those of a
 * host or of another server.
 */
export function serverToolKey(server: string, tool: string): string | null {
  const isTaken = server.includes('.') || hosts.some((host) => host === server);
  return isTaken ? null : `${server}.${tool}`;
}

/** The tool call as action and payload; null when the tool has no key. */
export function claudeCall(event: ClaudeEvent, host: Host = 'claude_code'): HookedCall | null {
  const { session_id: session, tool_name, tool_input: payload, tool_use_id: id } = event;
  const actionKey = toolKey(tool_name, host);
  if (actionKey === null) return null;
  return {
    actionKey,
    payload,
    session,
    idempotencyKey: id === undefined ? null : `${session}/${id}`,
  };
}

/**
 * What the tool returned; null when the event does not say. Claude Code passes the structured content of an MCP
 * tool as the text of an object, and all other content as a list, so a text that the tool returned is never read
 * as fields.
 */
export function returnedToClaude(event: ClaudeEvent): ReturnedCall | null {
  const { hook_event_name: name, tool_name: tool, tool_response: response } = event;
  if (name === 'PostToolUseFailure') return failedCall;
  if (response === undefined || response === null) return null;
  if (typeof response !== 'string' || !mcpTool.test(tool)) return returnedByTool(response);
  const bytes = Buffer.byteLength(response);
  return { value: parseJsonObject(response, hookJsonLimits) ?? response, isError: false, bytes };
}

/** The object whose JSON text this is; null when it is no such text. */
export function parseJsonObject(text: string, limits: JsonLimits): JsonObject | null {
  const json = readJson(Buffer.from(text), limits);
  return json.ok && isJsonObject(json.value) ? json.value : null;
}

/** The limits of an event, which may have what a tool returned. */
export const hookJsonLimits: JsonLimits = { bytesMax: 1024 * 1024, depthMax: 64 };
