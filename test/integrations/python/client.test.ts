// Both clients for Python, against the real service and against broken ones.

import { createServer } from 'node:http';
import { join } from 'node:path';
import { beforeAll, describe, expect, test, vi } from 'vitest';
import { createRandom } from '../../../src/language/value/random.ts';
import { setSigning } from '../../../src/service/agents/registry.ts';
import { canonicalJson } from '../../../src/service/store/contract/canonical-json.ts';
import { listening } from '../../service/http/listening.ts';
import { firstAdmin, personWith } from '../../service/http/person-client.ts';
import { type Service, startService } from '../../service/http/service.ts';
import { give } from '../../service/http/written-policies.ts';
import { everything, temporaryFolder } from '../../service/store/rows.ts';
import { inPython, requirePython, settingsOf } from './python.ts';

beforeAll(requirePython);

interface SentRequest {
  readonly url: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A server that keeps what it is sent, and refuses all of it. */
async function refusingServer() {
  const sent: SentRequest[] = [];
  const server = createServer(async (request, response) => {
    const body = Buffer.concat(await request.toArray()).toString();
    sent.push({ url: request.url ?? '', headers: request.headers, body });
    response.writeHead(403, { 'content-type': 'application/json' }).end('{}');
  });
  return { url: await listening(server), key: 'writ_k', sent };
}

async function approverOf(service: Service) {
  const admin = await firstAdmin(service);
  return personWith(service, admin, { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] });
}

