// Makes the result that is reported for a granted call: the fields that its action declares, taken from what
// the call returned. Policies read a reported result through meters. INVARIANT: a result that is missing, of
// another type or too large is reported as none, so that its meters stay unknown and guards have their effect.

/** What a call returned, as an enforcement point sees it. */
export interface ReturnedCall {
  /** The returned value; for an MCP tool, its `structuredContent`. */
  readonly value: unknown;
  readonly isError: boolean;
  /** The size of the returned value in bytes; by default that of its text, or of its JSON text. */
  readonly bytes?: number | undefined;
  /** Values that have been read for fields already, in place of those of the same name. */
  readonly mapped?: Readonly<Record<string, unknown>> | undefined;
}

/** A call that threw an error: nothing is certain but that it failed. */
export const failedCall: ReturnedCall = { value: undefined, isError: true };

/** What an MCP tool returned (`CallToolResult`), or a value that is no such result. */
export function returnedByTool(result: unknown): ReturnedCall {
  if (
    typeof result !== 'object' ||
    result === null ||
    !('content' in result || 'structuredContent' in result)
  )
    return { value: result, isError: false };
  const { content, structuredContent, isError } = result as Readonly<Record<string, unknown>>;
  const value = structuredContent ?? content;
  const bytes = sizeOf(Array.isArray(content) && content.length > 0 ? content : value);
  return { value, isError: isError === true, bytes };
}

/** The most bytes of JSON text in a reported result. */
const resultBytesMax = 64 * 1024;

/**
 * Returns the declared fields of a result; null when there are none, or when they do not fit into a report.
 * `bytes`, `is_error` and `items` (the length of a returned list) are computed here, whatever the value says.
 */
export function resultOf(fields: readonly string[], returned: ReturnedCall): object | null {
  const read = readResult(fields, returned);
  return typeof read === 'string' ? null : read;
}

/** The same as `resultOf`, or why there is nothing to report. */
export function readResult(
  fields: readonly string[],
  returned: ReturnedCall,
): object | 'missing' | 'oversized' {
  const reported = Object.fromEntries(
    fields.flatMap((name) => {
      const value = fieldOf(name, returned);
      return value === undefined ? [] : [[name, value]];
    }),
  );
  const text = Object.keys(reported).length === 0 ? null : jsonText(reported);
  if (text === null) return 'missing';
  return byteLength(text) > resultBytesMax ? 'oversized' : (JSON.parse(text) as object);
}

function fieldOf(name: string, returned: ReturnedCall): unknown {
  const { value, isError, bytes, mapped } = returned;
  if (mapped !== undefined && Object.hasOwn(mapped, name)) return mapped[name];
  switch (name) {
    case 'is_error':
      return isError;
    case 'bytes':
      return isError && value === undefined ? undefined : (bytes ?? sizeOf(value));
    case 'items':
      return listIn(value)?.length;
    default:
      return ownValue(value, name);
  }
}

function ownValue(value: unknown, name: string): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  return Object.hasOwn(value, name) ? (value as Readonly<Record<string, unknown>>)[name] : undefined;
}

/** The list that a call returned: the value itself, or the only member of a record that wraps it. */
function listIn(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'object' || value === null) return undefined;
  const members = Object.values(value);
  return members.length === 1 && Array.isArray(members[0]) ? members[0] : undefined;
}

function sizeOf(value: unknown): number | undefined {
  const text = typeof value === 'string' ? value : value === undefined ? '' : jsonText(value);
  return text === null ? undefined : byteLength(text);
}

/** The JSON text of a value; null when it has none. */
function jsonText(value: unknown): string | null {
  try {
    return JSON.stringify(value) ?? null;
  } catch {
    return null;
  }
}

function byteLength(text: string): number {
  return new TextEncoder().encode(text).length;
}
