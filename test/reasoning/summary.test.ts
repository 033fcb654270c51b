// Summaries: each condition in words that keep its meaning, each sentence proved, and the changes between two
// sets.

import { describe, expect, it } from 'vitest';
import type { GuaranteeClause } from '../../src/language/model/policy.ts';
import { checkSources } from '../../src/pipeline.ts';
import { decideClauses } from '../../src/reasoning/prove/prove.ts';
import type { SummarySource } from '../../src/reasoning/summary/sentences.ts';
import { type Summary, summaryOf } from '../../src/reasoning/summary/summary.ts';
import { sentenceChanges } from '../../src/reasoning/summary/summary-diff.ts';

function sourceOf(text: string): SummarySource {
  const checked = checkSources({
    files: [{ path: 'a.policy', text }],
    readListFile: () => ({ code: 'list-file-missing', message: 'there is none' }),
  });
  if (checked.set === null) throw new Error(checked.diagnostics.map(({ message }) => message).join('; '));
  return { set: checked.set, files: checked.files, sourceOf: () => text };
}

function said(summary: Summary, action: string): readonly string[] {
  return summary.actions
    .filter(({ actions }) => actions.includes(action))
    .flatMap(({ sentences }) =>
      sentences.map((one) => (one.unconfirmed === null ? one.text : `? ${one.text}`)),
    );
}

const declared = `
action pay.make "Pay {amount} to {to_whom}" {
  amount: money(currency) 0..
  currency: "USD" | "EUR"
  to_whom: string ..100
  note?: string ..100
  mail: email
  file: path
  url: url
  peer: ip
  count: integer
  cpus: integer
  status: string ..9
  urgent: boolean
  names: [string ..20] ..50
  plan: { deletes: integer }
}
approvers finance "Finance, on call"
list known = ["a", "b"]
list sites: host = ["example.com"]
list folders = ["/workspace", "/tmp"]
hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
let limit = 10_000 USD
let is_late = now not in office
meter paid = count() of pay.make per agent over 24h
table payees pushed key id: string { owner: email, vip: boolean }
let internal(who: email) = domain(who) == "example.com"
let payee = payees[payload.to_whom]
table ceilings = { USD: 9_000 USD, EUR: 8_000 EUR }
`;

