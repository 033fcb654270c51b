// The client for Python, run by the machine's own Python, against the real service and a broken one.

import { execFile } from 'node:child_process';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { beforeAll, describe, expect, test } from 'vitest';
import { createRandom } from '../../src/language/value/random.ts';
import { setSigning } from '../../src/service/agents/registry.ts';
import { canonicalJson } from '../../src/service/store/contract/canonical-json.ts';
import { listening } from '../service/http/listening.ts';
import { firstAdmin, personWith } from '../service/http/person-client.ts';
import { type Service, startService } from '../service/http/service.ts';
import { give } from '../service/http/written-policies.ts';
import { temporaryFolder } from '../service/store/rows.ts';
import { python, requireProgram } from './programs.ts';

const run = promisify(execFile);

beforeAll(() =>
  requireProgram(
    [python, '-c', 'import sys, cryptography; assert sys.version_info >= (3, 9)'],
    'python3 python3-cryptography',
  ),
);

const start = `
import json, sys
sys.dont_write_bytecode = True
sys.path.insert(0, 'integrations/python')
import writ
given = json.loads(sys.argv[1])
runs = []
def tool(**named):
    runs.append(named)
    return named['n'] * 2
def outcome(work):
    try:
        return ['ran', work()]
    except writ.WritError as error:
        return [type(error).__name__, str(error)]
`;

async function inPython(given: unknown, ...lines: readonly string[]) {
  const text = `${start}\n${lines.join('\n')}`;
  const { stdout } = await run(python, ['-c', text, JSON.stringify(given)], { timeout: 60_000 });
  return JSON.parse(stdout);
}

const of = ({ url, apiKey: key }: Service) => ({ url, key });
const client = "client = writ.Writ(given['url'], given['key'], wait=given.get('wait', 0), timeout=1)";

