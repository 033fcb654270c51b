// Small policies: which claims are proved, refuted or left undecided. A part that the prover cannot follow
// makes a claim that depends on it undecided, and is named.

import { describe, expect, it } from 'vitest';
import { compileToProgram, type PolicySources } from '../../src/pipeline.ts';
import { type ClauseVerdict, proveGuarantees } from '../../src/reasoning/prove/prove.ts';

function verdictsOf(sources: PolicySources) {
  const { set, diagnostics } = compileToProgram(sources);
  if (set === null) throw new Error(JSON.stringify(diagnostics));
  return { set, verdicts: proveGuarantees(set) };
}

function ofText(text: string): ClauseVerdict {
  return allOfText(text)[0]!;
}

function allOfText(text: string): readonly ClauseVerdict[] {
  const files = [{ path: 'a.policy', text }];
  const missing = { code: 'list-file-missing', message: '' } as const;
  return verdictsOf({ files, readListFile: () => missing }).verdicts;
}

function termsOf({ verdicts }: ClauseVerdict, text: string): readonly string[] {
  return verdicts.flatMap((verdict) =>
    verdict.kind === 'undecided' ? verdict.terms.map(({ start, end }) => text.slice(start, end)) : [],
  );
}

const items = `
action basket.buy { items: [{ id: string, price: number 0.., note: string ..100 }] 1.., ids: [string], total: number, part: number, text: string }
`;

describe('lists', () => {
  it.each([
    ['never allow when some i in payload.items (i.price > 100)', 'proved'],
    ['never allow when some i in payload.items (i.id not in payload.ids)', 'proved'],
    ['never allow when count i in payload.items (i.price > 50) >= 3', 'proved'],
    ['never allow when count i in payload.items (i.price > 50) >= 2', 'refuted'],
    ['never allow when every i in payload.items (i.price > 99)', 'refuted'],
    ['never allow when some i in payload.items (i.id == "a")', 'refuted'],
  ])('%s is %s', (claim, expected) => {
    const text = `${items}
policy p on basket.buy {
  allow all
  deny dear when some i in payload.items (i.price > 100)
  deny stranger when not (every i in payload.items (i.id in payload.ids))
  deny many when count i in payload.items (i.price > 50) > 2
}
guarantee g on basket.buy { ${claim} }`;
    expect(ofText(text).kind).toBe(expected);
  });
});

describe('readings', () => {
  const text = (claim: string, low = '0.01..'): string => `
action pay.make { amount: number ${low} }
meter paid = sum(payload.amount) of pay.make per agent over 24h
policy p on pay.make { allow within when paid <= 10_000 }
guarantee g on pay.make { ${claim} }`;

  it('include the request itself', () => {
    expect(ofText(text('never allow when payload.amount > 10_000')).kind).toBe('proved');
    expect(ofText(text('never allow when payload.amount >= 10_000')).kind).toBe('refuted');
  });

  it('may be below the request where amounts may be negative', () => {
    expect(ofText(text('never allow when payload.amount > 10_000', '-5..')).kind).toBe('refuted');
  });
});

describe('scripts of texts', () => {
  it.each([
    ['never allow when not (payload.vendor is single_script)', 'proved'],
    ['never allow when payload.vendor is single_script', 'refuted'],
    ['never allow when payload.vendor == "St\\u0430ples"', 'proved'],
    ['never allow when payload.vendor == "Staples"', 'refuted'],
    ['never allow when not (payload.note is single_script)', 'refuted'],
  ])('%s is %s', (claim, expected) => {
    const text = `
action pay.make { vendor: string, note: string }
policy p on pay.make { allow plain when payload.vendor is single_script }
guarantee g on pay.make { ${claim} }`;
    expect(ofText(text).kind).toBe(expected);
  });
});