describe.each(['Writ', 'AsyncWrit'])('%s', (kind) => {
  test('a delegated client runs what was passed on, and nothing else', async () => {
    const service = await startService();
    const [[outcomes, refused], runs] = await inPython(
      { ...settingsOf(service), kind },
      `
from datetime import datetime, timedelta, timezone
client = connect()
end = datetime.now(timezone.utc) + timedelta(minutes=5)
sub = do(client.delegate('sub', ['demo.allow'], end, uses=2))
below = do(sub.client.delegate('below', ['demo.allow'], end))
asked = [(sub, 'allow'), (sub, 'reauth'), (below, 'allow'), (below, 'allow')]
outcomes = [outcome(lambda: guarded(one.client, 'demo.' + verb)(n=4))[0] for one, verb in asked]
do(client.revoke_delegation(sub.id))
say([[outcomes, outcome(lambda: do(sub.client.delegate('more', ['demo.allow'], end)))], len(runs)])`,
    );
    expect(outcomes).toEqual(['ran', 'DeniedError', 'ran', 'DeniedError']);
    expect(refused).toEqual(['DeniedError', expect.stringContaining('the delegation `sub` is revoked')]);
    expect(runs).toBe(2);
    const consumed = { ...everything, agentId: service.agent.id, status: 'consumed' } as const;
    const { items } = await service.store.requests.list({
      ...consumed,
      nowMs: Date.now(),
      after: null,
      countMax: 9,
    });
    expect(items).toHaveLength(2);
  });

  test('plans steps, and goes on with those that are approved', async () => {
    const service = await startService();
    const change = await setSigning(service.store, {
      agentId: service.agent.id,
      signing: 'required',
      nowMs: Date.now(),
    });
    const secret = change.kind === 'changed' ? change.signingSecret : null;
    const ben = await approverOf(service);
    const settings = { ...settingsOf(service), kind, secret };
    const steps = "[('demo.escalate', {'n': n}) for n in range(3)] + [('demo.allow', {}), ('demo.deny', {})]";
    const [shown, planned, refused] = await inPython(
      settings,
      `
client = connect(signing_secret=given['secret'])
steps = ${steps}
shown = do(client.plan(steps))
planned = do(client.plan(steps, goal='all', submit=True, idempotency_key='once', session='s1'))
again = do(client.plan(steps, goal='all', submit=True, idempotency_key='once', session='s1'))
refused = outcome(lambda: do(client.plan([('no.such', {})])))
words = lambda plan: [[one.decision, one.status] for one in plan.steps]
say([[words(shown), shown.pending, shown.until, do(client.get_plan('none'))],
     [planned.id, again.id == planned.id, words(planned), planned.until is not None, planned.url], refused])`,
    );
    const decisions = ['ESCALATE', 'ESCALATE', 'ESCALATE', 'ALLOW', 'DENY'];
    expect(shown).toEqual([decisions.map((one) => [one, null]), 0, null, null]);
    const [id, isSame, words, hasEnd, page] = planned;
    expect([isSame, hasEnd, page]).toEqual([true, true, `${service.url}/plans/${id}`]);
    expect(words).toEqual(decisions.map((one) => [one, one === 'ESCALATE' ? 'pending' : null]));
    expect(refused).toEqual(['DeniedError', expect.stringContaining('/steps/0/action_key')]);
    await ben.send(`/v1/plans/${id}/votes`, { method: 'POST', body: { vote: 'approve', comment: '' } });
    const outcomes = await inPython(
      { ...settings, id },
      `
client = connect(signing_secret=given['secret'], session='s1', wait=0)
plan = do(client.get_plan(given['id']))
say([[one.status for one in plan.steps], [outcome(lambda: guarded(client, 'demo.escalate')(n=n))[0] for n in range(4)]])`,
    );
    expect(outcomes).toEqual([
      ['approved', 'approved', 'approved', null, null],
      ['ran', 'ran', 'ran', 'PendingError'],
    ]);
  });

  test('runs under a grant and under nothing else', async () => {
    const service = await startService();
    const [results, runs] = await inPython(
      { ...settingsOf(service), kind },
      `
client = connect()
verbs = ['allow', 'deny', 'escalate', 'reauth', 'other']
say([[outcome(lambda: guarded(client, 'demo.' + verb)(n=4)) for verb in verbs], len(runs)])`,
    );
    expect(results.map(([outcome]: readonly string[]) => outcome)).toEqual([
      'ran',
      'DeniedError',
      'PendingError',
      'StepUpRequiredError',
      'DeniedError',
    ]);
    expect(runs).toBe(1);
    expect(await service.store.requests.openOf(service.agent.id, 5)).toHaveLength(2);
  });

  test('sends the person and the session', async () => {
    const { sent, ...settings } = await refusingServer();
    await inPython(
      { ...settings, kind },
      `
def later(text):
    async def source():
        return text
    return source if given['kind'] == 'AsyncWrit' else lambda: text
client = connect(on_behalf_of=lambda: 'a.b.c', session=later('s1'))
do(client.authorize('demo.allow', {}))
do(client.authorize('demo.allow', {}, on_behalf_of=later('d.e.f'), session='s2'))
do(connect(agent='buyer').authorize('demo.allow', {}))
say(0)`,
    );
    const names = ['x-on-behalf-of', 'x-agent-session', 'x-writ-agent'] as const;
    expect(sent.map(({ headers }) => names.map((name) => headers[name]))).toEqual([
      ['a.b.c', 's1', undefined],
      ['d.e.f', 's2', undefined],
      [undefined, undefined, 'buyer'],
    ]);
  });

  test('names the span of the call, whatever the tracing of the program does', async () => {
    const { sent, ...settings } = await refusingServer();
    const span = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01';
    await inPython(
      { ...settings, kind, span },
      `
def fails():
    raise RuntimeError('no tracing')
span = given['span']
for traceparent in [None, span, lambda: span, lambda: None, fails, 'none', span + '\\n', 7]:
    do(connect(traceparent=traceparent).authorize('demo.allow', {}))
say(0)`,
    );
    const nothing = Array(5).fill(undefined);
    expect(sent.map(({ headers }) => headers.traceparent)).toEqual([undefined, span, span, ...nothing]);
  });

  test('signs where the agent signs', async () => {
    const service = await startService();
    const agentId = service.agent.id;
    const change = await setSigning(service.store, { agentId, signing: 'required', nowMs: Date.now() });
    const secret = change.kind === 'changed' ? change.signingSecret : null;
    const program = `
clients = [connect(signing_secret=one) for one in (given['secret'], 'writsec_x', None)]
say([outcome(lambda: guarded(client, 'demo.allow')(n=1))[0] for client in clients])`;
    expect(await inPython({ ...settingsOf(service), secret, kind }, program)).toEqual([
      'ran',
      'DeniedError',
      'DeniedError',
    ]);
  });

  test('waits for people, and comes back to their approval once', async () => {
    const service = await startService();
    const ben = await approverOf(service);
    const call = (wait: number) =>
      inPython(
        { ...settingsOf(service), kind, wait },
        "say(outcome(lambda: guarded(connect(wait=given['wait']), 'demo.escalate')(n=4)))",
      );
    const waiting = call(30);
    const id = await vi.waitFor(async () => {
      const [first] = await service.store.requests.openOf(service.agent.id, 1);
      expect(first).toBeDefined();
      return first!;
    }, 30_000);
    await give(ben, id, 'approve');
    expect(await waiting).toEqual(['ran', 8]);
    expect((await call(0))[0]).toBe('PendingError');
    const [next = ''] = await service.store.requests.openOf(service.agent.id, 1);
    await give(ben, next, 'approve');
    expect(await call(0)).toEqual(['ran', 8]);
  });

  test('looks at requests, withdraws them, and reports outcomes', async () => {
    const service = await startService();
    const found = await inPython(
      { ...settingsOf(service), kind },
      `
client = connect()
pending = do(client.authorize('demo.escalate', {}))
states = [do(client.get_request(pending.request_id)).status, do(client.get_request('nothing'))]
do(client.withdraw(pending.request_id))
states.append(do(client.get_request(pending.request_id, wait=5)).status)
states.append(outcome(lambda: client.withdraw('nothing'))[0])
keys = ['one', 'one', 'two', 'three']
grants = [do(client.authorize('demo.allow', {}, idempotency_key=key)).request_id for key in keys]
do(client.report(grants[0], True))
do(client.report_all([(grants[2], False, None), (grants[3], True, None)]))
states += [do(client.get_request(one)).status for one in grants]
say([states, len(set(grants)), [[one.action, one.grant] for one in do(client.actions('demo.'))]])`,
    );
    expect(found).toEqual([
      ['pending', null, 'withdrawn', 'DeniedError', 'consumed', 'consumed', 'consumed', 'consumed'],
      3,
      [
        ['demo.allow', 'possible'],
        ['demo.deny', 'never'],
        ['demo.escalate', 'after_approval'],
        ['demo.reauth', 'after_approval'],
      ],
    ]);
  });

  test('reads its address and key from the environment, and refuses what cannot be', async () => {
    const service = await startService();
    const found = await inPython(
      { ...settingsOf(service), kind },
      `
import os
kind = getattr(writ, given['kind'])
def fault(*args, **settings):
    try:
        kind(*args, **settings)
    except (ValueError, OSError) as error:
        return str(error)
faults = [fault(), fault('https://x'), fault('writ.example.com', 'k'), fault('https://x', 'k\\n')]
faults.append(fault('https://x', 'k', ca_file='a', ssl_context=object()))
os.environ['WRIT_URL'], os.environ['WRIT_API_KEY'] = given['url'] + '/', given['key']
say([faults, repr(kind()) == f"{given['kind']}('{given['url']}')", outcome(lambda: guarded(kind(), 'demo.allow')(n=1))])`,
    );
    expect(found).toEqual([
      [
        'give the client `url`, or set WRIT_URL',
        'give the client `key`, or set WRIT_API_KEY',
        "'writ.example.com' is no address such as https://writ.example.com",
        "the key must be a text of ASCII letters, digits and signs: 'k\\n'",
        'give ssl_context, or ca_file and client_certificate',
      ],
      true,
      ['ran', 2],
    ]);
  });

  test('tells what to say to a model, in place of an exception', async () => {
    const service = await startService();
    const found = await inPython(
      { ...settingsOf(service), kind },
      `
told = lambda client, verb: do(guarded(client, 'demo.' + verb, on_refusal=lambda error: error.model_text)(n=1))
texts = [told(connect(), verb) for verb in ('allow', 'deny', 'escalate', 'undeclared')]
given['url'] = 'http://127.0.0.1:9'
say([*texts, told(connect(), 'allow')])`,
    );
    expect(found).toEqual([
      2,
      expect.stringMatching(/^Not permitted by policy demo: the demo says demo\.deny\./),
      expect.stringMatching(/Nothing was carried out\. Make the same call again to go on\.$/),
      expect.stringMatching(/^Not permitted/),
      expect.stringMatching(
        /^Not run: there is no decision about this call \(the service at .* cannot be reached/,
      ),
    ]);
  });

  test('with a service that breaks runs nothing', { timeout: 60_000 }, async () => {
    const { server, names } = brokenService();
    const url = await listening(server);
    const [results, runs] = await inPython(
      { names, url, key: 'writ_x', kind },
      `
base = given['url']
def call(url):
    given['url'] = url
    return guarded(connect(timeout=0.3), 'a.b')(n=1)
results = {name: kind_of(lambda: call(f'{base}/{name}')) for name in given['names']}
results['nobody'] = kind_of(lambda: call('http://127.0.0.1:9'))
say([results, len(runs)])`,
    );
    expect(results).toEqual({
      good: 'ran',
      word: 'DeniedError',
      waits: 'DeniedError',
      time: 'DeniedError',
      score: 'DeniedError',
      list: 'DeniedError',
      page: 'DeniedError',
      empty: 'DeniedError',
      moved: 'DeniedError',
      half: 'UnreachableError',
      silent: 'UnreachableError',
      slow: 'UnreachableError',
      error: 'UnreachableError',
      nobody: 'UnreachableError',
    });
    expect(runs).toBe(1);
  });
});

/** A service whose first folder names how it breaks. */
function brokenService() {
  const view = {
    request_id: 'r',
    decision: 'ALLOW',
    reason: 'r',
    matched_policy: 'p',
    risk_score: 0,
    status: 'auto_approved',
    message: 'm',
    expires_at: '2126-03-02T10:00:00.000Z',
  };
  const answers: Readonly<Record<string, string>> = {
    good: JSON.stringify(view),
    word: JSON.stringify({ ...view, decision: 'PERMIT' }),
    waits: JSON.stringify({ ...view, status: 'pending' }),
    time: JSON.stringify({ ...view, expires_at: 'soon' }),
    score: JSON.stringify({ ...view, risk_score: '0' }),
    list: JSON.stringify([view]),
    page: '<html>ALLOW</html>',
    empty: '',
    half: '',
    silent: '',
    slow: '',
    error: '{"type":"urn:writ:error:internal_error"}',
    moved: '',
  };
  const server = createServer((request, response) => {
    const [, name = ''] = (request.url ?? '').split('/');
    request.resume();
    if (name === 'silent') return;
    if (name === 'half') {
      response.writeHead(200, { 'content-length': 500 }).write('{"decision":"ALLOW"');
      setTimeout(() => response.destroy(), 20);
      return;
    }
    if (name === 'slow') {
      // Each byte comes in time, and the whole answer does not.
      response.writeHead(200).write('{');
      const timer = setInterval(() => response.write(' '), 50);
      response.once('close', () => clearInterval(timer));
      return;
    }
    const status = name === 'error' ? 500 : name === 'moved' ? 307 : 200;
    response.writeHead(status, name === 'moved' ? { location: '/good/v1/authorize' } : {}).end(answers[name]);
  });
  return { server, names: Object.keys(answers) };
}

describe('AsyncWrit', () => {
  test('lets other tasks go on during many waits', async () => {
    const service = await startService();
    const [kinds, ticks, runs] = await inPython(
      { ...settingsOf(service), kind: 'AsyncWrit' },
      `
async def main():
    call = guarded(connect(wait=1), 'demo.escalate')
    waits = asyncio.gather(*(call(n=one) for one in range(20)), return_exceptions=True)
    ticks = 0
    while not waits.done():
        ticks += 1
        await asyncio.sleep(0.01)
    return sorted({type(one).__name__ for one in waits.result()}), ticks
say([*asyncio.run(main()), len(runs)])`,
    );
    expect([kinds, runs]).toEqual([['PendingError'], 0]);
    expect(ticks).toBeGreaterThan(20);
  });

  test('ends a wait that is cancelled, with its connection', async () => {
    let waiting = 0;
    const server = createServer((request, response) => {
      waiting += 1;
      request.resume();
      response.once('close', () => {
        waiting -= 1;
      });
    });
    const [seconds, name] = await inPython(
      { url: await listening(server), key: 'k', kind: 'AsyncWrit' },
      `
async def main():
    task = asyncio.ensure_future(connect(wait=40).authorize('a.b', {}))
    await asyncio.sleep(0.2)
    task.cancel()
    return type((await asyncio.gather(task, return_exceptions=True))[0]).__name__
began = time.monotonic()
name = asyncio.run(main())
say([time.monotonic() - began, name])`,
    );
    expect(name).toBe('CancelledError');
    expect(seconds).toBeLessThan(5);
    await expect.poll(() => waiting).toBe(0);
  });

  test('is not for plain generators', async () => {
    const program = `
def one(n):
    yield n
say(kind_of(lambda: connect().guard('demo.allow')(one)))`;
    expect(await inPython({ url: 'http://x', key: 'k', kind: 'AsyncWrit' }, program)).toBe('TypeError');
  });

  test('runs a plain function in a thread', async () => {
    const service = await startService();
    const program = `
import threading
def where(n):
    return threading.current_thread() is threading.main_thread()
say(do(connect().guard('demo.allow')(where)(n=1)))`;
    expect(await inPython({ ...settingsOf(service), kind: 'AsyncWrit' }, program)).toBe(false);
  });
});

describe.each(['Writ', 'AsyncWrit'])('a guard of %s', (kind) => {
  test('reports when the call has ended, whatever form the tool has', async () => {
    const service = await startService();
    const found = await inPython(
      { ...settingsOf(service), kind },
      `
import functools
client = connect()
reports, seen = [], []
perform, send = client._transport.send, client._transport.send_async
def noted(request):
    if request.path.endswith('/outcome'):
        reports.append(json.loads(request.body)['executed'])
def send_noted(request):
    noted(request)
    return perform(request)
async def send_noted_async(request):
    noted(request)
    return await send(request)
client._transport.send, client._transport.send_async = send_noted, send_noted_async

async def slow(n):
    await asyncio.sleep(0)
    seen.append(len(reports))
    if n == 0:
        raise RuntimeError('the bank said no')
    return n
class Callable:
    async def __call__(self, n):
        return await slow(n)
class Object:
    @client.guard('demo.allow')
    async def method(self, n):
        return await slow(n)
async def stream(n):
    for one in range(n):
        yield await slow(one + 1)
def generate(n):
    for one in range(n):
        seen.append(len(reports))
        sent = yield one
        if sent is not None:
            seen.append(sent)
    return 'end'
guard = client.guard('demo.allow')

async def main():
    results = []
    for one in (slow, functools.partial(slow), Callable(), Object().method):
        results.append(await (one if one.__name__ == 'method' else guard(one))(n=2) if hasattr(one, '__name__') else await guard(one)(n=2))
    for call in (guard(slow)(n=0), client.run('demo.allow', {}, lambda grant: slow(0)) if given['kind'] == 'AsyncWrit' else guard(slow)(n=0)):
        try:
            await call
        except RuntimeError as error:
            results.append(str(error))
    cancelled = asyncio.ensure_future(guard(asyncio.sleep)(delay=30))
    await asyncio.sleep(0.5)
    cancelled.cancel()
    await asyncio.gather(cancelled, return_exceptions=True)
    before = len(reports)
    results.append([one async for one in guard(stream)(n=3)])
    early = guard(stream)(n=3)
    results.append(await early.__anext__())
    await early.aclose()
    return results, before, len(reports)
results = asyncio.run(main())
if given['kind'] == 'Writ':
    results = [*results, list(guard(generate)(2)), client.run('demo.allow', {}, lambda grant: generate(1)).send(None)]
say([*results, seen, inspect.isasyncgenfunction(guard(stream)), inspect.iscoroutinefunction(guard(slow))])`,
    );
    const said = 'the bank said no';
    const [results, before, after] = found;
    expect(results).toEqual([2, 2, 2, 2, said, said, [1, 2, 3], 1]);
    // Four calls, two that failed, and one that was cancelled; then two streams.
    expect([before, after]).toEqual([7, 9]);
    const seen = kind === 'Writ' ? [0, 1, 2, 3, 4, 5, 7, 7, 7, 8, 9, 9, 10] : [0, 1, 2, 3, 4, 5, 7, 7, 7, 8];
    expect(found.at(-3)).toEqual(seen);
    expect(found.slice(-2)).toEqual([true, true]);
    if (kind === 'Writ') expect(found.slice(3, 5)).toEqual([[0, 1], 0]);
  });

  test('makes the payload of the arguments that the tool runs with', async () => {
    const { sent, ...settings } = await refusingServer();
    await inPython(
      { ...settings, kind },
      `
client = connect()
guard = client.guard('a.b')
class Mailer:
    @guard
    def send(self, to, text='hi', cc=None, *more, **others): ...
kinds = [kind_of(lambda: call()) for call in (
    lambda: Mailer().send('bo'), lambda: Mailer().send('bo', 'yo', None, 1, bcc='x'),
    lambda: guarded(client, 'a.b', payload=lambda n: {'m': n}, idempotency_key=lambda n: f'key-{n}')(3),
    lambda: Mailer().send())]
say(kinds)`,
    ).then((kinds) => expect(kinds).toEqual(['DeniedError', 'DeniedError', 'DeniedError', 'TypeError']));
    expect(sent.map(({ body }) => JSON.parse(body).payload)).toEqual([
      { to: 'bo', text: 'hi' },
      { to: 'bo', text: 'yo', cc: null, more: [1], bcc: 'x' },
      { m: 3 },
    ]);
    expect(sent[2]?.headers['idempotency-key']).toBe('key-3');
  });
});

test('sends numbers, times and ids exactly, or not at all', async () => {
  const { sent, ...settings } = await refusingServer();
  const found = await inPython(
    settings,
    `
from dataclasses import dataclass
from datetime import date, datetime, timezone
from decimal import Decimal
from enum import Enum
from uuid import UUID
class Currency(Enum):
    USD = 'USD'
@dataclass
class Line:
    amount: Decimal
    currency: Currency
client = connect()
payload = {
    'a': Decimal('12.50'), 'b': [Decimal('1E+3'), Line(Decimal('0.1'), Currency.USD)], 'c': 3, 'd': date(2026, 3, 2),
    'e': datetime(2026, 3, 2, 10, 0, tzinfo=timezone.utc), 'f': datetime(2026, 3, 2, 10, 0), 'g': UUID(int=1),
}
client.authorize('demo.allow', payload)
loop = []
loop.append(loop)
unfit = [Decimal('0.1000000000000000055'), Decimal('NaN'), Decimal('1e400'), 2**53 + 1, float('inf'), '\\ud800', loop,
         {1}, b'x', {1: 2}, object()]
kinds = [kind_of(lambda: client.authorize('demo.allow', {'a': one})) for one in unfit]
say([kinds, writ.payload_digest(payload), kind_of(lambda: client.authorize('demo.allow', {}, session='zwölf'))])`,
  );
  const payload = {
    a: 12.5,
    b: [1000, { amount: 0.1, currency: 'USD' }],
    c: 3,
    d: '2026-03-02',
    e: '2026-03-02T10:00:00+00:00',
    f: '2026-03-02T10:00:00',
    g: '00000000-0000-0000-0000-000000000001',
  };
  expect(sent.map(({ body }) => JSON.parse(body).payload)).toEqual([payload]);
  const [kinds, digest, session] = found;
  expect(kinds).toEqual([...Array(7).fill('ValueError'), ...Array(4).fill('TypeError')]);
  expect(digest).toMatch(/^sha-256:[\w-]{43}$/);
  expect(session).toBe('ValueError');
});

test('asks through the proxy that the environment names, and tells it no key for TLS', async () => {
  const lines: string[] = [];
  const server = createServer((request, response) => {
    lines.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`);
    response.writeHead(403).end('{}');
  });
  server.on('connect', (request, socket) => {
    lines.push(`CONNECT ${request.url} ${request.headers['x-agent-api-key']}`);
    socket.end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  const program = `
import os
for name in ('http_proxy', 'https_proxy'):
    os.environ[name] = given['proxy'].replace('http://', 'http://me:p%40ss@')
os.environ['no_proxy'] = 'inside.example'
def ask(url):
    given['url'] = url
    return outcome(lambda: connect().authorize('a.b', {}))[0]
say([ask('http://writ.example'), ask('https://writ.example')])`;
  expect(await inPython({ proxy: await listening(server), key: 'k' }, program)).toEqual([
    'ran',
    'UnreachableError',
  ]);
  const credentials = `Basic ${Buffer.from('me:p@ss').toString('base64')}`;
  expect(lines).toEqual([
    `POST http://writ.example:80/v1/authorize ${credentials}`,
    ...Array(4).fill('CONNECT writ.example:443 undefined'),
  ]);
});

test('checks receipts', async () => {
  const service = await startService();
  const jwks = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  const [refused, good, again, early] = await inPython(
    { ...settingsOf(service), jwks, folder: join(temporaryFolder(), 'used') },
    `
import base64
client = connect(receipts=True)
payload = {'n': 1e-7, 'text': 'Café ☕', 'z': [1.50, None, True]}
receipt = client.authorize('demo.allow', payload).receipt
used = writ.UsedReceiptFiles(given['folder'])
def check(receipt=receipt, **changes):
    asked = dict(issuer='http://localhost', audience='demo', action='demo.allow', payload=payload, used=used)
    keys = changes.pop('keys', given['jwks'])
    return outcome(lambda: writ.verify_receipt(receipt, keys, **{**asked, **changes})['aud'])
head, body, signature = receipt.split('.')
claims = json.loads(base64.urlsafe_b64decode(body + '=='))
def changed(name):
    other = claims[name] + 1 if isinstance(claims[name], int) else 'other'
    text = json.dumps({**claims, name: other}).encode()
    return head + '.' + base64.urlsafe_b64encode(text).decode().rstrip('=') + '.' + signature
refused = [check(changed(name)) for name in claims]
refused += [check(None), check(''), check('a.b.c'), check(keys={'keys': []}), check(issuer='x'), check(audience='x')]
refused += [check(action='demo.deny'), check(payload={})]
good = check()
again = [check(), check(used=writ.UsedReceiptFiles(given['folder']))]
say([refused, good, again, check(used=writ.UsedReceipts())])`,
  );
  expect(new Set(refused.map(([kind]: readonly string[]) => kind))).toEqual(new Set(['ReceiptError']));
  expect(refused.length).toBeGreaterThan(15);
  expect(good).toEqual(['ran', 'demo']);
  const used = ['ReceiptError', 'invalid receipt: it has been used'];
  expect(again).toEqual([used, used]);
  expect(early).toEqual(['ReceiptError', expect.stringContaining('before this tool started')]);
});

test('writes JSON in its canonical form as the service does', async () => {
  const random = createRandom(7);
  const digits = () =>
    Number((random.below(2 ** 31) / 2 ** random.below(31)).toPrecision(1 + random.below(15)));
  const numbers = Array.from({ length: 3_000 }, () =>
    Number(`${digits()}e${random.below(600) - 300}`),
  ).filter(Number.isFinite);
  const edges = [
    0, -0, 1, -1, 0.1, 100, 1e20, 1e21, 123e20, 1e-6, 1e-7, 1.5e-7, 5e-324, 1.7e308, 123456789012345,
    0.30000000000000004, -52.520006599999995, 9007199254740994, 1.7976931348623157e308,
  ];
  const values = [...edges, ...numbers, { é: 1, z: 2, '\u{1f600}': 3, '\ufb33': 4, '"\\\u0001\u007f': [] }];
  const written: readonly string[] = await inPython(
    values,
    'say([writ.canonical_json(one) for one in given])',
  );
  expect(written).toEqual(values.map((value) => canonicalJson(value)));
});

test('takes no whole number for another that a double cannot tell from it', async () => {
  const texts = [
    '9007199254740992',
    '9007199254740993',
    '9007199254740994',
    '-9007199254740993',
    `1${'0'.repeat(23)}`,
    `1${'0'.repeat(400)}`,
  ];
  const program = 'say([kind_of(lambda: writ.canonical_json(int(text))) for text in given])';
  expect(await inPython(texts, program)).toEqual([
    'ran',
    'ValueError',
    'ran',
    'ValueError',
    'ran',
    'ValueError',
  ]);
});