const words: readonly (readonly [string, string, string])[] = [
  ['internal(payload.mail)', '`internal(payload.mail)` holds', '`internal(payload.mail)` does not hold'],
  ['payee.owner == payload.mail', 'the owner of ‘payee’ is the mail', 'the owner of ‘payee’ is not the mail'],
  [
    'payees[payload.to_whom].owner == payload.mail',
    'the owner of ‘payees’ for the to whom is the mail',
    'the owner of ‘payees’ for the to whom is not the mail',
  ],
  [
    'payload.amount <= ceilings[payload.currency]',
    'the amount is at most ‘ceilings’ for the currency',
    'the amount is more than ‘ceilings’ for the currency',
  ],
  ['payload.cpus <= 8', 'the cpus are at most 8', 'the cpus are more than 8'],
  ['payload.status == "x"', 'the status is "x"', 'the status is not "x"'],
  [
    '(payload.note else "") matches \'CH-[0-9]+\'',
    'the note (empty if there is none) has the form `CH-[0-9]+`',
    'the note (empty if there is none) does not have the form `CH-[0-9]+`',
  ],
  ['payee.vip', 'the vip of ‘payee’ is true', 'the vip of ‘payee’ is not true'],
  ['payload.amount <= limit', 'the amount is at most 10,000 USD', 'the amount is more than 10,000 USD'],
  ['payload.count != 1_000', 'the count is not 1,000', 'the count is 1,000'],
  [
    'payload.plan.deletes > 5',
    'the deletes of the plan are more than 5',
    'the deletes of the plan are at most 5',
  ],
  ['payload.to_whom in known', 'the to whom is one of ‘known’', 'the to whom is not one of ‘known’'],
  [
    'payload.to_whom in ["x", "y"]',
    'the to whom is one of "x" or "y"',
    'the to whom is not one of "x" or "y"',
  ],
  ['payload.count not in 1..5', 'the count is not between 1 and 5', 'the count is between 1 and 5'],
  [
    'payload.to_whom in agent.tags',
    "the agent's tags have the to whom",
    "the agent's tags do not have the to whom",
  ],
  ['"x" in payload.names', '"x" is one of the names', '"x" is not one of the names'],
  ['now in office', 'it is within ‘office’', 'it is outside of ‘office’'],
  ['is_late', '‘is late’ holds', '‘is late’ does not hold'],
  ['payload.urgent', 'the urgent is true', 'the urgent is not true'],
  ['payload has note', '“note” is given', '“note” is not given'],
  ['payload.peer in "10.0.0.0/8"', 'the peer is in "10.0.0.0/8"', 'the peer is not in "10.0.0.0/8"'],
  [
    'payload.file inside any of folders',
    'the file lies in one of ‘folders’',
    'the file lies in none of ‘folders’',
  ],
  [
    "payload.to_whom matches '[a-z]+'",
    'the to whom has the form `[a-z]+`',
    'the to whom does not have the form `[a-z]+`',
  ],
  [
    'host(payload.url) within sites',
    'the host of “url” is in or below ‘sites’',
    'the host of “url” is neither in nor below ‘sites’',
  ],
  [
    'lower(payload.to_whom) == "x"',
    'the to whom, in lower case, is "x"',
    'the to whom, in lower case, is not "x"',
  ],
  [
    'payload.to_whom is single_script',
    'the letters of the to whom are of one script',
    'the letters of the to whom are not of one script',
  ],
  [
    'every one in payload.names (one in known)',
    'for each of the names, it is one of ‘known’',
    'for at least one of the names, it is not one of ‘known’',
  ],
  [
    'some one in payload.names (one in known)',
    'for at least one of the names, it is one of ‘known’',
    'for none of the names, it is one of ‘known’',
  ],
  [
    'no one in payload.names (one in known)',
    'for none of the names, it is one of ‘known’',
    'for at least one of the names, it is one of ‘known’',
  ],
  [
    'count one in payload.names (one in known) > 3',
    '`count one in payload.names (one in known)` is more than 3',
    '`count one in payload.names (one in known)` is at most 3',
  ],
  [
    'payload.urgent and (payload has note or is_late)',
    'the urgent is true and (“note” is given or ‘is late’ holds)',
    'the urgent is not true or (“note” is not given and ‘is late’ does not hold)',
  ],
  ['paid > 3', '‘paid’ is more than 3', '‘paid’ is at most 3'],
];

describe('a condition in words', () => {
  const rules = words.flatMap(([condition], at) => [
    `deny d${at} when ${condition}`,
    `deny u${at} unless ${condition}`,
  ]);
  const policies = `${declared} policy p on pay.make { allow all ${rules.join('\n')} }`;
  const summary = summaryOf(sourceOf(policies));
  const all = summary.actions.flatMap(({ sentences }) => sentences);
  const saidBy = (rule: string) => all.find((one) => one.rule === `p/${rule}`);

  it.each(words)('%s', (condition, is, isNot) => {
    const at = words.findIndex(([one]) => one === condition);
    expect(saidBy(`d${at}`)).toMatchObject({ text: `Is refused if ${is}.`, unconfirmed: null });
    expect(saidBy(`u${at}`)).toMatchObject({ text: `Is refused if ${isNot}.`, unconfirmed: null });
  });

  it('goes with what the names mean', () => {
    expect(summary.words).toMatchObject([
      { name: 'ceilings', text: '9,000 USD for USD and 8,000 EUR for EUR' },
      { name: 'folders', text: '"/workspace" and "/tmp"' },
      { name: 'internal(who)', text: '`domain(who) == "example.com"`' },
      { name: 'is_late', text: 'it is outside of ‘office’' },
      { name: 'known', text: '"a" and "b"' },
      { name: 'office', text: 'mon-fri 09:00-17:00 in Europe/Berlin' },
      {
        name: 'paid',
        text: 'how many were granted of pay.make, per agent, in the last 24h; the request itself and pending requests count',
      },
      { name: 'payee', text: 'the row `payees[payload.to_whom]`' },
      { name: 'payees', text: 'the rows that people push, by id' },
      { name: 'sites', text: '"example.com"' },
    ]);
  });
});