describe('what bounds a value', () => {
  const declared = `
action page.open { link: url, note: string 2..8, at: path, amount: number, many: [{ less: number -0.05..0 }] ..9, tags: [string] 1..3 }
`;
  it.each([
    ['port(payload.link) > -2', 'never allow', 'refuted'],
    ['port(payload.link) > -2', 'never allow when port(payload.link) < 0', 'proved'],
    ['sum one in payload.many (one.less) < -0.3', 'never allow', 'undecided'],
    ['payload.amount > 0', 'never allow when length(payload.note) > 8', 'proved'],
    ['payload.amount > 0', 'never allow when length(payload.note) < 2', 'proved'],
    ['payload.amount > 0', 'never allow when length(payload.note) == 8', 'refuted'],
    ['payload.amount > 0', 'never allow when length(payload.tags) == 0', 'proved'],
    ['payload.amount > 0', 'never allow when length(payload.tags) == 3', 'refuted'],
    ['now > 2027-01-01T00:00:00Z', 'never allow when now < 2027-01-01T00:00:00Z', 'proved'],
    ['now > 2027-01-01T00:00:00Z', 'never allow when now == 2027-01-01T00:00:00Z', 'proved'],
    ['now > 2027-01-01T00:00:00Z', 'never allow when now > 2027-01-02T00:00:00Z', 'refuted'],
    ['now == 2027-01-01T00:00:00Z', 'never allow when now > 2026-01-01T00:00:00Z', 'refuted'],
    ['payload.at inside "/a/b"', 'never allow when payload.at inside "/a/c"', 'proved'],
    ['payload.at inside "/a/b"', 'never allow when not (payload.at starts with "/a/b")', 'proved'],
    ['payload.at inside "/a/b"', 'never allow when payload.at inside "/a"', 'refuted'],
    ['payload.at starts with "/a/b"', 'never allow when not (payload.at inside "/a/b")', 'refuted'],
    ['payload.at inside "/"', 'never allow when payload.at inside "."', 'proved'],
    ['payload.at inside "."', 'never allow when payload.at == "a/b"', 'refuted'],
    ['2 * payload.amount > 20', 'never allow when payload.amount <= 10', 'proved'],
    ['payload.amount / 4 > 2.5', 'never allow when payload.amount <= 10', 'proved'],
    ['payload.amount / 3 > 2.5', 'never allow when payload.amount <= 7.5', 'undecided'],
    ['payload.amount + 5 > 20 and payload.amount < 1_000', 'never allow when payload.amount <= 15', 'proved'],
    ['payload.amount + 5 <= 20', 'always allow when payload.amount in 0.01..15', 'proved'],
    ['payload.amount + 5 <= 20', 'always allow when payload.amount in 0..15', 'refuted'],
  ])('allow when %s: %s is %s', (condition, claim, expected) => {
    const text = `${declared}policy p on page.open { allow few when ${condition} }\nguarantee g on page.open { ${claim} }`;
    expect(ofText(text).kind).toBe(expected);
  });
});

describe('conditions over what a text holds', () => {
  it.each([
    ['never allow when payload.line == "rm -r ."', 'proved'],
    ['never allow when payload.line == "ls && rm -r ."', 'proved'],
    ['never allow when payload.line == "ls"', 'refuted'],
    ['never allow when payload.line contains "rm"', 'undecided'],
  ])('%s is %s', (claim, expected) => {
    const text = `
action shell.run { line: string }
policy p on shell.run {
  allow reading when every c in commands(payload.line) (c.program in ["ls", "cat"] and no a in c.args (a == "-x"))
}
guarantee g on shell.run { ${claim} }`;
    expect(ofText(text).kind).toBe(expected);
  });
});