describe('with the service', () => {
  test('runs under a grant and under nothing else', async () => {
    const service = await startService();
    const found = await inPython(
      of(service),
      client,
      "results = [outcome(lambda: client.guard('demo.' + verb)(tool)(n=4)) for verb in ['allow', 'deny', 'escalate', 'other']]",
      'print(json.dumps([results, len(runs)]))',
    );
    const [results, runs] = found;
    expect(results.map(([kind]: readonly string[]) => kind)).toEqual([
      'ran',
      'DeniedError',
      'PendingError',
      'DeniedError',
    ]);
    expect(runs).toBe(1);
    const [status] = await service.store.requests.openOf(service.agent.id, 1);
    expect(status).toBeDefined();
  });

  test('sends the token of the person for whom it asks', async () => {
    const sent: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      const { 'x-on-behalf-of': token } = request.headersDistinct;
      sent.push(token?.join());
      response.writeHead(403, { 'content-type': 'application/json' }).end('{}');
    });
    await inPython(
      { url: await listening(server), key: 'writ_k' },
      "client = writ.Writ(given['url'], given['key'], on_behalf_of=lambda: 'a.b.c')",
      "client.authorize('demo.allow', {})",
      "client.authorize('demo.allow', {}, on_behalf_of='d.e.f')",
      "writ.Writ(given['url'], given['key']).authorize('demo.allow', {})",
      'print(json.dumps(0))',
    );
    expect(sent).toEqual(['a.b.c', 'd.e.f', undefined]);
  });

  describe('guards coroutine functions', () => {
    const asyncTool = [
      'import asyncio, functools, urllib.request',
      'async def slow(**named):',
      '    runs.append(named)',
      '    await asyncio.sleep(0)',
      "    reports.append(len([path for path in paths if path.endswith('/outcome')]))",
      "    if named['n'] == 0: raise RuntimeError('the bank said no')",
      "    return named['n'] * 2",
      'reports, paths = [], []',
      'exchange = client._exchange',
      'def noted(method, path, *rest):',
      '    paths.append(path)',
      '    return exchange(method, path, *rest)',
      'client._exchange = noted',
    ];

    test('and reports after the work ended, also when it fails', async () => {
      const found = await inPython(
        of(await startService()),
        client,
        ...asyncTool,
        'class Callable:',
        '    async def __call__(self, **named): return await slow(**named)',
        "guard = client.guard('demo.allow')",
        'async def main():',
        '    results = []',
        '    for tool in (slow, functools.partial(slow), Callable(), lambda **named: slow(**named)):',
        '        results.append(await guard(tool)(n=2))',
        '    try:',
        '        await guard(slow)(n=0)',
        '    except RuntimeError as error:',
        '        results.append(str(error))',
        '    return results',
        'print(json.dumps([asyncio.run(main()), reports, paths]))',
      );
      const [results, reports, paths] = found;
      expect(results).toEqual([4, 4, 4, 4, 'the bank said no']);
      // Each run sees the reports of the runs before it and not its own.
      expect(reports).toEqual([0, 1, 2, 3, 4]);
      expect(paths.filter((path: string) => path.endsWith('/outcome'))).toHaveLength(5);
    });

    test('and runs none without a grant, while other tasks go on', async () => {
      const found = await inPython(
        { ...of(await startService()), wait: 2 },
        client,
        ...asyncTool,
        'async def main():',
        '    ticks = 0',
        "    waits = asyncio.ensure_future(client.guard('demo.escalate')(slow)(n=1))",
        '    while not waits.done():',
        '        ticks += 1',
        '        await asyncio.sleep(0.02)',
        '    kinds = [type(waits.exception()).__name__]',
        '    try:',
        "        await client.guard('demo.deny')(slow)(n=1)",
        '    except writ.WritError as error:',
        '        kinds.append(type(error).__name__)',
        '    return [kinds, ticks]',
        'print(json.dumps([asyncio.run(main()), len(runs)]))',
      );
      const [[kinds, ticks], runs] = found;
      expect([kinds, runs]).toEqual([['PendingError', 'DeniedError'], 0]);
      expect(ticks).toBeGreaterThan(5);
    });

    test('and refuses generators, which would run after their report', async () => {
      const found = await inPython(
        of(await startService()),
        client,
        'def one(**named): yield 1',
        'async def two(**named): yield 1',
        'def kind(tool):',
        '    try:',
        "        client.guard('demo.allow')(tool)",
        '    except TypeError as error:',
        '        return str(error)',
        'print(json.dumps([kind(one), kind(two)]))',
      );
      expect(found).toEqual([
        'one is a generator: guard the function that consumes it',
        'two is a generator: guard the function that consumes it',
      ]);
    });
  });

  test('sends a Decimal as a number, and none whose digits would be lost', async () => {
    const bodies: string[] = [];
    const server = createServer(async (request, response) => {
      bodies.push(Buffer.concat(await request.toArray()).toString());
      response.writeHead(403, { 'content-type': 'application/json' }).end('{}');
    });
    const found = await inPython(
      { url: await listening(server), key: 'writ_k' },
      client,
      'from decimal import Decimal',
      "sent = {'a': Decimal('12.50'), 'b': [Decimal('1E+3')], 'c': 3}",
      "client.authorize('demo.allow', sent)",
      'def kind(value):',
      '    try:',
      "        client.authorize('demo.allow', {'a': value})",
      '    except Exception as error:',
      '        return type(error).__name__',
      "kinds = [kind(one) for one in (Decimal('0.1000000000000000055'), Decimal('NaN'), Decimal('1e400'), {1})]",
      'print(json.dumps([kinds, writ.payload_digest(sent) == writ.payload_digest({"a": 12.5, "b": [1000], "c": 3})]))',
    );
    expect(bodies.map((body) => JSON.parse(body).payload)).toEqual([{ a: 12.5, b: [1000], c: 3 }]);
    expect(found).toEqual([['ValueError', 'ValueError', 'ValueError', 'TypeError'], true]);
  });

  test('signs where the agent signs', async () => {
    const service = await startService();
    const agentId = service.agent.id;
    const change = await setSigning(service.store, { agentId, signing: 'required', nowMs: Date.now() });
    const secret = change.kind === 'changed' ? change.signingSecret : null;
    const found = await inPython(
      { ...of(service), secret },
      "clients = [writ.Writ(given['url'], given['key'], wait=0, signing_secret=one) for one in (given['secret'], 'writsec_x', None)]",
      "print(json.dumps([outcome(lambda: client.guard('demo.allow')(tool)(n=1))[0] for client in clients]))",
    );
    expect(found).toEqual(['ran', 'DeniedError', 'DeniedError']);
  });

  test('comes back to its approval once, after the program started again', async () => {
    const service = await startService();
    const admin = await firstAdmin(service);
    const who = { email: 'ben@example.com', roles: ['approver'], groups: ['finance'] } as const;
    const ben = await personWith(service, admin, who);
    const call = () =>
      inPython(
        of(service),
        client,
        "print(json.dumps(outcome(lambda: client.guard('demo.escalate')(tool)(n=4))))",
      );
    expect((await call())[0]).toBe('PendingError');
    const [id = ''] = await service.store.requests.openOf(service.agent.id, 1);
    await give(ben, id, 'approve');
    expect(await call()).toEqual(['ran', 8]);
    expect((await call())[0]).toBe('PendingError');
  });

  test('checks receipts', async () => {
    const service = await startService();
    const jwks = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
    const found = await inPython(
      { ...of(service), jwks, folder: join(temporaryFolder(), 'used') },
      "client = writ.Writ(given['url'], given['key'], wait=0, receipts=True)",
      "payload = {'n': 1e-7, 'text': 'Café ☕', 'z': [1.50, None, True]}",
      "receipt = client.authorize('demo.allow', payload).receipt",
      "used = writ.UsedReceiptFiles(given['folder'])",
      'def check(receipt=receipt, **changes):',
      "    asked = dict(issuer='http://localhost', audience='demo', action='demo.allow', payload=payload, used=used)",
      "    keys = changes.pop('keys', given['jwks'])",
      "    return outcome(lambda: writ.verify_receipt(receipt, keys, **{**asked, **changes})['aud'])",
      'import base64',
      'head, body, signature = receipt.split(".")',
      'claims = json.loads(base64.urlsafe_b64decode(body + "=="))',
      'def changed(name):',
      '    other = claims[name] + 1 if isinstance(claims[name], int) else "other"',
      '    text = json.dumps({**claims, name: other}).encode()',
      '    return head + "." + base64.urlsafe_b64encode(text).decode().rstrip("=") + "." + signature',
      'refused = [check(changed(name)) for name in claims]',
      "refused += [check(None), check(''), check('a.b.c'), check(keys={'keys': []}), check(issuer='x'), check(audience='x')]",
      "refused += [check(action='demo.deny'), check(payload={})]",
      'good = check()',
      'again = [check(), check(used=writ.UsedReceiptFiles(given["folder"]))]',
      'early = check(used=writ.UsedReceipts())',
      'print(json.dumps([refused, good, again, early]))',
    );
    const [refused, good, again, early] = found;
    expect(new Set(refused.map(([kind]: readonly string[]) => kind))).toEqual(new Set(['ReceiptError']));
    expect(refused.length).toBeGreaterThan(15);
    expect(good).toEqual(['ran', 'demo']);
    const used = ['ReceiptError', 'no good receipt: it has been used'];
    expect(again).toEqual([used, used]);
    expect(early).toEqual(['ReceiptError', expect.stringContaining('before this tool started')]);
  });
});