it('says what passes, who is asked, what is refused, and that there is nothing else', () => {
  const summary = summaryOf(
    sourceOf(`${declared} policy p on pay.make {
      allow small when payload.count <= 10
      allow large after approval by finance when payload.count <= 100
      escalate late to finance needs 2 when is_late
      reauth odd when payload.count == 13
      deny huge when payload.count > 1_000
      shadow deny tried when payload.count == 7
      risk bit +10 when payload.count == 8
    }`),
  );
  expect(summary.actions.map(({ title }) => title)).toEqual(['Pay [amount] to [to_whom]']);
  expect(said(summary, 'pay.make')).toEqual([
    'Passes at once if the count is at most 10, unless it waits or is refused by what follows.',
    'Waits up to 24h for one of ‘Finance, on call’ if the count is at most 100, unless it passes at once or is refused.',
    'Waits up to 24h for 2 of ‘Finance, on call’ if ‘is late’ holds, unless it is refused.',
    "Waits for a step-up of the agent's owner (for this request) if the count is 13, unless it is refused.",
    'Is refused if the count is more than 1,000.',
    'Nothing else passes, neither without people nor with them.',
    'Adds 10 to the risk if the count is 8.',
  ]);
});

it('says how long people have, how old a step-up may be, how long a grant is valid, and what is added to the risk', () => {
  const summary = summaryOf(
    sourceOf(`${declared} policy p on pay.make {
      allow small for 10m when payload.count <= 10
      escalate late to finance within 4h when is_late risk +30
      reauth odd within 15m when payload.count == 13
      risk usual -5 when payload.count == 8
    }`),
  );
  expect(said(summary, 'pay.make')).toEqual([
    'Passes at once if the count is at most 10, unless it waits or is refused by what follows. The grant is valid for 10m.',
    'Waits up to 4h for one of ‘Finance, on call’ if ‘is late’ holds, unless it is refused. It also adds 30 to the risk.',
    "Waits for a step-up of the agent's owner (at most 15m old) if the count is 13, unless it is refused.",
    'Nothing else passes.',
    'Takes 5 from the risk if the count is 8.',
  ]);
});

it('explains tables and lists that ignore case, the first entries of each', () => {
  const rows = 'ABCDEFGH'.split('').map((letter) => `${letter}: ${letter.charCodeAt(0)} USD`);
  const meant = (table: string, condition: string) =>
    summaryOf(
      sourceOf(
        `action a.b { amount: money(cur), cur: "USD", key: string }
        list known ignoring case = ["Acme"]
        ${table}
        policy p on a.b { allow one when ${condition} and payload.key in known }`,
      ),
    ).words.map(({ name, text }) => `${name}: ${text}`);
  const known = 'known: "Acme", ignoring case and extra spaces';
  expect(
    meant('table limits = { USD: 1_000 USD, EUR: 900 EUR }', 'payload.amount <= limits[payload.cur]'),
  ).toEqual([known, 'limits: 1,000 USD for USD and 900 EUR for EUR']);
  expect(meant(`table limits = { ${rows.join(', ')} }`, 'payload.amount <= limits[payload.key]')).toEqual([
    known,
    'limits: 65 USD for A, 66 USD for B, 67 USD for C, 68 USD for D, 69 USD for E, 70 USD for F and 2 more',
  ]);
  expect(
    meant('table orders pushed by "shop" key id: string { vip: boolean }', 'orders[payload.key].vip'),
  ).toEqual([known, 'orders: the rows that people and "shop" push, by id']);
});

it('says what later requests an approval may serve', () => {
  const saidOf = (clause: string) =>
    said(
      summaryOf(
        sourceOf(`${declared} policy p on pay.make {
          allow small when payload.count <= 10
          escalate late to finance ${clause} when is_late
        }`),
      ),
      'pay.make',
    )[1];
  const waits = 'Waits up to 24h for one of ‘Finance, on call’ if ‘is late’ holds, unless it is refused.';
  expect(saidOf('')).toBe(waits);
  expect(saidOf('standing per agent for 2d')).toBe(
    `${waits} An approval may also serve later requests of the agent for 2d.`,
  );
  expect(saidOf('standing per user, session for 8h up to 3 times')).toBe(
    `${waits} An approval may also serve later requests of the agent with the same \`session\` and \`user\` for 8h, at most 3 of them.`,
  );
});

