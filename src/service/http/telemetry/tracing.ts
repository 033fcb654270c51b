// Sends a span of each request for a decision to a collector, as OTLP over HTTP in JSON. A request only leaves a
// note of itself; its spans are made when a batch is sent. INVARIANT: a request never waits for a span, notes are
// bounded, and what the collector does not take in time is dropped, counted and logged.

import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import { boundedFetch } from '../../fetching/fetch-document.ts';
import { engineVersions } from '../../requests/record/engine-versions.ts';
import {
  createSpanContext,
  type EndedExchange,
  exportRequest,
  type OtlpSpan,
  type Scope,
  spanOfDelivery,
  spansOf,
  type TracedDelivery,
  type TracedExchange,
  traceparentOf,
} from './otlp.ts';

export interface RequestTracing {
  /** Traces a request of a known agent that has been answered. */
  answered(exchange: TracedExchange): void;
  /** Begins the span of a delivery to another service. */
  delivering(host: string): DeliverySpan;
  counts(): SpanCounts;
  /** Sends the remaining spans, as far as the collector takes them within a moment. */
  close(): Promise<void>;
}

export interface DeliverySpan {
  /** The header for the receiver, so that its spans belong to the same trace. */
  readonly traceparent: string;
  /** Ends the span; null when no answer came. */
  ended(httpStatus: number | null): void;
}

/** Spans since the start. */
export interface SpanCounts {
  readonly sent: number;
  /** Too many requests waited to be sent. */
  readonly droppedWaiting: number;
  /** The collector did not answer, or not in time. */
  readonly droppedUnreachable: number;
  /** The collector refused them. */
  readonly droppedRefused: number;
}

export interface TracingOptions {
  /** The address that takes traces, whole. */
  readonly address: string;
  readonly headers?: ReadonlyMap<string, string>;
  /** The attributes of the resource, beside the version of the service. */
  readonly resource?: Readonly<Record<string, string>>;
  readonly log: { warn(fields: object, message: string): void };
  readonly exportTimeoutMs?: number;
  /** How long an export waits before it is tried again, the first time. */
  readonly retryMs?: number;
}

const defaultExportTimeoutMs = 10_000;
const defaultRetryMs = 1_000;
/** How long a stop waits for the collector. */
const closeMs = 2_000;
const batchEveryMs = 1_000;
/** Requests of a batch, each of which has up to five spans. */
const batchMax = 256;
const waitingMax = 4_096;
const attemptsMax = 3;
const retryMaxMs = 30_000;
const warnEveryMs = 60_000;
/** The longest answer that is read: it says which spans were refused. */
const answerBytesMax = 64 * 1024;

/** What waits to be sent. */
type Note = { readonly exchange: EndedExchange } | { readonly delivery: TracedDelivery };

export function openTracing(options: TracingOptions): RequestTracing {
  const exporter = createExporter(options);
  let notes: Note[] = [];
  let sending: Promise<void> | null = null;
  const counts = { sent: 0, droppedWaiting: 0, droppedUnreachable: 0, droppedRefused: 0 };
  const timer = setInterval(() => void flush(), batchEveryMs);
  timer.unref();

  function add(note: Note): void {
    if (notes.length >= waitingMax) {
      counts.droppedWaiting += 'exchange' in note && note.exchange.exchange.decided !== null ? 5 : 1;
      exporter.tell('too many spans are waiting');
      return;
    }
    notes.push(note);
    // Not in this turn, in which a request is being answered.
    if (notes.length === batchMax) setImmediate(() => void flush());
  }

  /** Sends all that waits, one batch after the other; calls meanwhile wait for the same end. */
  function flush(): Promise<void> {
    sending ??= sendAll().finally(() => {
      sending = null;
    });
    return sending;
  }

  async function sendAll(): Promise<void> {
    while (notes.length > 0) {
      const batch = notes.slice(0, batchMax);
      notes = notes.slice(batchMax);
      const spans = batch.flatMap((note) =>
        'exchange' in note ? spansOf(note.exchange) : [spanOfDelivery(note.delivery)],
      );
      if (spans.length === 0) continue;
      const { refused, unreachable } = await exporter.send(spans);
      counts.sent += spans.length - refused - unreachable;
      counts.droppedRefused += refused;
      counts.droppedUnreachable += unreachable;
    }
  }

  return {
    answered: (exchange) =>
      add({ exchange: { exchange, endedAtMs: performance.now(), toWallMs: wallOffsetMs() } }),
    delivering(host) {
      const context = createSpanContext();
      const startedAtMs = performance.now();
      return {
        traceparent: traceparentOf(context),
        ended: (httpStatus) =>
          add({
            delivery: {
              context,
              host,
              startedAtMs,
              httpStatus,
              endedAtMs: performance.now(),
              toWallMs: wallOffsetMs(),
            },
          }),
      };
    },
    counts: () => counts,
    async close() {
      clearInterval(timer);
      await Promise.race([flush().then(flush), wait(closeMs, undefined, { ref: false })]);
      exporter.close();
    },
  };
}