describe('what is not followed through', () => {
  it.each([
    'payload.total * payload.part > 10',
    '"https://shop.example/" in links(payload.text)',
    'sum i in payload.items (i.price) > 100',
  ])('keeps a claim that turns on `%s` from being proved', (condition) => {
    const text = `${items}
policy p on basket.buy {
  allow all
  deny guarded when payload.text == "x"
}
guarantee g on basket.buy { never allow when ${condition} }`;
    expect(ofText(text).kind).not.toBe('proved');
    // A guard and a claim with the same text have the same condition, whatever the condition means.
    expect(ofText(text.replace('payload.text == "x"', condition)).kind).toBe('proved');
  });

  it('is named', () => {
    const text = `${items}
policy p on basket.buy {
  allow all
  deny product when payload.total * payload.part > 10
}
guarantee g on basket.buy { never allow when payload.part * payload.total > 10 }`;
    const verdict = ofText(text);
    expect(verdict.kind).toBe('undecided');
    expect(termsOf(verdict, text).join()).toMatch(/payload\.(part|total) \* payload\.(part|total) > 10/);
  });

  it('is not named for a claim beside it', () => {
    const text = `${items}
policy p on basket.buy {
  allow all
  deny quotient when payload.total / payload.part > 100
}
guarantee g on basket.buy {
  never allow when payload.part * payload.total > 10
  never allow when payload.total / payload.part > 90
}`;
    const [product, quotient] = allOfText(text);
    expect([product!.kind, quotient!.kind]).toEqual(['undecided', 'undecided']);
    expect(termsOf(product!, text).join()).toContain('payload.part * payload.total > 10');
    expect(termsOf(product!, text).join()).not.toContain('> 90');
    expect(termsOf(quotient!, text).join()).not.toContain('payload.part *');
  });

  it('counts payloads so large that a guard is unknown', () => {
    const text = `
action mail.send { to: [string], known: [string] }
approvers boss "Boss"
policy p on mail.send {
  allow all
  escalate strangers to boss when some r in payload.to (r == "a" and r in payload.known)
}
guarantee g on mail.send { never escalate when every r in payload.to (r not in payload.known) }`;
    const { verdicts } = ofText(text);
    expect(verdicts[0]).toMatchObject({ kind: 'refuted', decision: { outcome: 'ESCALATE' } });
    expect(verdicts[0]?.kind === 'refuted' && JSON.stringify(verdicts[0].facts).length).toBeGreaterThan(
      1_000,
    );
    const short = text.replace('[string], known: [string]', '[string ..20] ..20, known: [string ..20] ..20');
    expect(ofText(short).kind).toBe('proved');
  });
});

describe('texts inside quantifiers', () => {
  const text = (list: string): string => `
action mail.send { to: [string ..9] ${list} }
let boss = "somebody with a name of far more than sixty characters, in all its glory"
policy p on mail.send { allow ok when every t in payload.to (t == boss) }
guarantee g on mail.send { never deny when every t in payload.to (t == boss) }`;

  it('count where they are the text of a let', () => {
    expect(ofText(text('')).kind).toBe('undecided');
    expect(ofText(text('..1000')).kind).toBe('proved');
  });
});

describe('line feeds', () => {
  const lines = `
action note.send { text: string, file: path }
`;
  const rules = (allow: string, deny: string, claim: string): string => `${lines}
policy p on note.send { allow a when ${allow}  deny d when ${deny} }
guarantee g on note.send { ${claim} }`;

  it.each([
    [`payload.text matches '.*secret.*'`, 'never allow when payload.text contains "secret"', 'refuted'],
    [`payload.text matches '(?s).*secret.*'`, 'never allow when payload.text contains "secret"', 'proved'],
    ['payload.text contains "secret"', `never allow when payload.text matches '(?s).*secret.*'`, 'proved'],
    ['payload.text like "*secret*"', `never allow when payload.text matches '(?s).*secret.*'`, 'proved'],
    ['payload.text starts with "a"', `never allow when payload.text matches '(?s)a.*'`, 'proved'],
    [`payload.text matches 'a.*'`, 'never allow when payload.text starts with "a"', 'refuted'],
    [`payload.text matches '.*a'`, 'never allow when payload.text ends with "a"', 'refuted'],
    [`payload.text matches 'a.*'`, 'never allow when payload.text like "a*"', 'refuted'],
    ['payload.file inside "/w"', `never allow when payload.file matches '(?s)/w(/.*)?'`, 'proved'],
    [`payload.file matches '/w(/.*)?'`, 'never allow when payload.file inside "/w"', 'refuted'],
    [`payload.text matches 'a$'`, 'never allow when payload.text == "a"', 'proved'],
    [`not (payload.text matches 'a$')`, `never allow when payload.text matches '(?s).*\\n'`, 'proved'],
  ])('deny %s: %s is %s', (deny, claim, expected) => {
    expect(ofText(rules('payload.text != ""', deny, claim)).kind).toBe(expected);
  });
});
