// Spans as a collector receives them, over real HTTP; a collector that is down or silent changes nothing
// else.

import { createServer, type IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import {
  openTracing,
  type RequestTracing,
  type TracingOptions,
} from '../../../src/service/http/telemetry/tracing.ts';
import { addAgent, ask, startService as startProgram, temporary } from '../../e2e/acceptance/service.ts';
import { listening } from './listening.ts';
import { faultsOf } from './otlp-messages.ts';
import { allowBody, authorize, startService } from './service.ts';

interface SpanSent {
  readonly name: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

interface Received {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

interface Collector {
  readonly endpoint: string;
  readonly received: readonly Received[];
  /** What is wrong with what was received, by the definition of the protocol. */
  readonly faults: readonly string[];
}

interface Answer {
  readonly status?: number;
  readonly body?: object;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A collector that answers each message as told; a null answer never comes. */
async function startCollector(answerOf: (count: number) => Answer | null = () => ({})): Promise<Collector> {
  const received: Received[] = [];
  const faults: string[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      received.push({ url: request.url, headers: request.headers, text });
      faults.push(...faultsOf('ExportTraceServiceRequest', JSON.parse(text)));
      const answer = answerOf(received.length);
      if (answer === null) return;
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json', ...answer.headers });
      response.end(JSON.stringify(answer.body ?? {}));
    });
  });
  return { endpoint: `${await listening(server)}/`, received, faults };
}

/** Each span once: on a busy machine a batch may be sent again before its answer comes. */
function spansOf({ received }: Collector): readonly SpanSent[] {
  const all = received.flatMap(({ text }) => {
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: { scopeSpans: { spans: SpanSent[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
  return [...new Map(all.map((span) => [span.spanId, span])).values()];
}

function attributesOf({ attributes }: Pick<SpanSent, 'attributes'>): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

interface Traced {
  readonly tracing: RequestTracing;
  readonly warnings: readonly object[];
}

function trace(endpoint: string, options: Partial<TracingOptions> = {}): Traced {
  const warnings: object[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push({ ...fields, message }) };
  const address = `${endpoint.replace(/\/$/, '')}/v1/traces`;
  const tracing = openTracing({ address, log, exportTimeoutMs: 1_000, retryMs: 10, ...options });
  onTestFinished(() => tracing.close());
  return { tracing, warnings };
}

test('a decision is a span in the trace of the caller, with its stages', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const beforeMs = Date.now();
  const view = (await (await authorize(service, { headers })).json()) as { request_id: string };
  const afterMs = Date.now();
  await tracing.close();
  const [first] = collector.received;
  expect(first).toMatchObject({ url: '/v1/traces', headers: { 'content-type': 'application/json' } });
  expect(collector.faults).toEqual([]);
  const spans = spansOf(collector);
  expect(spans.map(({ name }) => name).sort()).toEqual([
    'POST /v1/authorize',
    'check',
    'decide',
    'receive',
    'record',
  ]);
  expect(new Set(spans.map((span) => span.traceId))).toEqual(new Set([traceId]));
  const whole = spans.find(({ name }) => name === 'POST /v1/authorize')!;
  expect(whole.parentSpanId).toBe('00f067aa0ba902b7');
  expect(attributesOf(whole)).toMatchObject({
    'writ.decision': 'ALLOW',
    'writ.policy': 'demo',
    'writ.rule': 'demo/most',
    'writ.status': 'auto_approved',
    'writ.request_id': view.request_id,
    'writ.agent_id': service.agent.id,
    'http.route': '/v1/authorize',
  });
  expect([
    Number(attributesOf(whole)['writ.risk']),
    Number(attributesOf(whole)['http.response.status_code']),
  ]).toEqual([7, 200]);
  const stages = spans.filter((span) => span !== whole);
  for (const stage of stages) {
    expect(stage.parentSpanId).toBe(whole.spanId);
    expect(BigInt(stage.startTimeUnixNano)).toBeGreaterThanOrEqual(BigInt(whole.startTimeUnixNano));
    expect(BigInt(stage.endTimeUnixNano)).toBeLessThanOrEqual(BigInt(whole.endTimeUnixNano));
  }
  const wholeMs = [whole.startTimeUnixNano, whole.endTimeUnixNano].map((nanos) =>
    Number(BigInt(nanos) / 1_000_000n),
  );
  expect(wholeMs[0]).toBeGreaterThanOrEqual(beforeMs - 1);
  expect(wholeMs[1]).toBeLessThanOrEqual(afterMs + 1);
});

test('spans have the names of the conventions for generative AI', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  const headers = { 'x-agent-session': 'conversation 7' };
  const asked = ['demo.allow', 'demo.escalate', 'demo.deny', 'hush-hush.made-up'];
  for (const action of asked)
    await authorize(service, { headers, body: JSON.stringify({ action_key: action, payload: {} }) });
  await authorize(service, { headers, body: '{' });
  await tracing.close();
  const agent = { 'gen_ai.agent.id': service.agent.id, 'gen_ai.agent.name': service.agent.name };
  const call = {
    ...agent,
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.conversation.id': 'conversation 7',
  };
  const told = spansOf(collector)
    .filter(({ name }) => name === 'POST /v1/authorize')
    .map((span) => Object.entries(attributesOf(span)).filter(([key]) => /^gen_ai|^error/.test(key)));
  expect(told.map((entries) => Object.fromEntries(entries))).toEqual([
    { ...call, 'gen_ai.tool.name': 'demo.allow' },
    { ...call, 'gen_ai.tool.name': 'demo.escalate' },
    { ...call, 'gen_ai.tool.name': 'demo.deny', 'error.type': 'denied' },
    // A name that no policy declares is a text of the client.
    { ...call, 'gen_ai.tool.name': '_OTHER', 'error.type': 'denied' },
    { ...agent, 'error.type': 'invalid_json' },
  ]);
  expect(collector.received.map(({ text }) => text).join('')).not.toContain('hush-hush');
  expect(collector.faults).toEqual([]);
  expect(new Set(told.flat().map(([key]) => key))).toEqual(new Set(conventionalNames));
});

/** The attributes of the semantic conventions 1.41 that are used, as their registry spells them. */
const conventionalNames = [
  'error.type',
  'gen_ai.agent.id',
  'gen_ai.agent.name',
  'gen_ai.conversation.id',
  'gen_ai.operation.name',
  'gen_ai.tool.name',
];

test('a hook call is a span of its own route, decided or refused, and counts in the decision times', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  const call = (input: object) =>
    fetch(`${service.url}/v1/hooks/claude-code?wait=0`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-agent-api-key': service.apiKey },
      body: JSON.stringify({ hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_use_id: 't1', ...input }),
    });
  await call({ session_id: 's', tool_input: { command: 'ls' } });
  await call({ session_id: '\n', tool_input: {} });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  await tracing.close();
  const whole = spansOf(collector).filter(({ name }) => name.startsWith('POST '));
  expect(whole.map(({ name }) => name)).toEqual(Array(2).fill('POST /v1/hooks/claude-code'));
  expect(whole.map((span) => attributesOf(span)['http.route'])).toEqual(
    Array(2).fill('/v1/hooks/claude-code'),
  );
  expect(whole.map((span) => attributesOf(span)['error.type'])).toEqual(['denied', 'invalid_header']);
  expect(metrics).toContain('writ_authorize_seconds_count 2\n');
});

test('a refusal is a span with its code, an unauthenticated request is none, and no span has payload values', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  await authorize(service, { body: '{"action_key":"hush-hush","payload":{"a":"hush-hush"},"x":1}' });
  await authorize(service, { body: '{"action_key":"demo.allow","payload":{"a":"hush-hush"}}' });
  await authorize(service, { key: 'writ_bad' });
  await tracing.close();
  const whole = spansOf(collector).filter(({ name }) => name === 'POST /v1/authorize');
  expect(whole.map((span) => attributesOf(span)['error.type'])).toEqual(['invalid_envelope', undefined]);
  const sent = collector.received.map(({ text }) => text).join('');
  for (const secret of ['hush-hush', service.apiKey]) expect(sent).not.toContain(secret);
});

test.each([
  '00-x-y-01',
  '00-00000000000000000000000000000000-00f067aa0ba902b7-01',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-0000000000000000-01',
  'ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01-more',
  '',
])('a `traceparent` that is none begins a trace of its own: %j', async (traceparent) => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  expect((await authorize(service, { headers: { traceparent } })).status).toBe(200);
  await tracing.close();
  const whole = spansOf(collector).find(({ name }) => name === 'POST /v1/authorize');
  expect(whole?.traceId).toMatch(/^[0-9a-f]{32}$/);
  expect(whole?.traceId).not.toMatch(/^0+$/);
  expect(whole?.parentSpanId ?? '').toBe('');
});

