// What is suggested for a request, and what is not: each kind of edit, with the text around it unchanged.

import { describe, expect, it } from 'vitest';
import { createSuggester, type Suggestion, type Suggestions } from '../../../src/analysis/suggest/suggest.ts';
import { formattedText } from '../../../src/language/assist/formatted-text.ts';
import type { JsonObject } from '../../../src/language/model/json.ts';
import { type Facts, nothingSatisfied } from '../../../src/language/model/request.ts';

const action = `action pay.send {
  amount:   money(currency) 0.01..1_000_000
  currency: "USD"
  vendor:   string ..80
  pin?:     secret string ..8
}
`;

const policies = `${action}
approvers finance "Finance"

list vendors = [
  "Staples", # paper
  "Uline",
]

let limit = 1_000 USD # for one payment

policy payments on pay.send {
  allow known # the usual case
    when payload.vendor in vendors and payload.amount <= limit
    because "Known"

  escalate large to finance
    when payload.amount > 500 USD
}
`;

interface Sources {
  readonly policy: string;
  readonly lists?: Readonly<Record<string, string>>;
}

function suggest(
  { policy, lists = {} }: Sources,
  payload: JsonObject,
  more: Partial<Facts> = {},
): Suggestions {
  const suggester = createSuggester({
    files: [{ path: 'a.policy', text: policy }],
    readListFile: (path) =>
      path in lists
        ? { text: lists[path]! }
        : { code: 'list-file-missing', message: `\`${path}\` does not exist` },
  });
  if (suggester === null) throw new Error('the policies have errors');
  const facts: Facts = {
    action: 'pay.send',
    payload,
    agent: { risk_tier: 'low' },
    request: {},
    nowMs: Date.UTC(2026, 2, 2, 15),
    meters: {},
    satisfied: nothingSatisfied,
    ...more,
  };
  return suggester.suggest(facts);
}

function payment(amount: number, vendor: string): JsonObject {
  return { amount, currency: 'USD', vendor };
}

function texts({ suggestions }: Suggestions): readonly string[] {
  return suggestions.map(({ text }) => text);
}

/** The lines that a suggestion adds. */
function added({ files }: Suggestion): readonly string[] {
  return files.flatMap(({ before, after }) => {
    const old = before.split('\n');
    return after.split('\n').filter((line) => !old.includes(line));
  });
}

