// A line of the log has the error when there is one, and no error field otherwise.

import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import { createFastify } from '../../../src/service/http/fastify-instance.ts';

function linesOf(fields: object): readonly Record<string, unknown>[] {
  const lines: string[] = [];
  const app = createFastify({
    log: { level: 'info', stream: { write: (line) => void lines.push(line) } },
    bodyBytesMax: 1,
    trustedProxies: [],
    serverFactory: (listener) => createServer(listener),
  });
  app.log.error(fields, 'it ended');
  app.log.child({ reqId: 'a' }).error(fields, 'it ended');
  return lines.map((line) => JSON.parse(line) as Record<string, unknown>);
}

test.each([null, undefined])('an error that is %s is not logged', (err) => {
  const lines = linesOf({ err, code: 'x' });
  expect(lines).toHaveLength(2);
  for (const line of lines) {
    expect(line).not.toHaveProperty('err');
    expect(line).toMatchObject({ code: 'x', msg: 'it ended' });
  }
});

test('an error is shown with its message and stack', () => {
  for (const line of linesOf({ err: new RangeError('too far'), code: 'x' })) {
    expect(line).toMatchObject({ err: { type: 'RangeError', message: 'too far' }, code: 'x' });
    expect(line.err).toHaveProperty('stack');
  }
});
