// Turns events into log records of the OpenTelemetry protocol (opentelemetry-proto, logs/v1) in its JSON form: 64-bit
// numbers as text, enumerations as numbers, names in lower camel case. Attributes have the names of the semantic
// conventions where these have one, and begin with `writ.` otherwise.

import type { CanonicalValue } from '../../store/contract/canonical-json.ts';
import { codeOf, messageOf, type Severity, type SiemEvent, severityOf } from '../events/event.ts';

/** The event as a log record. */
export function otlpLogRecord(event: SiemEvent, observedMs: number): string {
  const [severityNumber, severityText] = severities[severityOf(event)];
  return JSON.stringify({
    timeUnixNano: nanos(event.atMs),
    observedTimeUnixNano: nanos(observedMs),
    severityNumber,
    severityText,
    eventName: `writ.${codeOf(event)}`,
    body: { stringValue: messageOf(event) },
    attributes: Object.entries({
      'writ.sequence': event.sequence,
      'writ.uid': event.uid,
      'writ.lane': event.lane,
      'writ.follows': event.follows,
      ...attributesOf(event),
    }).flatMap(([key, value]) => (value === null ? [] : [{ key, value: anyValue(value) }])),
  });
}

/** The message of the protocol that carries log records. `version` is the version of Writ. */
export function otlpLogsRequest(records: readonly string[], version: string): string {
  const resource = [
    { key: 'service.name', value: { stringValue: 'writ' } },
    { key: 'service.version', value: { stringValue: version } },
  ];
  const scope = { name: 'writ', version };
  return `{"resourceLogs":[{"resource":${JSON.stringify({ attributes: resource })},"scopeLogs":[{"scope":${JSON.stringify(scope)},"logRecords":[${records.join(',')}]}]}]}`;
}

/** How many log records a receiver that accepted a request has refused all the same, and what it says of it. */
export function rejectedIn(answer: string): { readonly count: number; readonly reason: string } {
  let parsed: unknown;
  try {
    parsed = JSON.parse(answer);
  } catch {
    return { count: 0, reason: '' };
  }
  const { partialSuccess } = (parsed ?? {}) as {
    readonly partialSuccess?: { readonly rejectedLogRecords?: unknown; readonly errorMessage?: unknown };
  };
  const count = Number(partialSuccess?.rejectedLogRecords ?? 0);
  return {
    count: Number.isSafeInteger(count) && count > 0 ? count : 0,
    reason: String(partialSuccess?.errorMessage ?? ''),
  };
}

const severities: Readonly<Record<Severity, readonly [number, string]>> = {
  informational: [9, 'INFO'],
  low: [10, 'INFO2'],
  medium: [13, 'WARN'],
  high: [17, 'ERROR'],
};

function attributesOf(event: SiemEvent): Readonly<Record<string, CanonicalValue>> {
  switch (event.kind) {
    case 'decision':
      return {
        'gen_ai.agent.id': event.agentId,
        'gen_ai.agent.name': event.agentName,
        'gen_ai.operation.name': 'execute_tool',
        'gen_ai.tool.name': event.action,
        'gen_ai.conversation.id': event.session,
        'client.address': event.clientAddress,
        'user.id': event.user?.id ?? null,
        'user.email': event.user?.email ?? null,
        'writ.request_id': event.requestId,
        'writ.decision': event.outcome,
        'writ.status': event.status,
        'writ.policy': event.policy,
        'writ.rule': event.rule,
        'writ.policy_set': event.policySet,
        'writ.risk': event.risk,
        'writ.key_id': event.keyId,
        'writ.signed': event.isSigned,
        'writ.point': event.point,
        ...Object.fromEntries(
          Object.entries(event.payload).map(([path, value]) => [`writ.payload.${path}`, value]),
        ),
      };
    case 'refusal':
      return {
        'gen_ai.agent.id': event.agentId,
        'client.address': event.clientAddress,
        'http.response.status_code': event.httpStatus,
        'error.type': event.code,
        'writ.refusal_id': event.refusalId,
        'writ.key_id': event.keyId,
        'writ.detail': event.detail,
      };
    case 'request-change':
      return {
        'writ.request_id': event.requestId,
        'writ.change': event.what,
        'writ.who': event.who,
        'writ.status': event.status,
        'writ.group': event.group,
        'writ.executed': event.wasExecuted,
        'writ.decision': event.decision?.outcome ?? null,
        'writ.policy': event.decision?.policy ?? null,
        'writ.rule': event.decision?.rule ?? null,
      };
    case 'change':
      return {
        'writ.change': event.what,
        'writ.who': event.who,
        'writ.subject': event.subject,
        'writ.before': event.before,
        'writ.after': event.after,
      };
    case 'gap':
      return { 'writ.first_sequence': event.firstSequence, 'writ.because': event.because };
    case 'knot':
    case 'unreadable':
      return {};
  }
}

function anyValue(value: Exclude<CanonicalValue, null>): object {
  if (typeof value === 'string') return { stringValue: value };
  if (typeof value === 'boolean') return { boolValue: value };
  if (typeof value === 'number')
    return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
  const inner = (one: CanonicalValue): object => (one === null ? {} : anyValue(one));
  if (isList(value)) return { arrayValue: { values: value.map(inner) } };
  const values = Object.entries(value).map(([key, one]) => ({ key, value: inner(one) }));
  return { kvlistValue: { values } };
}

function isList(value: CanonicalValue): value is readonly CanonicalValue[] {
  return Array.isArray(value);
}

function nanos(ms: number): string {
  return `${Math.trunc(ms)}000000`;
}