it('says up to which risk people may approve by chat', () => {
  const saidOf = (asked: string) =>
    said(
      summaryOf(
        sourceOf(`${declared}
        approvers support "Support" by chat up to risk 60
        approvers legal "Legal" by chat up to risk 20
        table desks = { a: "support", b: "legal", c: "finance" }
        table staff pushed key id: string { boss: email, desk: "support" | "legal" }
        policy p on pay.make {
          allow small when payload.count <= 10
          escalate late to ${asked} when is_late
        }`),
      ),
      'pay.make',
    )[1]?.replace(/^.*unless it is refused\./, '');
  const upTo = (risk: number) => ` It can be approved by chat up to risk ${risk} at most.`;
  expect(saidOf('support')).toBe(upTo(60));
  expect(saidOf('support standing per agent for 2d')).toBe(
    ` An approval may also serve later requests of the agent for 2d.${upTo(60)}`,
  );
  // The lowest limit of everybody who may answer; one who never decides by chat is enough for never.
  expect(saidOf('support and legal')).toBe(upTo(20));
  expect(saidOf('support or legal')).toBe(upTo(20));
  expect(saidOf('support within 1h then to legal')).toBe(upTo(20));
  expect(saidOf('staff[payload.to_whom].desk')).toBe(upTo(20));
  for (const asked of [
    'finance',
    'owner',
    'support and finance',
    'support or owner',
    'desks[payload.to_whom]',
  ])
    expect(saidOf(asked), asked).toBe('');
  expect(saidOf('staff[payload.to_whom].boss')).toBe('');
  expect(saidOf('support within 1h then to finance')).toBe('');
});

it('does not say that something passes where a guard refuses all of it', () => {
  const rules = 'allow part when payload.n > 5  deny more when payload.n > 3';
  const text = `action a.b { n: integer } policy p on a.b { ${rules} }`;
  expect(said(summaryOf(sourceOf(text)), 'a.b')).toEqual([
    'Is refused if “n” is more than 3.',
    'Nothing else passes.',
  ]);
});

it('says nothing of an action that nothing allows, but that it never passes', () => {
  const text =
    'action a.b { n: integer } action a.c { n: integer } policy p on a.c { allow all when payload.n > 1 }';
  expect(said(summaryOf(sourceOf(text)), 'a.b')).toEqual(['Never passes.']);
});

it('asks about those requests alone of which a condition is definitely true', () => {
  const text = 'action a.b { n: integer } policy p on a.b { allow all when "x" in agent.tags }';
  const { set } = sourceOf(text);
  const { condition, span } = set.policies[0]!.rules[0]!;
  const claim: GuaranteeClause = {
    mode: 'always',
    effect: 'allow',
    isUnapproved: true,
    when: condition,
    span,
  };
  const definite: GuaranteeClause = { ...claim, isDefinite: true };
  const found = decideClauses(set, 'a.b', [claim, definite]);
  expect([found.get(claim)?.kind, found.get(definite)?.kind]).toEqual(['refuted', 'proved']);
});

it('tells which sentences and words change, and nothing of what stays', () => {
  const text = (limit: number, known: string): string =>
    `list known = [${known}] action a.b { to: string, n: integer }
    policy p on a.b { allow few when payload.to in known and payload.n <= ${limit}  deny none when payload.n < 1 }`;
  const before = sourceOf(text(10, '"ann"'));
  const changes = sentenceChanges({ before, after: sourceOf(text(1_000, '"ann", "bob"')) }, ['a.b']);
  expect(changes).toEqual([
    {
      subject: 'a.b',
      removed: [
        'Passes at once if “to” is one of ‘known’ and “n” is at most 10, unless it waits or is refused by what follows.',
      ],
      added: [
        'Passes at once if “to” is one of ‘known’ and “n” is at most 1,000, unless it waits or is refused by what follows.',
      ],
    },
    { subject: '‘known’', removed: ['"ann"'], added: ['"ann" and "bob"'] },
  ]);
  expect(sentenceChanges({ before, after: before }, ['a.b'])).toEqual([]);
});
