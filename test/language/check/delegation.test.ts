// Links of delegations are checked like the `when` of a policy on the actions that they name.

import { describe, expect, it } from 'vitest';
import { checkLink } from '../../../src/language/check/delegation.ts';
import { matchesAction } from '../../../src/language/model/delegation.ts';
import { compile } from '../../../src/pipeline.ts';

const policies = `
list vendors = ["Staples"]
meter calls = count() of payment.create per agent over 1h
action payment.create { amount: money(currency), currency: string, vendor?: string, card: secret string }
action payment.refund { amount: money(currency), currency: string }
action mail.send { to: email }
policy all on * { allow any when calls < 100 and (action.key != "x" or payload.vendor in vendors) }
`.replace(' and (action.key != "x" or payload.vendor in vendors)', '');

const { engine } = compile({
  files: [{ path: 'p.policy', text: policies }],
  readListFile: () => ({ code: 'list-file-missing', message: '' }),
});
const declared = { keys: [...engine!.actions()], shapeOf: engine!.shapeOf };

function problems(actions: readonly string[], when: string | null = null): readonly string[] {
  return checkLink({ name: 'sub', actions, when }, declared).problems.map(({ message }) => message);
}

describe('the actions of a link', () => {
  it('are those that its patterns match', () => {
    const { link } = checkLink({ name: 'sub', actions: ['payment.*', 'mail.send'], when: null }, declared);
    expect(link?.actions).toEqual(['mail.send', 'payment.create', 'payment.refund']);
  });

  it('are declared', () => {
    expect(problems(['payment.cancel'])).toEqual(['`payment.cancel` is not declared']);
    expect(problems(['files.*'])).toEqual(['no declared action matches `files.*`']);
    expect(problems(['a.*.b'])).toEqual(['`*` in `a.*.b` is neither first nor last']);
  });

  it('match like those of a policy', () => {
    const patterns = ['*', 'a.*', '*.c', 'a.b.c'];
    const matching = (key: string) => patterns.filter((pattern) => matchesAction(pattern, key));
    expect(matching('a.b.c')).toEqual(['*', 'a.*', '*.c', 'a.b.c']);
    expect(matching('a.c')).toEqual(['*', 'a.*', '*.c']);
    expect(matching('ab.d')).toEqual(['*']);
  });
});

describe('the condition of a link', () => {
  it('reads the request', () => {
    expect(problems(['payment.*'], 'payload.amount <= 100 USD')).toEqual([]);
    expect(problems(['*'], 'request.signed and now < 2030-01-01T00:00:00Z')).toEqual([]);
  });

  it('is known in every action that the patterns match', () => {
    expect(problems(['*'], 'payload.amount <= 100 USD')).toEqual([expect.stringContaining('`mail.send`')]);
    expect(problems(['payment.create'], 'payload.vendor == "Staples"')).toEqual([
      expect.stringContaining('payload.vendor'),
    ]);
    expect(problems(['payment.create'], 'payload.amount < "x"')).toHaveLength(1);
    expect(problems(['payment.create'], 'payload.card == "x"')).toEqual([expect.stringContaining('secret')]);
  });

  it.each(['vendors', 'calls', 'finance'])('names nothing of the policies, such as %s', (name) => {
    expect(problems(['payment.create'], `${name} == "x"`)).toEqual([
      expect.stringContaining('a delegation reads the request alone'),
    ]);
  });

  it.each(['"Staples" in vendors', '"x" in nothing["k"]', 'now within vendors', 'risk < 50'])(
    'cannot read what policies declare: %s',
    (text) => expect(problems(['payment.create'], text)).not.toEqual([]),
  );

  it('is one expression', () => {
    expect(problems(['payment.create'], '')).not.toEqual([]);
    expect(problems(['payment.create'], 'request.signed } policy p on * { allow a')).not.toEqual([]);
    expect(problems(['payment.create'], 'request.signed # and more')).not.toEqual([]);
    expect(problems(['payment.create'], 'payload.amount')).not.toEqual([]);
  });
});
