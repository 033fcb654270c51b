// Reads what a granted call returned, for the report of its outcome: the fields that the action declares, from
// the tool's structured content or from where the lock file says, with the labels of a detector. INVARIANT: a response that is no result of a
// tool, such as a task or a question of the server, has no result, so that its meters stay unknown.

import { readResult, returnedByTool } from '../../../src/language/value/reported-result.ts';
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
import type { GateSettings } from './gate.ts';
import { type Inspect, inspectedCall, withLabels } from './inspection.ts';

export interface AnsweredCall {
  readonly request: RpcRequest;
  readonly response: RpcResponse;
}

type ResultSettings = Pick<GateSettings, 'as' | 'locked' | 'inspect' | 'warn'>;

/** The result to report for a response; undefined when the action declares none or it is unknown. */
export function reportedResult(
  { resultFields = [] }: AllowedDecision,
  answered: AnsweredCall,
  settings: ResultSettings,
): object | undefined | Promise<object | undefined> {
  if (resultFields.length === 0) return undefined;
  const fields = fieldsOf(resultFields, answered, settings);
  if (fields === null || settings.inspect === undefined || !resultFields.includes('labels'))
    return isFields(fields) ? fields : undefined;
  return inspected(settings.inspect, { fields, answered }, settings);
}

type Fields = ReturnType<typeof readResult>;

function isFields(fields: Fields | null): fields is object {
  return typeof fields === 'object' && fields !== null;
}

/** The declared fields of a response, or why there are none; null when the response is not final. */
function fieldsOf(
  names: readonly string[],
  { request, response: { result, error } }: AnsweredCall,
  { locked }: ResultSettings,
): Fields | null {
  if (error !== undefined) return readResult(names, { value: undefined, isError: true });
  if (!isObject(result) || notFinal(result)) return null;
  const returned =
    request.method === 'tools/call' ? returnedByTool(result) : { value: result, isError: false };
  return readResult(names, { ...returned, mapped: mappedFields(result, pointersOf(request, locked)) });
}

interface FinalCall {
  readonly fields: Fields;
  readonly answered: AnsweredCall;
}

/** The fields with the labels of the detector; undefined when either is unknown. */
async function inspected(
  inspect: Inspect,
  { fields, answered: { request, response } }: FinalCall,
  { as, warn }: ResultSettings,
): Promise<object | undefined> {
  // The tool may have given labels that are not known here, which the detector must not replace.
  if (fields === 'oversized') return undefined;
  try {
    const labels = inspect(inspectedCall(as, request, response));
    return await withLabels(isFields(fields) ? fields : {}, labels);
  } catch (error) {
    warn(`a result of ${request.method} is unknown: the inspection failed: ${(error as Error).message}`);
    return undefined;
  }
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
