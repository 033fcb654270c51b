// The gate resolves payloads: rules, reasons and traces see canonical texts, and the payload that was sent
// stays unchanged. For an approval, every other spelling is another request.

import { describe, expect, test } from 'vitest';
import type { Json, JsonObject } from '../../../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';
import { tracedRules } from '../../../src/language/model/trace.ts';
import { compile } from '../../../src/pipeline.ts';
import { requestDigest } from '../../../src/service/requests/record/vote-scope.ts';

const source = `
action file.read {
  path: path
  more?: [path] ..3
  from?: { href: url, note: string }
  key?: secret path
  short?: path matches '/tmp/[a-z]+' ..8
}
policy files on file.read {
  allow workspace
    when payload.path inside "/workspace"
    because "{payload.path} is in the workspace"
}`;

const { engine } = compile({
  files: [{ path: 'a.policy', text: source }],
  readListFile: () => ({ code: 'list-file-missing', message: 'there are no list files' }),
});

function factsOf(payload: JsonObject): Facts {
  return {
    action: 'file.read',
    payload,
    agent: {},
    request: {},
    nowMs: 0,
    meters: {},
    satisfied: nothingSatisfied,
  };
}

describe('a payload that passes the gate', () => {
  test('is told where rules see other texts than were sent; secrets are not', () => {
    const payload = {
      path: '/workspace/./a//b',
      more: ['/x', '/y/', 'z/..'],
      from: { href: 'HTTPS://Example.com', note: '/a/./b' },
      key: '/root/./key',
    };
    const sent = structuredClone(payload);
    const { decision, trace, resolved } = engine!.decideTraced(factsOf(payload));
    expect(payload).toEqual(sent);
    expect(decision.reason).toBe('/workspace/a/b is in the workspace');
    expect(tracedRules(trace)[0]?.reads).toEqual({ 'payload.path': { value: '/workspace/a/b' } });
    expect(resolved).toEqual([
      { pointer: '/from/href', resolved: 'https://example.com/' },
      { pointer: '/more/1', resolved: '/y' },
      { pointer: '/more/2', resolved: '.' },
      { pointer: '/path', resolved: '/workspace/a/b' },
    ]);
  });

  test('is decided as it is where all of it is canonical', () => {
    const traced = engine!.decideTraced(factsOf({ path: '/workspace/a', more: ['/x'] }));
    expect(traced.decision.outcome).toBe('ALLOW');
    expect(traced.resolved).toBeUndefined();
  });

  test.each<[string, Json]>([
    ['a longer spelling of a short path', '/tmp/././././a'],
    ['a spelling that the pattern does not have', '/tmp//a/'],
  ])('has the declared length and pattern in its canonical form: %s', (_, short) => {
    expect(engine!.decide(factsOf({ path: '/workspace', short })).outcome).toBe('ALLOW');
  });

  test.each<[string, Json]>([
    ['a way out of the pattern', '/tmp/a/../../b'],
    ['a way above where it starts', '../tmp/a'],
    ['a backslash', '/tmp\\a'],
  ])('is of the declared shape: %s', (_, short) => {
    expect(engine!.decide(factsOf({ path: '/workspace', short })).by).toBe('invalid_payload');
  });

  test('is another request in another spelling: no approval of one counts for the other', () => {
    const digestOf = (path: string) =>
      requestDigest({ agentId: 'a', actionKey: 'file.read', payload: { path }, request: {} });
    expect(digestOf('/workspace/./a')).not.toBe(digestOf('/workspace/a'));
  });
});
