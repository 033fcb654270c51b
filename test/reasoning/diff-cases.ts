// Edits of policies with known effects: the findings that a comparison must give for each, in order and with
// their first words.

export interface DiffCase {
  readonly name: string;
  readonly before: string;
  readonly after: string;
  /** Texts of list files, by path and side. */
  readonly lists?: {
    readonly before: Readonly<Record<string, string>>;
    readonly after: Readonly<Record<string, string>>;
  };
  /** `TIER FROM TO: condition and condition`, the decisive ones in order. */
  readonly findings: readonly string[];
}

const payments = (body: string, shape = 'amount: number 0.01.., to: string, note?: string ..100'): string => `
approvers finance "Finance"
action pay.make { ${shape} }
action pay.plan { ${shape} }
list known = ["ann", "bob"]
${body}`;

const mails = (rule: string): string => `
action mail.send { to: [string] 1.., subject: string }
list colleagues = ["ann", "bob"]
policy mail on mail.send {
  allow all
  escalate strangers to owner when ${rule}
}`;

const hours = (span: string): string => `
action job.run { name: string }
hours office = mon-fri ${span} in "Europe/Zurich"
policy jobs on job.run {
  allow night when now not in office
  allow day after approval by owner when now in office
}`;

const manyEntries = Array.from({ length: 2_000 }, (_, at) => `host-${at}.example.com`).join('\n');

export const diffCases: readonly DiffCase[] = [
  {
    name: 'a limit that is raised past a ceiling of another rule',
    before: payments(`let limit = 1_000
policy p on pay.* {
  allow known_payee when payload.to in known and payload.amount <= limit
  allow any after approval by finance when payload.amount <= 10_000
}`),
    after: payments(`let limit = 12_000
policy p on pay.* {
  allow known_payee when payload.to in known and payload.amount <= limit
  allow any after approval by finance when payload.amount <= 10_000
}`),
    findings: [
      '1 DENY ALLOW: payload.amount > 10000 and <= 12000 and payload.to in known',
      '1 ESCALATE ALLOW: payload.amount > 1000 and <= 10000 and payload.to in known',
    ],
  },
  {
    name: 'a guard that is deleted',
    before: payments(`policy p on pay.* {
  allow known_payee when payload.to in known
  escalate numbers to finance when payload has note and payload.note matches '.*[0-9]{8}.*'
}`),
    after: payments(`policy p on pay.* {
  allow known_payee when payload.to in known
}`),
    findings: [`1 ESCALATE ALLOW: payload has note and payload.note matches '.*[0-9]{8}.*'`],
  },
  {
    name: '`some` that became `every`',
    before: mails('some r in payload.to (r not in colleagues)'),
    after: mails('every r in payload.to (r not in colleagues)'),
    findings: [
      '1 ESCALATE ALLOW: some r in payload.to (r not in colleagues) and not (every r in payload.to (r not in colleagues))',
    ],
  },
  {
    name: 'a line more in a list file',
    before: payments(`list trusted: string from "trusted.txt"
policy p on pay.* {
  allow trusted when payload.to in trusted
}`),
    after: payments(`list trusted: string from "trusted.txt"
policy p on pay.* {
  allow trusted when payload.to in trusted
}`),
    lists: {
      before: { 'trusted.txt': manyEntries },
      after: { 'trusted.txt': `${manyEntries}\nevil.example.com` },
    },
    findings: ['1 DENY ALLOW: payload.to in trusted (new: "evil.example.com")'],
  },
  {
    name: 'an action that leaves a policy',
    before: payments(`policy p on pay.* { allow all }
policy q on pay.make, pay.plan { deny much when payload.amount > 100 }`),
    after: payments(`policy p on pay.* { allow all }
policy q on pay.make { deny much when payload.amount > 100 }`),
    findings: ['1 DENY ALLOW: payload.amount > 100'],
  },
  {
    name: 'hours that are moved, across a change of clocks',
    before: hours('09:00-17:00'),
    after: hours('10:00-17:00'),
    findings: ['1 ESCALATE ALLOW: now in office (before) and now not in office (now)'],
  },
  {
    name: 'two people who became one',
    before: payments('policy p on pay.* { allow all after approval by finance needs 2 }'),
    after: payments('policy p on pay.* { allow all after approval by finance needs 1 }'),
    findings: ['3 ESCALATE ESCALATE: '],
  },
  {
    name: 'a let that three policies use',
    before: payments(`let limit = 100
policy a on pay.make { allow small when payload.amount <= limit }
policy b on pay.plan { allow small when payload.amount <= limit }
policy c on pay.* { deny stranger when payload.to not in known and payload.amount > limit }`),
    after: payments(`let limit = 200
policy a on pay.make { allow small when payload.amount <= limit }
policy b on pay.plan { allow small when payload.amount <= limit }
policy c on pay.* { deny stranger when payload.to not in known and payload.amount > limit }`),
    findings: [
      '1 DENY ALLOW: payload.amount > 100 and <= 200',
      '1 DENY ALLOW: payload.amount > 100 and <= 200',
    ],
  },
  {
    name: 'a wildcard that covers a new action',
    before: payments('policy p on pay.* { allow small when payload.amount < 10 }'),
    after: payments(`action pay.refund { amount: number 0.. }
policy p on pay.* { allow small when payload.amount < 10 }`),
    findings: ['4 DENY ALLOW: payload.amount < 10'],
  },
  {
    name: 'an optional field that is required',
    before: payments('policy p on pay.* { allow all }'),
    after: payments(
      'policy p on pay.* { allow all }',
      'amount: number 0.01.., to: string, note: string ..100',
    ),
    findings: ['5 ALLOW DENY: payload.note is left out'],
  },
  {
    name: 'a range that is wider',
    before: payments('policy p on pay.* { allow all }', 'amount: number 1..100, to: string'),
    after: payments('policy p on pay.* { allow all }', 'amount: number 1..500, to: string'),
    findings: ['4 DENY ALLOW: payload.amount was not admitted as number 1..100 and payload.amount > 100'],
  },
  {
    name: 'a pattern that admits longer texts',
    before: payments('policy p on pay.* { allow all }', "amount: number, to: string matches '[a-z]{1,5}'"),
    after: payments('policy p on pay.* { allow all }', "amount: number, to: string matches '[a-z]{1,8}'"),
    findings: ["4 DENY ALLOW: payload.to was not admitted as string matches '[a-z]{1,5}'"],
  },
  {
    name: 'a refactoring',
    before: payments(`let limit = 100
policy p on pay.* {
  allow small when payload.amount <= limit and payload.to in known
  deny odd when payload.to == "eve" or payload.to == "mallory"
}`),
    after: payments(`let limit = 50 * 2
let is_known = payload.to in ["bob", "ann"]
policy small_payments on pay.* {
  allow known_payee when not (payload.amount > limit) and is_known
}
policy strangers on pay.* {
  deny odd when not (payload.to not in ["mallory", "eve"])
}`),
    findings: [],
  },
];
