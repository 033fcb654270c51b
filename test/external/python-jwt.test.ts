// A receipt, verified by PyJWT: a library that knows nothing of Writ.

import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { authorize, startService } from '../service/http/service.ts';
import { python, requireProgram } from './programs.ts';

test('a JWT library of another language verifies a receipt', async () => {
  requireProgram([python, '-c', 'import jwt, cryptography'], 'python3 python3-jwt python3-cryptography');
  const service = await startService();
  const body = JSON.stringify({ action_key: 'demo.allow', payload: {} });
  const reply = await authorize(service, { body, headers: { prefer: 'receipt' } });
  const receipt = reply.headers.get('writ-receipt') ?? '';
  const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  const text = [
    'import json, jwt, sys',
    'token, keys = sys.argv[1], json.loads(sys.argv[2])',
    "key = jwt.algorithms.OKPAlgorithm.from_jwk(json.dumps(keys['keys'][0]))",
    "print(json.dumps(jwt.decode(token, key, algorithms=['EdDSA'], audience='demo', issuer='http://localhost')))",
  ].join('\n');
  const run = (token: string) =>
    execFileSync(python, ['-c', text, token, JSON.stringify(keys)], { encoding: 'utf8', stdio: 'pipe' });
  expect(JSON.parse(run(receipt))).toMatchObject({ aud: 'demo' });
  expect(() => run(`${receipt.slice(0, -6)}AAAAAA`)).toThrow('Signature verification failed');
});
