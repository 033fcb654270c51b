// docs/COMING-FROM.md: its policy compiles without diagnostics, and decides the requests of its table as
// stated.

import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { JsonObject } from '../../src/language/model/json.ts';
import { compile } from '../../src/pipeline.ts';

const text = readFileSync('docs/COMING-FROM.md', 'utf8');
const policy = /```writ\n([\s\S]*?)```/.exec(text)?.[1] ?? '';
const rows = [...text.matchAll(/^\| `(\{.*\})` \| (\w+) \|/gm)].map(([, payload = '', outcome = '']) => ({
  payload,
  outcome,
}));
const others = /also has `(.*)`; for/.exec(text)?.[1] ?? '';

const { engine, diagnostics } = compile({
  files: [{ path: 'refunds.policy', text: policy }],
  readListFile: (path) => ({ code: 'list-file-missing', message: path }),
});

it('has a policy without a remark, and requests of each kind', () => {
  expect(diagnostics).toEqual([]);
  expect(new Set(rows.map(({ outcome }) => outcome))).toEqual(new Set(['ALLOW', 'ESCALATE', 'DENY']));
});

it.each(rows)('$payload is $outcome', ({ payload, outcome }) => {
  const decision = engine?.decide({
    action: 'refund.create',
    payload: Object.assign(JSON.parse(`{${others}}`), JSON.parse(payload)) as JsonObject,
    agent: {},
    request: {},
    nowMs: Date.parse('2026-03-02T10:00:00+01:00'),
    meters: {},
    satisfied: { escalate: [], reauth: [] },
  });
  expect(decision?.outcome).toBe(outcome);
});
