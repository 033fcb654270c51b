// What Claude Code tells a hook about a tool call, into the action and payload that policies decide. The same tool of an MCP
// server has the same key here as through `writ mcp`.

import type { JsonObject } from '../../../language/model/json.ts';

/** The events that are understood; what else an event says is ignored. */
export interface ClaudeEvent {
  readonly hook_event_name: 'PreToolUse' | 'PostToolUse';
  readonly session_id: string;
  readonly tool_name: string;
  readonly tool_input: JsonObject;
  /** Absent in old versions, which then have a new request for each try. */
  readonly tool_use_id?: string;
}

export interface HookedCall {
  readonly actionKey: string;
  readonly payload: JsonObject;
  readonly session: string | null;
  /** Stands for this very tool call, which is asked about again when a run goes on. */
  readonly idempotencyKey: string | null;
}

const mcpTool = /^mcp__(?<server>.+?)__(?<tool>.+)$/s;

/** The areas of tools that hosts bring themselves. */
const hosts = ['claude_code', 'codex', 'gemini', 'cursor'] as const;
export type Host = (typeof hosts)[number];

/** `mcp__files__read_file` is `files.read_file`; a tool of the host is `claude_code.Bash`. */
export function toolKey(name: string, host: Host): string | null {
  const { server, tool } = mcpTool.exec(name)?.groups ?? {};
  return server === undefined || tool === undefined ? `${host}.${name}` : serverToolKey(server, tool);
}

/** Null where a server's name would make its tools look like those of a host or of another server. */
export function serverToolKey(server: string, tool: string): string | null {
  const isTaken = server.includes('.') || hosts.some((host) => host === server);
  return isTaken ? null : `${server}.${tool}`;
}

/** Null where the tool has no key. */
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