describe('suggestions', () => {
  it('add an entry to a list, and keep the comments of its lines', () => {
    const found = suggest({ policy: policies }, payment(100, 'Acme'));
    expect(found).toMatchObject({ goal: 'ALLOW', forbidding: [] });
    const list = found.suggestions.find(({ kind }) => kind === 'list')!;
    expect(list.text).toBe('adds "Acme" to the list `vendors`');
    expect(list.files).toMatchObject([
      { path: 'a.policy', after: policies.replace('  "Uline",\n', '  "Uline",\n  "Acme",\n') },
    ]);
    expect(list.diff).toMatchObject({ limits: [], compared: ['pay.send'] });
    expect(list.decision).toMatchObject({ outcome: 'ALLOW', by: 'payments/known' });
  });

  it('add a rule with the values of the request, formatted, the narrowest first', () => {
    const { suggestions } = suggest({ policy: policies }, payment(100, 'Acme'));
    expect(suggestions[0]).toMatchObject({ kind: 'rule', milder: { count: expect.any(Number) } });
    expect(added(suggestions[0]!)).toContain('  allow this_request');
    expect(suggestions.map(({ milder }) => milder.count)).toEqual(
      suggestions.map(({ milder }) => milder.count).toSorted((a, b) => a - b),
    );
    for (const { files } of suggestions) expect(formattedText(files[0]!.after)).toBe(files[0]!.after);
  });

  it('raise the bound of a let together with an exception for the guard, which is one suggestion', () => {
    const found = suggest({ policy: policies }, payment(1_200.5, 'Staples'));
    expect(found.goal).toBe('ALLOW');
    const lines = found.suggestions.map(added);
    expect(lines.some((one) => one.includes('let limit = 1_200.5 USD # for one payment'))).toBe(true);
    for (const one of found.suggestions) expect(one.decision.outcome).toBe('ALLOW');
  });

  it('add a line to a list file', () => {
    const policy = `${action}
list vendors from "vendors.txt"

policy payments on pay.send {
  allow known
    when payload.vendor in vendors
    because "Known"
}
`;
    const found = suggest({ policy, lists: { 'vendors.txt': '# ours\nStaples' } }, payment(1, 'Acme'));
    const list = found.suggestions.find(({ kind }) => kind === 'list');
    expect(list?.files).toEqual([
      { path: 'vendors.txt', before: '# ours\nStaples', after: '# ours\nStaples\nAcme\n' },
    ]);
  });

  it('remove the entry by which a guard stops the request', () => {
    const policy = `${action}
list blocked = ["Acme", "Umbrella"]

policy payments on pay.send {
  allow small
    when payload.amount <= 100 USD
    because "Small"

  deny listed
    when payload.vendor in blocked
}
`;
    expect(texts(suggest({ policy }, payment(1, 'Acme')))).toContain(
      'removes "Acme" from the list `blocked`',
    );
  });

  it('add to an `unless` that is there', () => {
    const policy = `${action}
policy payments on pay.send {
  allow small
    when payload.amount <= 100 USD
    because "Small"

  deny strangers
    unless payload.vendor == "Staples"
}
`;
    const { suggestions } = suggest({ policy }, payment(1, 'Acme'));
    const exception = suggestions.find(({ kind }) => kind === 'exception')!;
    expect(exception.files[0]!.after).toContain('unless payload.vendor == "Staples"\n      or ');
  });

  it('lead to people where a guarantee requires them', () => {
    const policy = `${policies}
guarantee asked on pay.send {
  never allow unapproved when payload.vendor not in vendors
}
`;
    const found = suggest({ policy }, payment(100, 'Acme'));
    expect(found).toMatchObject({
      goal: 'ESCALATE',
      forbidding: [{ guarantee: 'asked', text: 'never allow unapproved when payload.vendor not in vendors' }],
    });
    expect(texts(found).join()).toContain('after approval by finance');
    // The guarantee reads the list, so another entry would change what it says.
    expect(texts(found).join()).not.toContain('to the list');
  });

  it('are none where a guarantee forbids the request', () => {
    const policy = `${policies}
guarantee limits on pay.send {
  never allow when payload.amount > 1_000 USD
}
`;
    const found = suggest({ policy }, payment(1_001, 'Staples'));
    expect(found).toMatchObject({ goal: null, suggestions: [], forbidding: [{ guarantee: 'limits' }] });
  });

  it('are none for a request that is allowed, and for one that no rule sees', () => {
    expect(suggest({ policy: policies }, payment(1, 'Staples'))).toMatchObject({
      decision: { outcome: 'ALLOW' },
      suggestions: [],
    });
    expect(suggest({ policy: policies }, { amount: 'x' })).toMatchObject({
      decision: { by: 'invalid_payload' },
      suggestions: [],
    });
    expect(suggest({ policy: policies }, {}, { action: 'pay.other' })).toMatchObject({
      decision: { by: 'undeclared_action' },
      suggestions: [],
    });
  });

  it('never contain the value of a secret field', () => {
    const found = suggest({ policy: policies }, { ...payment(100, 'Acme'), pin: 'hunter2' });
    expect(found.suggestions.length).toBeGreaterThan(0);
    expect(JSON.stringify(found.suggestions.map(({ text, files }) => [text, files]))).not.toContain(
      'hunter2',
    );
  });

  it('go into a policy of their own where the policies are about several actions', () => {
    const policy = `${action}
action pay.back { amount: integer 1..100 }

policy both on pay.send, pay.back {
  allow marked
    when "payer" in agent.tags
    because "Marked"
}
`;
    const [first] = suggest({ policy }, payment(1, 'Acme')).suggestions;
    expect(added(first!)).toContain('policy exceptions on pay.send {');
    expect(first!.diff.compared).toEqual(['pay.send']);
  });

  it('leave out a change that `writ check --strict` warns of', () => {
    // A rule that is about every payment would be unconditional, and the only field of this action is constant.
    const policy = `action pay.send { vendor: "Acme" }

policy payments on pay.send {
  allow marked
    when "payer" in agent.tags
    because "Marked"
}
`;
    for (const { kind } of suggest({ policy }, { vendor: 'Acme' }).suggestions) expect(kind).not.toBe('rule');
  });
});
