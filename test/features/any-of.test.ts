// `any of`: the same test for each text of a list, in every stage from the text to the reasons of a decision.

import { describe, expect, it } from 'vitest';
import { explain } from '../../src/language/spec/explain-rule.ts';
import { compileText, factsOf } from '../language/emit/engine.ts';

const long = Array.from({ length: 256 }, (_, at) => `"-${at}"`).join(', ');

function decide(condition: string, payload: Record<string, string>): string {
  const { engine } = compileText(policy(condition));
  return engine!.decide(factsOf(payload)).outcome;
}

function policy(condition: string): string {
  return `action a.b { name: string, file: path }
list endings = [".test", ".example"]
list long = [${long}]
list nothing = [] may be empty
policy p on a.b {
  allow x when ${condition}
}`;
}

describe('any of', () => {
  it.each([
    ['payload.name ends with any of endings', 'a.test', 'a.tests'],
    ['payload.name starts with any of ["a-", "b-"]', 'b-1', 'ab-'],
    ['payload.name contains any of ["://", "@"]', 'x@y', 'x:y'],
    ["payload.name like any of ['a*', '*\\*']", 'z*', 'z'],
    ["payload.name matches any of ['a\\d', 'b+']", 'bb', 'xbb'],
    ['payload.name ends with any of long', 'x-255', 'x-256'],
    ['not (payload.name ends with any of nothing)', 'anything', null],
    ['payload.name ends with any of [".one"]', 'a.one', 'a.ones'],
  ])('%s', (condition, granted, refused) => {
    expect(decide(condition, { name: granted, file: '/f' })).toBe('ALLOW');
    if (refused !== null) expect(decide(condition, { name: refused, file: '/f' })).toBe('DENY');
  });

  it('reads folders as paths', () => {
    const condition = 'payload.file inside any of ["/tmp", "/workspace"]';
    expect(decide(condition, { name: 'n', file: '/workspace/./a' })).toBe('ALLOW');
    expect(decide(condition, { name: 'n', file: '/workspaces' })).toBe('DENY');
    expect(decide(condition, { name: 'n', file: '/tmp/../etc' })).toBe('DENY');
  });

  it.each([
    ['10.1.2.3', 'ALLOW'],
    ['fd00::1', 'ALLOW'],
    ['192.0.2.7', 'ALLOW'],
    ['::ffff:192.0.2.7', 'ALLOW'],
    ['192.0.2.8', 'DENY'],
    ['2001:db8::1', 'DENY'],
  ])('finds %s among networks and addresses: %s', (ip, outcome) => {
    for (const right of ['inner', '["10.0.0.0/8", "fd00::/8", "192.0.2.7"]']) {
      const { engine } = compileText(`action a.b { ip: ip }
list inner = ["10.0.0.0/8", "fd00::/8", "192.0.2.7"]
policy p on a.b {
  allow x when payload.ip in ${right}
}`);
      expect(engine!.decide(factsOf({ ip })).outcome).toBe(outcome);
    }
  });

  it('is explained as the one test that is written', () => {
    const { set } = compileText(policy('payload.name ends with any of endings'));
    const facts = factsOf({ name: 'a', file: '/f' });
    const [rule] = explain(set!, facts);
    expect(rule?.explanation).toMatchObject({ truth: 'false', parts: [{ value: 'a', parts: [] }] });
  });
});
