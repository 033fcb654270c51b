// Files given in place of requests: for each wrong kind of file, one sentence says what to give instead.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { openExport } from '../../src/analysis/replay/read-export.ts';
import { otherFileText } from '../../src/analysis/replay/unsupported-file.ts';
import { readRequestFile } from '../../src/cli/support/read-facts.ts';
import { readRequestLines } from '../../src/measure/read-requests.ts';
import { temporaryFolder } from '../service/store/rows.ts';

const request = '{"action_key":"pay.send","payload":{"amount":3}}\n';
const csv =
  'this is a CSV export, which lacks the facts of decisions: export JSON Lines instead (`writ audit export`, or the requests as JSON Lines)';
const list = 'this is a JSON list; expected one JSON object per line: convert it with `jq -c .[]`';
const several =
  'this is JSON over several lines; expected one JSON object per line: convert it with `jq -c .`';
const policy = 'this is a policy file, not a file of requests';
const compressed = 'the file is compressed: decompress it first';

test.each([
  ['JSON Lines', request.repeat(2), null],
  ['a blank line first', `\n${request}`, null],
  ['nothing', '', null],
  ['a cut line', request.slice(0, 20), null],
  ['wrong keys', '{"wrong":1}\n', null],
  ['a CSV export of requests', 'request_id,created_at\r\n1,2\r\n', csv],
  ['a CSV export of records', 'sequence,kind,id\r\n', csv],
  ['a CSV export with a title in quotes', '"request_id","created_at"\r\n', csv],
  ['a JSON list', `[${request}]`, list],
  ['a JSON list over several lines', '[\n  {\n', list],
  ['an object over several lines', JSON.stringify({ action_key: 'a.b' }, null, 2), several],
  ['an object that begins with its key', '{"action_key": "a.b",\n "payload": {}}', several],
  ['a policy file', '\npolicy p on pay.send { allow }', policy],
  ['a policy file with a comment', '# Payments\n', policy],
  ['gzip', gzipSync(request), compressed],
  ['a zip archive', Buffer.from('PK\u0003\u0004'), compressed],
  ['UTF-16', Buffer.from(`\ufeff${request}`, 'utf16le'), 'the file is in UTF-16: save it as UTF-8'],
])('%s', async (_, content, expected) => {
  expect(otherFileText(Buffer.from(content))).toBe(expected);
  const path = join(temporaryFolder(), 'given');
  writeFileSync(path, content);
  if (expected === null) expect(await openExport(path)).toMatchObject({ faults: { count: 0 } });
  else await expect(openExport(path)).rejects.toThrow(expected);
});

test('lines that are not requests are reported with file, line and place', () => {
  const of = (text: string) => readRequestLines(Buffer.from(text), 'log.jsonl').mistakes;
  expect(of(request.slice(0, 22))).toEqual(['log.jsonl:1:15: the string has no end']);
  expect(of(`${request}\n"text"\n`)).toEqual(['log.jsonl:3: a request must be a JSON object']);
  expect(of('{"wrong":1}')).toEqual([
    'log.jsonl:1: `action_key` is missing',
    expect.stringContaining('log.jsonl:1: the request has no key `wrong`'),
  ]);
});

test.each([
  ['a CSV export', 'request_id,created_at\r\n', `cannot read the request: ${csv}`],
  ['a policy file', 'policy p on a.b { allow }', `cannot read the request: ${policy}`],
  ['nothing', '\n', 'the request is empty: give a request as a JSON object'],
  ['two lines', request.repeat(2), 'the request has 2 lines: select one (`sed -n 1p`)'],
  ['a list', `[${request}]`, 'the request must be a JSON object'],
  ['a cut line', request.slice(0, 20), 'the request is not JSON: the string has no end at /action_key'],
])('one request is no %s', async (_, content, expected) => {
  const path = join(temporaryFolder(), 'given');
  writeFileSync(path, content);
  await expect(readRequestFile(`@${path}`, 'the request')).rejects.toThrow(expected);
});

test('one request may have several lines', async () => {
  const text = JSON.stringify(JSON.parse(request), null, 2);
  expect(await readRequestFile(text, 'the request')).toMatchObject({ given: { action: 'pay.send' } });
});
