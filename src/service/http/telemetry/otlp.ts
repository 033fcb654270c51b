// Turns answered requests into the message of the OpenTelemetry protocol (OTLP 1.x) that carries spans, in its JSON
// form: ids in hexadecimal, 64-bit numbers as text, enumerations as numbers, names in lower camel case. One span
// for a request and one for each of its stages. Attributes have the names of the semantic conventions 1.41, those of
// HTTP and those of generative AI, and `writ.*` beside them.

import { randomBytes } from 'node:crypto';
import { toolOperation } from './tool-names.ts';

/** A request and its answer; times are on the clock of `performance.now`. */
export interface TracedExchange {
  /** The header of W3C Trace Context, as sent. */
  readonly traceparent: unknown;
  /** The path of the route that was called. */
  readonly path: string;
  readonly requestId: string;
  readonly agentId: string;
  readonly agentName: string;
  readonly startedAtMs: number;
  readonly httpStatus: number;
  /** The code of the error in the reply; null when there is a decision. */
  readonly errorCode: string | null;
  readonly decided: SpanOfDecision | null;
}

export interface SpanOfDecision {
  readonly decision: string;
  /** The action as `toolName` gives it. */
  readonly tool: string;
  /** The session as the caller named it; null for none. */
  readonly session: string | null;
  readonly policy: string;
  readonly rule: string;
  readonly risk: number;
  readonly status: string;
  /**
   * When the body had arrived; `checkedAtMs` is when body and signature were found good, `recordedAtMs` when
   * the record was on disk.
   */
  readonly readAtMs: number;
  readonly checkedAtMs: number;
  readonly recordedAtMs: number;
  readonly decideMs: number;
}

/** An exchange that has ended; `toWallMs` turns its times into the machine's time. */
export interface EndedExchange {
  readonly exchange: TracedExchange;
  readonly endedAtMs: number;
  readonly toWallMs: number;
}

/** A delivery of a webhook, whose receiver got the ids in its `traceparent`. */
export interface TracedDelivery {
  readonly context: SpanContext;
  readonly host: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly toWallMs: number;
  /** Null when no answer came. */
  readonly httpStatus: number | null;
}

export interface SpanContext {
  readonly traceId: string;
  readonly spanId: string;
}

type AttributeValue = string | number;
type Attributes = Readonly<Record<string, AttributeValue>>;

type AnyValue =
  | { readonly stringValue: string }
  | { readonly intValue: string }
  | { readonly doubleValue: number };

interface KeyValue {
  readonly key: string;
  readonly value: AnyValue;
}

export interface OtlpSpan extends SpanContext {
  readonly parentSpanId?: string;
  readonly flags: number;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly KeyValue[];
  readonly status: { readonly code?: number };
}

export interface Scope {
  readonly version: string;
  /** The attributes of the resource: what sends the spans. */
  readonly resource: Attributes;
}

// The numbers that the protocol gives to these words.
const spanKind = { internal: 1, server: 2, client: 3 } as const;
const statusError = 2;
const flagSampled = 0x01;
/** Whether a parent is of another process is known, and it is. */
const flagsOfParent = { unknown: 0, local: 0x100, remote: 0x300 } as const;

/** The message of the protocol, as JSON text. */
export function exportRequest(spans: readonly OtlpSpan[], { version, resource }: Scope): string {
  return JSON.stringify({
    resourceSpans: [
      {
        resource: { attributes: keyValues(resource) },
        scopeSpans: [{ scope: { name: 'writ', version }, spans }],
      },
    ],
  });
}

/** The spans of an exchange; none when its caller asked for none. */
export function spansOf({ exchange, endedAtMs, toWallMs }: EndedExchange): readonly OtlpSpan[] {
  const parent = parseTraceparent(exchange.traceparent);
  if (parent?.isSampled === false) return [];
  const context = { traceId: parent?.traceId ?? createTraceId(), spanId: createSpanId() };
  const whole: OtlpSpan = {
    ...context,
    ...(parent === null ? {} : { parentSpanId: parent.spanId }),
    flags: flagSampled | (parent === null ? flagsOfParent.unknown : flagsOfParent.remote),
    name: `POST ${exchange.path}`,
    kind: spanKind.server,
    startTimeUnixNano: nanos(toWallMs + exchange.startedAtMs),
    endTimeUnixNano: nanos(toWallMs + endedAtMs),
    attributes: keyValues(attributesOf(exchange)),
    status: exchange.httpStatus >= 500 ? { code: statusError } : {},
  };
  return [whole, ...stagesOf(exchange, context, toWallMs)];
}

