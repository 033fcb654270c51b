// Reads what four coding agents send to a command hook before and after a tool runs, and holds what each reads as an
// answer. A refusal is always exit code 2 with the reason on standard error, which stops the tool in all four.
// The answer `ask` is never given, because some agents run the tool then. INVARIANT: an event of another name
// is read as null.

import type { JsonObject } from '../../language/model/json.ts';
import type { HookedCall } from '../../service/http/resources/hooks/claude-code.ts';
import { type AfterEvents, claudeAfter, codexAfter, cursorAfter, geminiAfter } from './after-events.ts';
import {
  called,
  cursorServerTool,
  cursorTool,
  geminiCall,
  readToolUse,
  shellCall,
  textIn,
} from './call-events.ts';

export const dialectNames = ['claude', 'codex', 'gemini', 'cursor'] as const;
export type DialectName = (typeof dialectNames)[number];

export interface Dialect {
  /** Reads the event before a tool. */
  readonly read: (event: JsonObject) => HookedCall | null;
  readonly after: AfterEvents;
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

/** The answer that says nothing. */
export const nothing = '{}';
const never = (): boolean => false;

export const dialects: Readonly<Record<DialectName, Dialect>> = {
  claude: {
    read: (event) => (isNamed(event, 'PreToolUse') ? readToolUse(event, 'claude_code') : null),
    after: claudeAfter,
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
    read: (event) => (isNamed(event, 'PreToolUse') ? readToolUse(event, 'codex') : null),
    after: codexAfter,
    allowed: nothing,
    isDecidedApart: never,
    deferred: null,
  },
  gemini: {
    read: (event) => (isNamed(event, 'BeforeTool') ? geminiCall(event) : null),
    after: geminiAfter,
    allowed: nothing,
    isDecidedApart: never,
    deferred: null,
  },
  cursor: {
    read: readCursor,
    after: cursorAfter,
    allowed: '{"permission":"allow"}',
    isDecidedApart: ({ hook_event_name: name, tool_name: tool }) =>
      (name === 'preToolUse' || name === 'postToolUse') && (tool === 'Shell' || tool === 'Read'),
    deferred: null,
  },
};

function isNamed({ hook_event_name: name }: JsonObject, wanted: string): boolean {
  return name === wanted;
}

function readCursor(event: JsonObject): HookedCall | null {
  const session = textIn(event, 'conversation_id');
  if (session === null) return null;
  switch (event.hook_event_name) {
    case 'beforeShellExecution': {
      const [command, cwd] = [textIn(event, 'command'), event.cwd];
      if (command === null || (cwd !== undefined && typeof cwd !== 'string')) return null;
      return shellCall(command, cwd, session);
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
