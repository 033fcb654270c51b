// Reads what four coding agents send to a command hook after a tool has run: which call it was, and what it returned.
// INVARIANT: fields of a result come only from what the host passes as structured: a text that a tool returned, such as a
// page, is never read as fields, unless an operator says that the tool answers with JSON text.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { failedCall, type ReturnedCall, returnedByTool } from '../../language/value/reported-result.ts';
import {
  type ClaudeEvent,
  type HookedCall,
  hookJsonLimits,
  parseJsonObject,
  returnedToClaude,
} from '../../service/http/resources/hooks/claude-code.ts';
import { cursorServerTool, cursorTool, geminiCall, readToolUse, shellCall, textIn } from './call-events.ts';

/** A call that has run. */
export interface FinishedCall {
  /** The call. Several when the event leaves something open; at most one of them was granted. */
  readonly calls: readonly HookedCall[];
  /** What the call returned; null when the event does not say. */
  readonly returned: ReturnedCall | null;
  /** The text that the tool returned; null when it returned none. */
  readonly text: string | null;
  /** Identifies the event; null when the host gives it no id. */
  readonly eventId: string | null;
}

export interface AfterEvents {
  /** The names of the events after a tool. */
  readonly names: readonly string[];
  readonly read: (event: JsonObject) => FinishedCall | null;
}

export const claudeAfter: AfterEvents = {
  names: ['PostToolUse', 'PostToolUseFailure'],
  read(event) {
    const call = readToolUse(event, 'claude_code');
    return call && finished(call, returnedToClaude(event as unknown as ClaudeEvent), event.tool_response);
  },
};

/** An MCP tool's response is its whole result; that of a command is its output. */
export const codexAfter: AfterEvents = {
  names: ['PostToolUse'],
  read(event) {
    const call = readToolUse(event, 'codex');
    const { tool_response: response = null } = event;
    return call && finished(call, response === null ? null : returnedByTool(response), response);
  },
};

/** Gemini CLI passes on the text of an MCP tool, and nothing of its structured content. */
export const geminiAfter: AfterEvents = {
  names: ['AfterTool'],
  read(event) {
    const call = geminiCall(event);
    const { tool_response: response } = event;
    if (call === null || !isJsonObject(response)) return call && finished(call, null);
    const { llmContent: content, error } = response;
    if (isJsonObject(error)) return finished(call, failedCall);
    if (content === undefined) return finished(call, null);
    const bytes = Buffer.byteLength(textOf(content) ?? JSON.stringify(content));
    return finished(call, { value: content, isError: false, bytes }, content);
  },
};

export const cursorAfter: AfterEvents = {
  names: ['afterShellExecution', 'afterMCPExecution', 'postToolUse'],
  read(event) {
    const session = textIn(event, 'conversation_id');
    if (session === null) return null;
    switch (event.hook_event_name) {
      case 'afterShellExecution':
        return finishedCommand(event, session);
      case 'afterMCPExecution':
        return finishedTool(cursorServerTool(event, session), event.result_json, isToolResult);
      case 'postToolUse': {
        const isOfServer = textIn(event, 'tool_name')?.startsWith('MCP:') === true;
        const hasFields = isOfServer ? isToolResult : () => true;
        const done = finishedTool(cursorTool(event, session), event.tool_output, hasFields);
        return done && { ...done, eventId: textIn(event, 'tool_use_id') };
      }
      default:
        return null;
    }
  },
};

/** The event may leave out the folder, which the call before it had. */
function finishedCommand(event: JsonObject, session: string): FinishedCall | null {
  const [command, { output, cwd, workspace_roots: roots }] = [textIn(event, 'command'), event];
  if (command === null) return null;
  const folders = Array.isArray(roots) ? roots.filter((root) => typeof root === 'string') : [];
  const candidates = typeof cwd === 'string' ? [cwd] : [undefined, '', ...folders.slice(0, foldersMax)];
  const returned =
    typeof output === 'string'
      ? { value: { output }, isError: false, bytes: Buffer.byteLength(output) }
      : null;
  const calls = candidates.map((candidate) => shellCall(command, candidate, session));
  return { calls, returned, text: textOf(output), eventId: null };
}

const foldersMax = 4;

/** Cursor passes a result as its JSON text. `hasFields` tells whether the parsed result has fields of the tool's own. */
function finishedTool(
  call: HookedCall | null,
  output: Json | undefined,
  hasFields: (output: JsonObject) => boolean,
): FinishedCall | null {
  if (call === null || typeof output !== 'string') return call && finished(call, null);
  const parsed = parseJsonObject(output, hookJsonLimits);
  const returned = parsed !== null && hasFields(parsed) ? returnedByTool(parsed) : null;
  return finished(call, returned ?? { value: output, isError: false }, parsed ?? output);
}

/** Whether it is the result of an MCP tool (`CallToolResult`). */
function isToolResult(output: JsonObject): boolean {
  return Array.isArray(output.content) || isJsonObject(output.structuredContent);
}

function finished(call: HookedCall, returned: ReturnedCall | null, content?: Json): FinishedCall {
  return { calls: [call], returned, text: textOf(content), eventId: null };
}

/** The text of a response: a text, or the texts of its parts. */
function textOf(content: Json | undefined): string | null {
  if (typeof content === 'string') return content;
  if (isJsonObject(content)) return textOf(content.content ?? null);
  if (!Array.isArray(content)) return null;
  const texts = content.flatMap((part) => (isJsonObject(part) ? (textIn(part, 'text') ?? []) : []));
  return texts.length === 0 ? null : texts.join('');
}