/** The offset that turns a reading of `performance.now` into the machine's time. */
function wallOffsetMs(): number {
  return Date.now() - performance.now();
}

/** How many spans of a batch are lost. */
interface LostSpans {
  readonly refused: number;
  readonly unreachable: number;
}

interface Exporter {
  /** Sends a batch, again where that may help. Never rejects. */
  send(spans: readonly OtlpSpan[]): Promise<LostSpans>;
  /** Logs that spans are dropped, at most once a minute. */
  tell(reason: string): void;
  close(): void;
}

/** Statuses after which the protocol allows the same batch to be sent again. */
const retryable: ReadonlySet<number> = new Set([429, 502, 503, 504]);

function createExporter(options: TracingOptions): Exporter {
  const { address, headers = new Map(), exportTimeoutMs = defaultExportTimeoutMs } = options;
  const scope: Scope = {
    version: engineVersions.writ,
    resource: { ...options.resource, 'service.version': engineVersions.writ },
  };
  const post = boundedFetch({ bytesMax: answerBytesMax, timeoutMs: exportTimeoutMs });
  const closing = new AbortController();
  const tell = createFailureLog(options);

  async function attempt(body: string): Promise<Response | null> {
    try {
      return await post(address, {
        method: 'POST',
        headers: { ...Object.fromEntries(headers), 'content-type': 'application/json' },
        body,
        signal: closing.signal,
      });
    } catch {
      return null;
    }
  }

  return {
    async send(spans) {
      const body = exportRequest(spans, scope);
      for (let attempts = 1; ; attempts++) {
        const reply = await attempt(body);
        if (reply?.ok === true) {
          const refused = await refusedOf(reply, spans.length);
          if (refused > 0) tell(`the collector refused ${refused} spans`);
          return { refused, unreachable: 0 };
        }
        if (reply !== null && !retryable.has(reply.status)) {
          tell(`the collector answered ${reply.status}`);
          return { refused: spans.length, unreachable: 0 };
        }
        if (attempts === attemptsMax || closing.signal.aborted) {
          tell(reply === null ? 'the collector does not answer' : `the collector answered ${reply.status}`);
          return { refused: 0, unreachable: spans.length };
        }
        await pause(pauseMs(reply, attempts, options.retryMs ?? defaultRetryMs), closing.signal);
      }
    },
    tell,
    close: () => closing.abort(),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return wait(ms, undefined, { ref: false, signal }).catch(() => undefined);
}

/** How long to wait for the next attempt: what the collector says, or twice as long each time. */
function pauseMs(reply: Response | null, attempts: number, retryMs: number): number {
  const seconds = Number(reply?.headers.get('retry-after') ?? Number.NaN);
  const delayMs = Number.isFinite(seconds) && seconds >= 0 ? seconds * 1_000 : retryMs * 2 ** (attempts - 1);
  return Math.min(delayMs, retryMaxMs);
}

/** How many spans a collector that accepted the batch has refused all the same. */
async function refusedOf(reply: Response, spanCount: number): Promise<number> {
  const answer = (await reply.json().catch(() => null)) as {
    readonly partialSuccess?: { readonly rejectedSpans?: unknown };
  } | null;
  const refused = Number(answer?.partialSuccess?.rejectedSpans ?? 0);
  return Number.isSafeInteger(refused) && refused > 0 ? Math.min(refused, spanCount) : 0;
}

function createFailureLog({ log, address }: TracingOptions): (reason: string) => void {
  let toldAtMs = -Infinity;
  return (reason) => {
    if (performance.now() - toldAtMs < warnEveryMs) return;
    toldAtMs = performance.now();
    const collector = new URL(address).host;
    log.warn(
      { collector, reason },
      'could not send traces (OTLP over HTTP, usually port 4318); dropping them',
    );
  };
}

/** What the settings say of traces. */
export interface TraceSettings {
  readonly otelEndpoint: string | null;
  readonly otelTracesEndpoint: string | null;
  readonly otelHeaders: ReadonlyMap<string, string>;
  readonly otelServiceName: string;
  readonly otelResourceAttributes: ReadonlyMap<string, string>;
  readonly isOtelDisabled: boolean;
}

/** The options of a tracing by the settings; null when nothing is to be traced. */
export function tracingOptionsOf(
  settings: TraceSettings,
  instanceId: string,
): Omit<TracingOptions, 'log'> | null {
  const { otelEndpoint, otelTracesEndpoint, isOtelDisabled } = settings;
  const address =
    otelTracesEndpoint ?? (otelEndpoint === null ? null : `${otelEndpoint.replace(/\/+$/, '')}/v1/traces`);
  if (address === null || isOtelDisabled) return null;
  const resource = {
    'service.instance.id': instanceId,
    ...Object.fromEntries(settings.otelResourceAttributes),
    'service.name': settings.otelServiceName,
  };
  return { address, headers: settings.otelHeaders, resource };
}