test('a caller whose trace is not sampled is not sampled here', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  await authorize(service, {
    headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' },
  });
  await tracing.close();
  expect(collector.received).toEqual([]);
});

test('with a collector that is down, requests are answered as usual, and the log says so once', async () => {
  // Port 9 belongs to the discard service, which nobody runs.
  const { tracing, warnings } = trace('http://127.0.0.1:9', { exportTimeoutMs: 300 });
  const service = await startService({ tracing });
  for (let count = 0; count < 20; count++) {
    expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
  }
  await tracing.close();
  expect(warnings).toMatchObject([
    { collector: '127.0.0.1:9', message: expect.stringContaining('dropping') },
  ]);
});

test('with a collector that hangs, requests are answered, the queue is bounded, and a stop is not delayed', async () => {
  const collector = await startCollector(() => null);
  const { tracing } = trace(collector.endpoint, { exportTimeoutMs: 60_000 });
  const service = await startService({ tracing });
  for (let count = 0; count < 200; count++) {
    const body = count % 2 === 0 ? allowBody : '{';
    expect((await authorize(service, { body })).status).toBe(count % 2 === 0 ? 200 : 400);
  }
  const start = performance.now();
  await tracing.close();
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('each message follows the protocol, with the attributes of the service', async () => {
  const collector = await startCollector();
  const headers = new Map([['authorization', 'Bearer hush']]);
  const resource = { 'service.name': 'gate', 'service.instance.id': 'one' };
  const { tracing } = trace(collector.endpoint, { headers, resource });
  const service = await startService({ tracing });
  await authorize(service);
  await tracing.close();
  const [message] = collector.received;
  expect(message?.headers.authorization).toBe('Bearer hush');
  const { resourceSpans } = JSON.parse(message?.text ?? '') as {
    resourceSpans: { resource: Pick<SpanSent, 'attributes'>; scopeSpans: { scope: object }[] }[];
  };
  expect(attributesOf(resourceSpans[0]!.resource)).toMatchObject({
    'service.name': 'gate',
    'service.instance.id': 'one',
    'service.version': expect.stringMatching(/^\d/),
  });
  expect(resourceSpans[0]!.scopeSpans[0]!.scope).toMatchObject({ name: 'writ' });
  expect(collector.faults).toEqual([]);
  expect(tracing.counts()).toEqual({
    sent: 5,
    droppedWaiting: 0,
    droppedUnreachable: 0,
    droppedRefused: 0,
  });
});

test('the check of messages finds violations of the protocol', () => {
  const span = {
    traceId: 'S/kvNXezTaajzpKdDg5HNg==',
    start_time_unix_nano: '1',
    startTimeUnixNano: 1,
    kind: 'SPAN_KIND_SERVER',
  };
  const found = faultsOf('ExportTraceServiceRequest', {
    resourceSpans: [{ scopeSpans: [{ spans: [span] }] }],
  });
  expect(found).toEqual([
    'resourceSpans[0].scopeSpans[0].spans[0].traceId is not 32 hexadecimal digits',
    'resourceSpans[0].scopeSpans[0].spans[0].start_time_unix_nano is no field of Span',
    'resourceSpans[0].scopeSpans[0].spans[0].startTimeUnixNano is not a 64-bit number as text',
    'resourceSpans[0].scopeSpans[0].spans[0].kind is not a number of 32 bits',
  ]);
});

test('a busy collector is tried again, and one that refuses is not', async () => {
  const busy = await startCollector((count) => (count < 3 ? { status: 503 } : {}));
  const first = trace(busy.endpoint);
  await authorize(await startService({ tracing: first.tracing }));
  await first.tracing.close();
  expect(busy.received).toHaveLength(3);
  expect(first.tracing.counts()).toMatchObject({ sent: 5, droppedUnreachable: 0 });

  const refusing = await startCollector(() => ({ status: 401 }));
  const second = trace(refusing.endpoint);
  await authorize(await startService({ tracing: second.tracing }));
  await second.tracing.close();
  expect(refusing.received).toHaveLength(1);
  expect(second.tracing.counts()).toMatchObject({ sent: 0, droppedRefused: 5 });
  expect(second.warnings).toMatchObject([{ reason: 'the collector answered 401' }]);
});

test('spans that a collector refuses among others are counted', async () => {
  const body = { partialSuccess: { rejectedSpans: '2', errorMessage: 'too old' } };
  const collector = await startCollector(() => ({ body }));
  const { tracing } = trace(collector.endpoint);
  const service = await startService({ tracing });
  await authorize(service);
  await tracing.close();
  expect(tracing.counts()).toMatchObject({ sent: 3, droppedRefused: 2 });
  const metrics = await (await fetch(`${service.url}/metrics`)).text();
  expect(metrics).toContain('writ_trace_spans_sent_total 3\n');
  expect(metrics).toContain('writ_trace_spans_dropped_total{reason="refused"} 2\n');
});

test('a delivery is a span, whose context is sent to the receiver', async () => {
  const collector = await startCollector();
  const { tracing } = trace(collector.endpoint);
  const delivery = tracing.delivering('hooks.example.com');
  delivery.ended(204);
  tracing.delivering('hooks.example.com').ended(null);
  await tracing.close();
  const [good, bad] = spansOf(collector);
  expect(delivery.traceparent).toBe(`00-${good!.traceId}-${good!.spanId}-01`);
  expect(attributesOf(good!)).toMatchObject({
    'server.address': 'hooks.example.com',
    'http.response.status_code': '204',
  });
  expect(attributesOf(bad!)).toMatchObject({ 'error.type': 'no_answer' });
  expect(collector.faults).toEqual([]);
});

test('requests are queued up to a limit while a batch is sent', async () => {
  const collector = await startCollector(() => null);
  const { tracing } = trace(collector.endpoint, { exportTimeoutMs: 60_000 });
  const exchange = {
    traceparent: undefined,
    path: '/v1/authorize',
    requestId: 'r',
    agentId: 'a',
    agentName: 'buyer',
    startedAtMs: 0,
    httpStatus: 400,
    errorCode: 'invalid_json',
    decided: null,
  };
  for (let count = 0; count < 5_000; count++) tracing.answered(exchange);
  expect(tracing.counts().droppedWaiting).toBe(5_000 - 4_096);
});

test('the standard variables turn on traces, and no value of them prevents a start', async () => {
  const collector = await startCollector();
  const data = temporary('data');
  const start = (env: Readonly<Record<string, string>>) => startProgram({ policies: 'policies', data, env });
  const service = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=a%20b',
    OTEL_SERVICE_NAME: 'gate',
    OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
  });
  onTestFinished(() => void service.end('SIGKILL'));
  const key = await addAgent(data, 'tracer');
  expect((await ask(service.url, key, { action_key: 'none.such', payload: {} })).status).toBe(200);
  await service.end('SIGTERM');
  expect(collector.received[0]?.headers['x-tenant']).toBe('a b');
  expect(collector.received[0]?.text).toContain('{"key":"service.name","value":{"stringValue":"gate"}}');
  expect(collector.received[0]?.text).toContain('deployment.environment.name');
  expect(collector.faults).toEqual([]);

  const wrong = await start({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4317',
    OTEL_EXPORTER_OTLP_HEADERS: 'no pair',
    OTEL_SDK_DISABLED: 'perhaps',
  });
  onTestFinished(() => void wrong.end('SIGKILL'));
  expect((await ask(wrong.url, key, { action_key: 'none.such', payload: {} })).status).toBe(200);
  expect(wrong.output()).toContain('ignoring a standard variable');
});
