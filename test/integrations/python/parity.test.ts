// LAW: both clients for Python can do what the client for TypeScript can. What one of them does in another way is
// listed here with the reason.

import { readFileSync } from 'node:fs';
import { beforeAll, expect, test } from 'vitest';
import { connect } from '../../../integrations/typescript/client.ts';
import { inPython, requirePython } from './python.ts';

beforeAll(requirePython);

/** Options of the client for TypeScript that have another name, or none, in Python. */
const otherwise: Readonly<Record<string, readonly string[]>> = {
  // A function of the program sends the request in browsers and workers; Python has one platform, and TLS settings.
  fetch: ['ca_file', 'client_certificate', 'ssl_context'],
  // A task of asyncio is cancelled, and a thread cannot be interrupted.
  signal: [],
  // `wait=math.inf` waits until the deadline.
  onWait: [],
  // The action is the first argument.
  action: ['action'],
};

/** What the clients for Python have beyond the client for TypeScript. */
const beyond = {
  // A Python program has one client for many sessions.
  authorize: ['session'],
  run: ['session', 'result'],
  // `on_refusal` returns texts to models, which adapters for frameworks do in TypeScript.
  guard: ['session', 'result', 'on_refusal'],
} as const;

const snake = (name: string) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
const client = readFileSync('integrations/typescript/client.ts', 'utf8');
const decisions = ['decision', 'plan']
  .map((name) => readFileSync(`integrations/typescript/${name}.ts`, 'utf8'))
  .join('\n');

/** The fields of an interface. */
function fieldsOf(source: string, name: string): readonly string[] {
  const [, body = ''] = source.split(new RegExp(`export interface ${name}\\b[^{]*\\{\\n`));
  return [...body.split('\n}')[0]!.matchAll(/^ {2}readonly (\w+)\??:/gm)].map(([, field = '']) => field);
}

const named = (fields: readonly string[]) => fields.flatMap((field) => otherwise[field] ?? [snake(field)]);

interface PythonApi {
  readonly methods: Readonly<Record<string, readonly string[]>>;
  readonly settings: readonly string[];
  readonly decisions: Readonly<Record<string, readonly string[]>>;
  readonly errors: readonly string[];
}

function apiOf(kind: string): Promise<PythonApi> {
  return inPython(
    kind,
    `
import dataclasses
kind = getattr(writ, given)
names = lambda function: [name for name in inspect.signature(function).parameters if name != 'self']
say({
    'methods': {name: names(one) for name, one in inspect.getmembers(kind, callable) if not name.startswith('_')},
    'settings': names(kind.__init__),
    'decisions': {name: [field.name for field in dataclasses.fields(one)]
                  for name, one in vars(writ).items() if dataclasses.is_dataclass(one)},
    'errors': [name for name, one in vars(writ).items() if isinstance(one, type) and issubclass(one, Exception)],
})`,
  );
}

test.each(['Writ', 'AsyncWrit'])('law: %s has every method, setting and field', async (kind) => {
  const api = await apiOf(kind);
  expect(Object.keys(api.methods).toSorted()).toEqual(
    Object.keys(connect({ url: 'http://x', key: 'k' }))
      .map(snake)
      .toSorted(),
  );
  // In Python, a result that is not taken is told by the log, and the standard library signs no proofs.
  const without = new Set(['on_refused_result', 'proof_key', 'public_url']);
  const settings = named(fieldsOf(client, 'Connection')).filter((name) => !without.has(name));
  expect(api.settings.toSorted()).toEqual(settings.toSorted());
  const options = named(fieldsOf(client, 'AskOptions'));
  const guard = named(fieldsOf(client, 'GuardOptions'));
  expect(guard).toContain('payload');
  expect(api.methods).toMatchObject({
    authorize: ['action', 'payload', ...options, ...beyond.authorize],
    run: ['action', 'payload', 'work', ...options, ...beyond.run],
    guard: [...guard, ...options, ...beyond.guard],
    get_request: ['request_id', 'wait'],
    report: ['request_id', 'is_executed', 'result'],
  });
  for (const [name, fields] of Object.entries(api.decisions)) {
    // In Python, the fields of an action's result are read from `GET /v1/actions`.
    const other = ['kind', 'resultFields'];
    const theirs = named(fieldsOf(decisions + client, name).filter((field) => !other.includes(field)));
    // `for` is a word of the language.
    const ours = fields
      .map((field) => (field === 'waits_for' ? 'for' : field))
      .filter((field) => field !== 'result_fields');
    expect([name, ours.toSorted()]).toEqual([name, theirs.toSorted()]);
  }
  expect(Object.keys(api.decisions)).toHaveLength(8);
  const errors = [...`${client}\nexport { UnreachableError }`.matchAll(/export (?:class|\{) (\w+Error)/g)];
  expect(errors.length).toBeGreaterThan(2);
  expect(api.errors).toEqual(expect.arrayContaining(errors.map(([, name]) => name)));
});
