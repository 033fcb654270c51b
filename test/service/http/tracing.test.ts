// Spans as a collector receives them, over real HTTP; a collector that is down or silent changes nothing
// else.

import { readFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { openTracing, type RequestTracing } from '../../../src/service/http/telemetry/tracing.ts';
import { withoutPackages } from '../../cli/missing-packages.ts';
import { addAgent, ask, startService as startProgram } from '../../e2e/acceptance/service.ts';
import { listening } from './listening.ts';
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
}

/** A collector that accepts spans; a silent one never answers. */
async function startCollector({ isSilent = false } = {}): Promise<Collector> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk) => {
      text += String(chunk);
    });
    request.on('end', () => {
      received.push({ url: request.url, headers: request.headers, text });
      if (!isSilent) response.setHeader('content-type', 'application/json').end('{}');
    });
  });
  return { endpoint: `${await listening(server)}/`, received };
}

function spansOf({ received }: Collector): readonly SpanSent[] {
  return received.flatMap(({ text }) => {
    const { resourceSpans } = JSON.parse(text) as {
      resourceSpans: { scopeSpans: { spans: SpanSent[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

function attributesOf({ attributes }: SpanSent): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}

interface Traced {
  readonly tracing: RequestTracing;
  readonly warnings: readonly object[];
}

async function trace(endpoint: string, exportTimeoutMs = 1_000): Promise<Traced> {
  const warnings: object[] = [];
  const log = { warn: (fields: object, message: string) => void warnings.push({ ...fields, message }) };
  const tracing = await openTracing({ endpoint, log, exportTimeoutMs });
  onTestFinished(() => tracing.close());
  return { tracing, warnings };
}

test('a decision is a span of the caller, with its stages in it', async () => {
  const collector = await startCollector();
  const { tracing } = await trace(collector.endpoint);
  const service = await startService({ tracing });
  const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
  const headers = { traceparent: `00-${traceId}-00f067aa0ba902b7-01` };
  const beforeMs = Date.now();
  const view = (await (await authorize(service, { headers })).json()) as { request_id: string };
  const afterMs = Date.now();
  await tracing.close();
  const [first] = collector.received;
  expect(first).toMatchObject({ url: '/v1/traces', headers: { 'content-type': 'application/json' } });
  expect(first?.text).toContain('"service.name"');
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

test('a hook call is a span of its own route, decided or refused, and counts in the time of decisions', async () => {
  const collector = await startCollector();
  const { tracing } = await trace(collector.endpoint);
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
  expect(whole.map((span) => attributesOf(span)['error.type'] === undefined)).toEqual([true, false]);
  expect(metrics).toContain('writ_authorize_seconds_count 2\n');
});

test('a refusal is a span with its code, a request of nobody is none, and nothing that was sent is in either', async () => {
  const collector = await startCollector();
  const { tracing } = await trace(collector.endpoint);
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

test.each(['00-x-y-01', '00-00000000000000000000000000000000-00f067aa0ba902b7-01', ''])(
  'a `traceparent` that is none begins a trace of its own: %j',
  async (traceparent) => {
    const collector = await startCollector();
    const { tracing } = await trace(collector.endpoint);
    const service = await startService({ tracing });
    expect((await authorize(service, { headers: { traceparent } })).status).toBe(200);
    await tracing.close();
    const whole = spansOf(collector).find(({ name }) => name === 'POST /v1/authorize');
    expect(whole?.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(whole?.traceId).not.toMatch(/^0+$/);
    expect(whole?.parentSpanId ?? '').toBe('');
  },
);

test('a caller who traces nothing is followed', async () => {
  const collector = await startCollector();
  const { tracing } = await trace(collector.endpoint);
  const service = await startService({ tracing });
  await authorize(service, {
    headers: { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00' },
  });
  await tracing.close();
  expect(collector.received).toEqual([]);
});

test('a collector that is down: requests are answered as ever, and the log says so once', async () => {
  // Port 9 belongs to the discard service, which nobody runs.
  const { tracing, warnings } = await trace('http://127.0.0.1:9', 300);
  const service = await startService({ tracing });
  for (let count = 0; count < 20; count++) {
    expect(await (await authorize(service)).json()).toMatchObject({ decision: 'ALLOW' });
  }
  await tracing.close();
  expect(warnings).toMatchObject([
    { collector: '127.0.0.1:9', message: expect.stringContaining('dropping') },
  ]);
});

test('a collector that never answers: requests are answered, what waits is bounded, and the stop is not held up', async () => {
  const collector = await startCollector({ isSilent: true });
  const { tracing } = await trace(collector.endpoint, 60_000);
  const service = await startService({ tracing });
  for (let count = 0; count < 2_000; count++) {
    const body = count % 2 === 0 ? allowBody : '{';
    expect((await authorize(service, { body })).status).toBe(count % 2 === 0 ? 200 : 400);
  }
  const start = performance.now();
  await tracing.close();
  expect(performance.now() - start).toBeLessThan(10_000);
});

test('the library is loaded by one file, and only once a collector is configured', () => {
  const source = readFileSync(
    new URL('../../../src/service/http/telemetry/tracing.ts', import.meta.url),
    'utf8',
  );
  const values = source.match(/^import (?!type ).*'@opentelemetry/gm);
  expect(values).toBeNull();
  expect(source).toContain("import('@opentelemetry/api')");
});

test('a service without the library starts and decides', async () => {
  const { optionalDependencies: packages } = JSON.parse(readFileSync('package.json', 'utf8'));
  const running = await startProgram({
    policies: 'policies',
    env: {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318',
      ...withoutPackages(Object.keys(packages).filter((name) => name.startsWith('@opentelemetry/'))),
    },
  });
  onTestFinished(async () => void (await running.end('SIGTERM')));
  expect(running.output()).toContain('OpenTelemetry could not be loaded: no traces are sent');
  const key = await addAgent(running.data, 'tracer');
  const { status } = await ask(running.url, key, { action_key: 'none.such', payload: {} });
  expect(status).toBe(200);
});