/** The span of a delivery. */
export function spanOfDelivery({ context, host, ...times }: TracedDelivery): OtlpSpan {
  const { startedAtMs, endedAtMs, toWallMs, httpStatus } = times;
  const isError = httpStatus === null || httpStatus >= 400;
  return {
    ...context,
    flags: flagSampled,
    name: 'POST',
    kind: spanKind.client,
    startTimeUnixNano: nanos(toWallMs + startedAtMs),
    endTimeUnixNano: nanos(toWallMs + endedAtMs),
    attributes: keyValues({
      'http.request.method': 'POST',
      'server.address': host,
      ...(httpStatus === null ? {} : { 'http.response.status_code': httpStatus }),
      ...(isError ? { 'error.type': httpStatus === null ? 'no_answer' : String(httpStatus) } : {}),
    }),
    status: isError ? { code: statusError } : {},
  };
}

/** A span for each stage, one after the other: receiving, checking, deciding, and waiting for the disk. */
function stagesOf(
  { startedAtMs, decided }: TracedExchange,
  { traceId, spanId }: SpanContext,
  toWallMs: number,
): readonly OtlpSpan[] {
  if (decided === null) return [];
  const { readAtMs, checkedAtMs, recordedAtMs, decideMs } = decided;
  const stages: readonly (readonly [string, number, number])[] = [
    ['receive', startedAtMs, readAtMs],
    ['check', readAtMs, checkedAtMs],
    ['decide', checkedAtMs, checkedAtMs + decideMs],
    ['record', checkedAtMs + decideMs, recordedAtMs],
  ];
  return stages.map(([name, fromMs, toMs]) => ({
    traceId,
    spanId: createSpanId(),
    parentSpanId: spanId,
    flags: flagSampled | flagsOfParent.local,
    name,
    kind: spanKind.internal,
    startTimeUnixNano: nanos(toWallMs + fromMs),
    endTimeUnixNano: nanos(toWallMs + Math.max(fromMs, toMs)),
    attributes: [],
    status: {},
  }));
}

function attributesOf(exchange: TracedExchange): Attributes {
  const { path, requestId, agentId, agentName, httpStatus, errorCode, decided } = exchange;
  return {
    'http.request.method': 'POST',
    'http.route': path,
    'http.response.status_code': httpStatus,
    'writ.request_id': requestId,
    'writ.agent_id': agentId,
    'gen_ai.agent.id': agentId,
    'gen_ai.agent.name': agentName,
    ...(errorCode === null ? {} : { 'error.type': errorCode }),
    ...(decided === null
      ? {}
      : {
          'gen_ai.operation.name': toolOperation,
          'gen_ai.tool.name': decided.tool,
          ...(decided.session === null ? {} : { 'gen_ai.conversation.id': decided.session }),
          // The call that the agent asks for does not take place.
          ...(decided.decision === 'DENY' ? { 'error.type': 'denied' } : {}),
          'writ.decision': decided.decision,
          'writ.policy': decided.policy,
          'writ.rule': decided.rule,
          'writ.risk': decided.risk,
          'writ.status': decided.status,
        }),
  };
}

function keyValues(attributes: Attributes): readonly KeyValue[] {
  return Object.entries(attributes).map(([key, value]) => ({
    key,
    value: anyValue(value),
  }));
}

function anyValue(value: AttributeValue): AnyValue {
  if (typeof value === 'string') return { stringValue: value };
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value };
}

/** Milliseconds since 1970 as nanoseconds; a double is exact to the microsecond only. */
function nanos(ms: number): string {
  return `${Math.round(ms * 1000)}000`;
}

interface CallerContext extends SpanContext {
  readonly isSampled: boolean;
}

const traceparentForm = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/;

/** The caller's span; null when the header does not have the form of W3C Trace Context. */
function parseTraceparent(header: unknown): CallerContext | null {
  const [, version = 'ff', traceId = '', spanId = '', flags = '', more] =
    traceparentForm.exec(String(header ?? '')) ?? [];
  // A later version may say more behind the fields of this one.
  if (version === 'ff' || (version === '00' && more !== undefined)) return null;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) return null;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & flagSampled) !== 0 };
}

/** The header that a receiver reads, of a span that is sampled. */
export function traceparentOf({ traceId, spanId }: SpanContext): string {
  return `00-${traceId}-${spanId}-01`;
}

export function createSpanContext(): SpanContext {
  return { traceId: createTraceId(), spanId: createSpanId() };
}

function createTraceId(): string {
  return randomBytes(16).toString('hex');
}

function createSpanId(): string {
  return randomBytes(8).toString('hex');
}
