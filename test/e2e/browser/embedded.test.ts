// The examples of policies in a program, on the platforms they are meant for: in Node with code generation
// from strings disabled, in a context without Node's globals, and in a browser under a content security
// policy. The decisions are the same on each platform.

import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { createContext, runInContext } from 'node:vm';
import { rolldown } from 'rolldown';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { compileToProgram } from '../../../src/pipeline.ts';
import { writeBundle } from '../../../src/service/policies/compiled/bundle.ts';
import { shareBrowser } from './browser.ts';

const examples = join(import.meta.dirname, '../../../examples');
const openWindow = shareBrowser();
const { privateKey, publicKey } = generateKeyPairSync('ed25519');
const key = publicKey.export({ format: 'jwk' }).x ?? '';
let bundle: Uint8Array;
/** The worker with all its imports, as one script that defines `worker`. */
let script = '';

beforeAll(async () => {
  const text = readFileSync(join(examples, 'policies/mail.policy'), 'utf8');
  const { packed } = compileToProgram({
    files: [{ path: 'mail.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: '' }),
  });
  bundle = await writeBundle(
    { madeMs: 1, commit: null, texts: [{ path: 'mail.policy', kind: 'policy', text }], program: packed! },
    { key, sign: (bytes) => sign(null, bytes, privateKey) },
  );
  const built = await rolldown({ input: join(examples, 'embedded/worker.ts'), platform: 'neutral' });
  const { output } = await built.generate({ format: 'iife', name: 'worker' });
  await built.close();
  expect(output).toHaveLength(1);
  expect(output[0].imports).toEqual([]);
  script = output[0].code;
}, 60_000);

/** Code that each platform evaluates: three calls, and the error for a bundle with one changed bit. */
const calls = `(async () => {
  const { answer } = worker;
  const ask = async (to, change) => {
    const request = new Request('https://example.com', { method: 'POST', body: JSON.stringify({ to, text: 'Hello' }) });
    const reply = await answer(request, { bundle: change ?? bundle, key });
    return [reply.status, (await reply.json()).decision];
  };
  const broken = bundle.map((byte, at) => (at === 100 ? byte ^ 1 : byte));
  const refused = await ask('ann@example.com', broken).catch((error) => error.name);
  return JSON.stringify([refused, await ask('ann@example.com'), await ask('bob@other.example'), await ask('eve@rival.example')]);
})()`;
const answers = JSON.stringify(['BundleError', [200, 'ALLOW'], [403, 'ESCALATE'], [403, 'DENY']]);

describe('policies in a program', () => {
  test.each([[[]], [['--disallow-code-generation-from-strings']]])(
    'decide, say why and follow a change: node %j',
    (flags) => {
      const said = execFileSync(process.execPath, [...flags, join(examples, 'embedded/run.ts')], {
        encoding: 'utf8',
      });
      expect(said).toContain('ALLOW: A mail to a colleague\n');
      expect(said).toContain('  outgoing_mail/colleagues is true\n');
      expect(said).toMatch(/after the change DENY\n$/);
    },
  );

  test('decide by a bundle without Node and without code generation', async () => {
    const { crypto, TextEncoder, TextDecoder, atob, Request, Response } = globalThis;
    const context = createContext(
      { crypto, TextEncoder, TextDecoder, atob, Request, Response, bundle, key },
      { codeGeneration: { strings: false, wasm: false } },
    );
    expect(() => runInContext("new Function('return 1')", context)).toThrow(/[Cc]ode generation/);
    runInContext(script, context);
    expect(await runInContext(calls, context)).toBe(answers);
  });

  test('decide by a bundle in a browser without code generation', async () => {
    const files: Readonly<Record<string, string | Uint8Array>> = {
      '/worker.js': script,
      '/policies.writ': bundle,
    };
    const server = createServer((request, reply) => {
      const file = files[request.url ?? ''];
      const isScript = request.url === '/worker.js';
      reply.setHeader('content-security-policy', "default-src 'self'; script-src 'self'");
      reply.setHeader(
        'content-type',
        isScript ? 'text/javascript' : file === undefined ? 'text/html' : 'application/octet-stream',
      );
      reply.end(file ?? '<!doctype html><link rel="icon" href="data:,"><script src="/worker.js"></script>');
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    onTestFinished(() => void server.close());
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { page } = await openWindow({ url }, { expected: /script-src|Content Security Policy/ });
    await page.goto('/');
    const answered = await page.evaluate(
      `fetch('/policies.writ').then((reply) => reply.arrayBuffer()).then((bytes) => { const bundle = new Uint8Array(bytes); const key = '${key}'; return ${calls}; })`,
    );
    expect(answered).toBe(answers);
  });
});
