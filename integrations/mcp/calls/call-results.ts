// Reads what a granted call returned, for the report of its outcome: the fields that the action declares, from
// the tool's structured content or from where the lock file says. INVARIANT: a response that is no result of a
// tool, such as a task or a question of the server, has no result, so that its meters stay unknown.

import { resultOf, returnedByTool } from '../../../src/language/value/reported-result.ts';
import type { AllowedDecision } from '../../typescript/client.ts';
import {
  isObject,
  type Json,
  type JsonObject,
  member,
  type RpcRequest,
  type RpcResponse,
} from '../protocol/messages.ts';
import type { LockedServer, ResultPointers } from '../review/lock.ts';

/** The result to report for a response; undefined when the action declares none or there is none. */
export function reportedResult(
  { resultFields = [] }: AllowedDecision,
  request: RpcRequest,
  response: RpcResponse,
  locked: LockedServer | null,
): object | undefined {
  if (resultFields.length === 0) return undefined;
  const { result, error } = response;
  if (error !== undefined) return resultOf(resultFields, { value: undefined, isError: true }) ?? undefined;
  if (!isObject(result) || notFinal(result)) return undefined;
  const returned =
    request.method === 'tools/call' ? returnedByTool(result) : { value: result, isError: false };
  const mapped = mappedFields(result, pointersOf(request, locked));
  return resultOf(resultFields, { ...returned, mapped }) ?? undefined;
}

function notFinal(result: JsonObject): boolean {
  const kind = member(result, 'resultType');
  return kind === 'task' || kind === 'input_required' || isObject(member(result, 'task'));
}

function pointersOf({ method, params }: RpcRequest, locked: LockedServer | null): ResultPointers {
  const tool = method === 'tools/call' ? member(params, 'name') : undefined;
  if (locked === null || typeof tool !== 'string' || !Object.hasOwn(locked.tools, tool)) return {};
  return locked.tools[tool]?.result ?? {};
}

function mappedFields(result: JsonObject, pointers: ResultPointers): Record<string, Json> {
  return Object.fromEntries(
    Object.entries(pointers).flatMap(([name, pointer]) => {
      const value = valueAt(result, pointer);
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The value at a JSON pointer (RFC 6901); undefined when there is none. */
function valueAt(whole: Json, pointer: string): Json | undefined {
  let value: Json | undefined = whole;
  for (const part of pointer.split('/').slice(1)) {
    const step = part.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(value)) value = /^(0|[1-9]\d*)$/.test(step) ? value[Number(step)] : undefined;
    else value = isObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value;
}