test('with a service that breaks, nothing runs', async () => {
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
  const answers: Readonly<Record<string, string | null>> = {
    good: JSON.stringify(view),
    word: JSON.stringify({ ...view, decision: 'PERMIT' }),
    waits: JSON.stringify({ ...view, status: 'pending' }),
    time: JSON.stringify({ ...view, expires_at: 'soon' }),
    list: JSON.stringify([view]),
    page: '<html>ALLOW</html>',
    empty: '',
    half: null,
    silent: null,
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
    const status = name === 'error' ? 500 : name === 'moved' ? 307 : 200;
    response.writeHead(status, name === 'moved' ? { location: '/good/v1/authorize' } : {}).end(answers[name]);
  });
  const url = await listening(server);
  const [results, runs] = await inPython(
    { names: Object.keys(answers), url: `${url}/` },
    "call = lambda name: writ.Writ(given['url'] + name, 'writ_x', wait=0, timeout=0.2).guard('a.b')(tool)(n=1)",
    "results = {name: outcome(lambda: call(name))[0] for name in given['names']}",
    "results['nobody'] = outcome(lambda: writ.Writ('http://127.0.0.1:9', 'x').guard('a.b')(tool)(n=1))[0]",
    'print(json.dumps([results, len(runs)]))',
  );
  expect(results).toEqual({
    good: 'ran',
    word: 'DeniedError',
    waits: 'DeniedError',
    time: 'DeniedError',
    list: 'DeniedError',
    page: 'DeniedError',
    empty: 'DeniedError',
    moved: 'DeniedError',
    half: 'UnreachableError',
    silent: 'UnreachableError',
    error: 'UnreachableError',
    nobody: 'UnreachableError',
  });
  expect(runs).toBe(1);
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
    'print(json.dumps([writ.canonical_json(one) for one in given]))',
  );
  expect(written).toEqual(values.map((value) => canonicalJson(value)));
});

test('takes no whole number for another that a double cannot tell from it', async () => {
  const program = `
def taken(text):
    try:
        writ.canonical_json(int(text))
        return True
    except (ValueError, OverflowError):
        return False
print(json.dumps([taken(one) for one in given]))`;
  const texts = [
    '9007199254740992',
    '9007199254740993',
    '9007199254740994',
    '-9007199254740993',
    `1${'0'.repeat(23)}`,
  ];
  expect(await inPython([...texts, `1${'0'.repeat(400)}`], program)).toEqual([
    true,
    false,
    true,
    false,
    true,
    false,
  ]);
});
