// Every parameter of every query, and every text of every body, with texts that are long or odd, on a store
// in a file and on one in PostgreSQL: the service refuses them or takes them, and never fails.

import { describe, expect, onTestFinished, test } from 'vitest';
import { openStore } from '../../../src/service/store/open.ts';
import { third } from '../../support/tries.ts';
import { keptPostgres } from '../store/postgres-server.ts';
import { type Client, firstAdmin, tokenClient } from './person-client.ts';
import { startService } from './service.ts';

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedOperation>>>>;
}

interface DocumentedOperation {
  readonly responses: Readonly<Record<string, { readonly content?: Readonly<Record<string, unknown>> }>>;
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly requestBody?: {
    readonly content: Readonly<
      Record<string, { readonly examples?: Readonly<Record<string, { readonly value: unknown }>> }>
    >;
  };
}

/** A stream is answered for as long as somebody reads it. */
function isStream({ responses }: DocumentedOperation): boolean {
  return Object.keys(responses['200']?.content ?? {}).includes('text/event-stream');
}

const texts: Readonly<Record<string, string>> = {
  'a zero byte': 'a\0b',
  'a lone surrogate': 'a\ud800b',
  '2,046 bytes': 'a'.repeat(2_046),
  '2,047 bytes': 'a'.repeat(2_047),
  '2,047 bytes of two each': `${'é'.repeat(1_023)}a`,
  'signs that an index escapes': '.é'.repeat(450),
  '8 kB': 'b'.repeat(8_192),
  quotes: `'"\\:*&|!<>()%_`,
};

async function startOn(engine: string) {
  if (engine === 'a file') return startService({ isInFile: true });
  const database = await (await keptPostgres()).createDatabase();
  const store = await openStore(database);
  onTestFinished(() => database.drop());
  return startService({ store });
}

interface Faults {
  readonly found: string[];
  count: number;
}

/** Notes an answer that says that the service failed. */
async function expectAnswer(
  admin: Client,
  faults: Faults,
  what: string,
  path: string,
  body?: unknown,
  method = 'GET',
) {
  const sending = body === undefined ? { method } : { method, body };
  const { status } = await admin.send(path, sending).catch(() => ({ status: 0 }));
  faults.count += 1;
  if (status === 500 || status === 0) faults.found.push(`${method} ${path.slice(0, 80)}, ${what}: ${status}`);
}

/** The value with one of its texts replaced, for each of its texts. */
function* replaced(value: unknown, text: string): Generator<unknown, void> {
  if (typeof value === 'string') yield text;
  if (typeof value !== 'object' || value === null) return;
  for (const [name, part] of Object.entries(value))
    for (const other of replaced(part, text))
      yield Array.isArray(value) ? [other] : { ...value, [name]: other };
}

describe.each(['a file', 'PostgreSQL'])('odd texts on %s', (engine) => {
  test('in queries and paths', async () => {
    const service = await startOn(engine);
    const admin = await tokenClient(service, await firstAdmin(service));
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
    const faults: Faults = { found: [], count: 0 };
    for (const [path, { get }] of Object.entries(paths)) {
      if (get === undefined || isStream(get)) continue;
      const filled = path.replace(/\{\w+\}/g, 'none');
      for (const [what, text] of third(Object.entries(texts))) {
        // A lone surrogate has no form in an address.
        const encoded = encodeURIComponent(text.toWellFormed());
        for (const { name, in: place } of get.parameters ?? []) {
          if (place === 'query') await expectAnswer(admin, faults, what, `${filled}?${name}=${encoded}`);
          if (place === 'path') await expectAnswer(admin, faults, what, path.replace(/\{\w+\}/g, encoded));
        }
      }
    }
    expect(faults.found).toEqual([]);
    expect(faults.count).toBeGreaterThan(300);
    const count = (query: string) => admin.send(`/v1/requests/count?${query}`);
    for (const name of ['action', 'policy', 'agent']) {
      expect([name, (await count(`${name}=${'a'.repeat(2_046)}`)).status]).toEqual([name, 200]);
      expect([name, (await count(`${name}=${'a'.repeat(2_047)}`)).status]).toEqual([name, 400]);
      expect([name, (await count(`${name}=${encodeURIComponent('é'.repeat(1_024))}`)).status]).toEqual([
        name,
        400,
      ]);
    }
    expect((await admin.send('/v1/requests/count?action=a%00')).body).toMatchObject({
      type: 'urn:writ:error:invalid_query',
    });
  });

  test('in bodies', async () => {
    const service = await startOn(engine);
    const admin = await tokenClient(service, await firstAdmin(service));
    const { paths } = (await (await fetch(`${service.url}/openapi.json`)).json()) as Document;
    const faults: Faults = { found: [], count: 0 };
    for (const [path, operations] of Object.entries(paths)) {
      for (const [method, operation] of Object.entries(operations)) {
        // These end the session of the one who asks, or try policies in a thread, which takes long.
        if (/session|password|playground|policies|replay|compare/.test(path)) continue;
        const [example] = Object.values(operation.requestBody?.content['application/json']?.examples ?? {});
        if (example === undefined) continue;
        for (const [what, text] of third(Object.entries(texts)))
          for (const body of replaced(example.value, text))
            await expectAnswer(
              admin,
              faults,
              what,
              path.replace(/\{\w+\}/g, 'none'),
              body,
              method.toUpperCase(),
            );
      }
    }
    expect(faults.found).toEqual([]);
    expect(faults.count).toBeGreaterThan(300);
  });
});
