// A receipt, verified by PyJWT: a library that has no part of Writ.

import { beforeAll, expect, test } from 'vitest';
import { authorize, startService } from '../../service/http/service.ts';
import { inPython, requirePython } from './python.ts';

beforeAll(requirePython);

test('a JWT library of another language verifies a receipt', async () => {
  const service = await startService();
  const body = JSON.stringify({ action_key: 'demo.allow', payload: {} });
  const reply = await authorize(service, { body, headers: { prefer: 'receipt' } });
  const receipt = reply.headers.get('writ-receipt') ?? '';
  const keys = await (await fetch(`${service.url}/.well-known/jwks.json`)).json();
  const program = `
import jwt
key = jwt.algorithms.OKPAlgorithm.from_jwk(json.dumps(given['keys']['keys'][0]))
def decode(token):
    return jwt.decode(token, key, algorithms=['EdDSA'], audience='demo', issuer='http://localhost')['aud']
say([decode(given['receipt']), kind_of(lambda: decode(given['receipt'][:-6] + 'AAAAAA'))])`;
  expect(await inPython({ receipt, keys }, program)).toEqual(['demo', 'InvalidSignatureError']);
});
