// Conditions as lines: their texts in the file, each part with its result.

import { expect, test } from 'vitest';
import type { ConditionLine } from '../../../src/analysis/condition-lines.ts';
import { explainRecord } from '../../../src/analysis/explain-record.ts';
import { createWorkspace } from '../../../src/analysis/workspace.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { textsOf } from './texts.ts';

const policy = `
action key.use { token?: secret string 1..90, uses: integer, place: string }
list near = ["here", "there"]
let few = payload.uses < 3
policy keys on key.use when payload.uses > 0 {
  allow little
    when few and payload.place in near
    unless payload has token
  deny far
    unless payload.place
      # Notes are no part of it.
      in near
  escalate rich to owner when agent.risk_tier == "high"
  risk plain +1
}
`;

const record = {
  actionKey: 'key.use',
  agent: { name: 'a' },
  request: {},
  createdAtMs: 0,
  meters: {},
  satisfied: { escalate: [], reauth: [] },
} as const;

function shown(payload: JsonObject): Readonly<Record<string, readonly string[]>> {
  const workspace = createWorkspace();
  workspace.take(textsOf({ 'k.policy': policy }));
  const { conditions } = explainRecord(workspace.compileWith([]), { ...record, payload });
  return Object.fromEntries(
    conditions.map(({ rule, truth, lines }) => [`${rule} ${truth}`, lines.map(lineText)]),
  );
}

function lineText({ depth, text, value, truth }: ConditionLine): string {
  return `${'  '.repeat(depth)}${text}${truth === null ? ` = ${value}` : `: ${truth}`}`;
}

test('what joins has no line of its own, what is unknown says so, and secrets are not told', () => {
  const token = { secret: `hmac-sha256:${'0'.repeat(64)}` };
  const found = shown({ token, uses: 2, place: 'x' });
  const positive = ['payload.uses > 0: true', '  payload.uses = 2'];
  expect(found).toEqual({
    'keys/far true': [
      ...[...positive, 'unless payload.place in near: true', '  payload.place in near: false'],
      '    payload.place = x',
    ],
    'keys/plain true': positive,
    // Of the parts of an `and` or `or`, only those that settle the result are shown.
    'keys/rich unknown': [...['agent.risk_tier == "high": unknown', '  agent.risk_tier = unknown']],
    'keys/little false': [
      'payload.place in near: false',
      '  payload.place = x',
      'unless payload has token: false',
      '  payload has token: true',
    ],
  });
  // Conditions that hold, or may hold, come first.
  expect(Object.keys(found).at(-1)).toBe('keys/little false');
});

test('a payload that is of another shape is for no rule', () => {
  expect(shown({ uses: 'many' })).toEqual({});
});
