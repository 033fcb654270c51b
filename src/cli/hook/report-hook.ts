// Reports that a tool has run, and of what it returned the fields that its action declares. INVARIANT: a report says that a
// call was executed and nothing else: it releases nothing, and whatever fails leaves meters on the result unknown.

import { randomUUID } from 'node:crypto';
import { credentialHeaders } from '../../../integrations/typescript/credential.ts';
import { exchange } from '../../../integrations/typescript/exchange.ts';
import { isJsonObject, type JsonObject } from '../../language/model/json.ts';
import { type ReturnedCall, resultOf } from '../../language/value/reported-result.ts';
import {
  type HookedCall,
  hookJsonLimits,
  parseJsonObject,
} from '../../service/http/resources/hooks/claude-code.ts';
import type { FinishedCall } from './after-events.ts';

export interface ReportAccess {
  readonly url: string;
  readonly key: string;
  readonly agent: string | undefined;
  /** The session of all calls; null for the session that the host names. */
  readonly session: string | null;
  /** Actions whose tools answer with JSON text, whose members are fields of the result. */
  readonly jsonText: readonly string[];
}

/** Milliseconds for a report; less than a hook has. */
const reportMsMax = 4_000;

/** Reports a call that has run. Rejects when the service cannot be reached, or knows of no such grant. */
export async function reportFinished(
  access: ReportAccess,
  finished: FinishedCall,
  signal: AbortSignal,
): Promise<void> {
  const within = AbortSignal.any([signal, AbortSignal.timeout(reportMsMax)]);
  const { calls } = finished;
  const [first] = calls;
  if (first === undefined) return;
  const service = serviceOf(access, access.session ?? first.session, within);
  const result = resultIn(await service.resultFields(first.actionKey), returnedIn(finished, access));
  const reportId = finished.eventId ?? randomUUID();
  for (const call of calls) if (await service.tell(call, { result, reportId })) return;
  throw new Error(`there is no grant of \`${first.actionKey}\` for this call whose outcome is not reported`);
}

/** What the call returned, with the members of its JSON text where an operator says that it has some. */
function returnedIn(
  { calls, returned, text }: FinishedCall,
  { jsonText }: ReportAccess,
): ReturnedCall | null {
  const isJsonText = calls.every(({ actionKey }) => jsonText.includes(actionKey));
  const members = isJsonText && text !== null ? parseJsonObject(text, hookJsonLimits) : null;
  return members === null ? returned : { ...(returned ?? { isError: false }), value: members };
}

function resultIn(fields: readonly string[], returned: ReturnedCall | null): object | null {
  return returned === null ? null : resultOf(fields, returned);
}

interface CallResult {
  readonly result: object | null;
  readonly reportId: string;
}

function serviceOf({ url, key, agent }: ReportAccess, session: string | null, signal: AbortSignal) {
  const headers = {
    'content-type': 'application/json',
    ...credentialHeaders(key),
    ...(agent === undefined ? {} : { 'x-writ-agent': agent }),
    ...(session === null ? {} : { 'x-agent-session': session }),
  };
  const ask = async (path: string, body?: object): Promise<JsonObject> => {
    const question = { url: new URL(path, url).href, headers, timeoutMs: reportMsMax, signal, fetch };
    const answer = await exchange({
      ...question,
      ...(body === undefined ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }),
    });
    const { status, body: reply } = answer as { readonly status: number; readonly body: JsonObject };
    if (status !== 200 || !isJsonObject(reply)) throw new Error(`the service answered with status ${status}`);
    return reply;
  };

  /** Sends one report; returns what became of it. */
  async function send({ actionKey, payload, idempotencyKey: key }: HookedCall, report: CallResult) {
    const call = { action_key: actionKey, payload, ...(key !== null && { idempotency_key: key }) };
    const { result, reportId: report_id } = report;
    const outcome = { call, report_id, executed: true, ...(result && { result }) };
    const { items } = await ask('/v1/outcomes', { outcomes: [outcome] });
    return Array.isArray(items) && isJsonObject(items[0]) ? items[0].result : undefined;
  }

  return {
    /** The fields of the result that the action declares. */
    async resultFields(actionKey: string): Promise<readonly string[]> {
      const { items } = await ask(`/v1/actions?prefix=${encodeURIComponent(actionKey)}`);
      const action = Array.isArray(items)
        ? items.find((item) => isJsonObject(item) && item.action_key === actionKey)
        : undefined;
      const fields = isJsonObject(action) ? action.result_fields : undefined;
      return Array.isArray(fields) ? fields.filter((field) => typeof field === 'string') : [];
    },
    /** Reports the call, without its result when the service does not take it; whether there was a grant. */
    async tell(call: HookedCall, report: CallResult): Promise<boolean> {
      const reply = await send(call, report);
      if (reply !== 'invalid_result') return reply !== 'request_not_found';
      return (await send(call, { ...report, result: null })) !== 'request_not_found';
    },
  };
}
