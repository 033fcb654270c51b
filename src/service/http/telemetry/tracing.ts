// Turns requests for decisions into OpenTelemetry spans, sent to a collector as OTLP over HTTP in JSON: one
// span for a request and one for each of its stages, made when the request is over. The library is loaded
// only when a collector is configured. INVARIANT: a request never waits for a span; what the collector does
// not take in time is dropped, the oldest last.

import { performance } from 'node:perf_hooks';
import type { Attributes, Context, Span, Tracer } from '@opentelemetry/api';
import type { SpanExporter } from '@opentelemetry/sdk-trace';
import { engineVersions } from '../../requests/record/record.ts';

export interface RequestTracing {
  /** Traces a request of a known agent that has been answered. */
  answered(exchange: TracedExchange): void;
  /** Sends the remaining spans, as far as the collector takes them within a moment. */
  close(): Promise<void>;
}

/** A request and its answer; times are on the clock of `performance.now`. */
export interface TracedExchange {
  /** The header of W3C Trace Context, as sent. */
  readonly traceparent: unknown;
  /** The path of the route that was called. */
  readonly path: string;
  readonly requestId: string;
  readonly agentId: string;
  readonly startedAtMs: number;
  readonly httpStatus: number;
  /** The code of the error in the reply; null when there is a decision. */
  readonly errorCode: string | null;
  readonly decided: SpanOfDecision | null;
}

export interface SpanOfDecision {
  readonly decision: string;
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

export interface TracingOptions {
  /** Base address of the collector; traces are sent to `v1/traces` under it. */
  readonly endpoint: string;
  readonly log: { warn(fields: object, message: string): void };
  readonly exportTimeoutMs?: number;
}

const defaultExportTimeoutMs = 10_000;
/** How long a stop waits for the collector. */
const closeMs = 2_000;
const spansWaitingMax = 4_096;
const warnEveryMs = 60_000;

export async function openTracing(options: TracingOptions): Promise<RequestTracing> {
  const { endpoint, exportTimeoutMs = defaultExportTimeoutMs } = options;
  const [api, sdk, { OTLPTraceExporter }, { resourceFromAttributes }] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
  ]);
  const collector = new OTLPTraceExporter({
    url: `${endpoint.replace(/\/+$/, '')}/v1/traces`,
    timeoutMillis: exportTimeoutMs,
  });
  const tell = createFailureLog(options);
  const exporter: SpanExporter = {
    export(spans, done) {
      collector.export(spans, (result) => {
        if (result.error !== undefined || result.code !== 0) tell();
        done(result);
      });
    },
    shutdown: () => collector.shutdown(),
  };
  const provider = new sdk.TracerProvider({
    resource: resourceFromAttributes({ 'service.name': 'writ', 'service.version': engineVersions.writ }),
    sampler: new sdk.ParentBasedSampler({ root: new sdk.AlwaysOnSampler() }),
    spanProcessors: [
      new sdk.BatchSpanProcessor({
        exporter,
        maxQueueSize: spansWaitingMax,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const tracer = provider.getTracer('writ', engineVersions.writ);

  /** The caller's span as context; the root context when the header does not have the standard's form. */
  function contextOf(traceparent: unknown): Context {
    const [, traceId = '', spanId = '', flags = ''] = traceparentForm.exec(String(traceparent ?? '')) ?? [];
    const parent = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true };
    return api.isSpanContextValid(parent)
      ? api.trace.setSpanContext(api.ROOT_CONTEXT, parent)
      : api.ROOT_CONTEXT;
  }

  return {
    answered(exchange) {
      const toWall = wallOffset();
      const startTime = toWall + exchange.startedAtMs;
      const span = tracer.startSpan(
        `POST ${exchange.path}`,
        { kind: api.SpanKind.SERVER, startTime, attributes: attributesOf(exchange) },
        contextOf(exchange.traceparent),
      );
      if (exchange.decided !== null && span.isRecording())
        addStages(tracer, api.trace.setSpan(api.ROOT_CONTEXT, span), { ...exchange, toWall });
      if (exchange.httpStatus >= 500) span.setStatus({ code: api.SpanStatusCode.ERROR });
      span.end(toWall + performance.now());
    },
    async close() {
      const wait = new Promise<void>((resolve) => setTimeout(resolve, closeMs).unref());
      await Promise.race([provider.shutdown().catch(() => undefined), wait]);
    },
  };
}

const traceparentForm = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;

/** The offset that turns a reading of `performance.now` into the machine's time. */
function wallOffset(): number {
  return Date.now() - performance.now();
}

function attributesOf(exchange: TracedExchange): Attributes {
  const { path, requestId, agentId, httpStatus, errorCode, decided } = exchange;
  return {
    'http.request.method': 'POST',
    'http.route': path,
    'http.response.status_code': httpStatus,
    'writ.request_id': requestId,
    'writ.agent_id': agentId,
    ...(errorCode === null ? {} : { 'error.type': errorCode }),
    ...(decided === null
      ? {}
      : {
          'writ.decision': decided.decision,
          'writ.policy': decided.policy,
          'writ.rule': decided.rule,
          'writ.risk': decided.risk,
          'writ.status': decided.status,
        }),
  };
}

interface StageTimes extends TracedExchange {
  readonly toWall: number;
}

/**
 * Adds a span for each stage, one after the other: receiving, checking, deciding, and waiting for the disk.
 */
function addStages(tracer: Tracer, parent: Context, { startedAtMs, decided, toWall }: StageTimes): void {
  if (decided === null) return;
  const { readAtMs, checkedAtMs, recordedAtMs, decideMs } = decided;
  const stages: readonly (readonly [string, number, number])[] = [
    ['receive', startedAtMs, readAtMs],
    ['check', readAtMs, checkedAtMs],
    ['decide', checkedAtMs, checkedAtMs + decideMs],
    ['record', checkedAtMs + decideMs, recordedAtMs],
  ];
  for (const [name, from, to] of stages) {
    const span: Span = tracer.startSpan(name, { startTime: toWall + from }, parent);
    span.end(toWall + Math.max(from, to));
  }
}

/**
 * Logs that traces could not be sent, once a minute at most: a collector that is down fails every few
 * seconds.
 */
function createFailureLog({ log, endpoint }: TracingOptions): () => void {
  let toldAtMs = -Infinity;
  return () => {
    if (performance.now() - toldAtMs < warnEveryMs) return;
    toldAtMs = performance.now();
    log.warn({ collector: new URL(endpoint).host }, 'could not send traces; dropping them');
  };
}
