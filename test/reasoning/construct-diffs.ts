// Edits of policies with rows, definitions, conditionals and approvers from data: some without meaning, and some
// that change decisions, each with the kinds of its findings.

export interface Edit {
  readonly name: string;
  readonly before: string;
  readonly after: string;
}

export interface MeaningfulEdit extends Edit {
  /** The kinds of findings with an example: loosened or tightened, and the two outcomes. */
  readonly changes: readonly string[];
  /** Whether the comparison also leaves something undecided, which has no example. */
  readonly isPartlyOpen?: true;
}

const head = `approvers finance "Finance"
approvers cfo "The CFO"
approvers legal "Legal"
type person = { name: string ..40, mail: email, nick?: string ..20 }
action pay.send {
  n: integer 0..1000, employee: string ..20, region: "eu" | "us", zone: "Europe/Berlin" | "Asia/Tokyo", at: timestamp
  memory: string ..20, argv: [string ..20] ..5, to: person, line: string ..300, note?: string ..50
  items: [{ sku: string ..20, qty: integer 0..9, price: number 0..100 }] ..5, lead: signed by "hr" email
}
table staff pushed by "hr" key id: string { manager?: email, deputy?: email, limit?: number, ok?: boolean, team?: "finance" | "cfo" }
table caps = { eu: 10, us: 20 }
`;

/** A policy of these rules; declarations that the rules use follow them. */
function paying(rules: string, declarations = ''): string {
  return `${head}policy p on pay.send {\n${rules}\n}\n${declarations}\n`;
}

function allowing(condition: string, declarations = ''): string {
  return paying(`allow ok when ${condition}`, declarations);
}

function denying(condition: string, declarations = ''): string {
  return paying(`allow all\n  deny bad when ${condition}`, declarations);
}

function asking(approvers: string, declarations = ''): string {
  return paying(`allow all\n  escalate large to ${approvers} within 4h when payload.n > 5`, declarations);
}

const worker = 'let worker = staff[payload.employee]';
const regions = (eu: string): string => `table regions = { eu: "${eu}", us: "cfo" }`;
const senior = (limit: number): string => `let senior = if payload.n > ${limit} then "cfo" else "finance"`;
const commands = (test: string): string =>
  `every c in commands(payload.line) (c.program == "npm" and ${test})`;

export const editsWithoutMeaning: readonly Edit[] = [
  {
    name: 'a row gets a name',
    before: allowing('staff[payload.employee].limit > 5'),
    after: allowing('worker.limit > 5', worker),
  },
  {
    name: 'a record gets a name',
    before: allowing('payload.to.name == "ann" and payload.to has nick'),
    after: allowing('payee.name == "ann" and payee has nick', 'let payee = payload.to'),
  },
  {
    name: 'a condition becomes a definition',
    before: allowing('payload.n > 100 or payload.n == 7'),
    after: allowing('odd(payload.n)', 'let odd(n: number) = n > 100 or n == 7'),
  },
  {
    name: 'a definition and its parameter have other names',
    before: allowing('odd(payload.n)', 'let odd(n: number) = n > 100 or n == 7'),
    after: allowing('strange(payload.n)', 'let strange(count: number) = count == 7 or count > 100'),
  },
  {
    name: 'a definition is used in a quantifier',
    before: denying('some i in payload.items (i.price > 10 and i.qty > 1)'),
    after: denying(
      'some i in payload.items (dear(i.price, i.qty))',
      'let dear(price: number, count: number) = price > 10 and count > 1',
    ),
  },
  {
    name: 'a definition of a record replaces its fields',
    before: allowing('payload.to.name == "ann" or payload.to has nick and payload.to.nick == "ann"'),
    after: allowing(
      'called(payload.to, "ann")',
      'let called(who: person, name: string) = who.name == name or who has nick and who.nick == name',
    ),
  },
  {
    name: 'a conditional is written with and and or',
    before: allowing('if payload.region == "eu" then payload.n < 10 else payload.n < 20'),
    after: allowing('payload.region == "eu" and payload.n < 10 or payload.region == "us" and payload.n < 20'),
  },
  {
    name: 'an implication is written with not and or',
    before: allowing('if payload has note then payload.note == "x"'),
    after: allowing('not (payload has note) or payload.note == "x"'),
  },
  {
    name: 'a conditional value becomes a table',
    before: allowing('payload.n <= (if payload.region == "eu" then 10 else 20)'),
    after: allowing('payload.n <= caps[payload.region]'),
  },
  {
    name: 'the branches of a conditional value change places',
    before: allowing('payload.n <= (if payload.region == "eu" then 10 else 20)'),
    after: allowing('payload.n <= (if payload.region != "eu" then 20 else 10)'),
  },
  {
    name: 'a fallback of a cell is written with has',
    before: allowing('(staff[payload.employee].limit else 5) > 3'),
    after: allowing('not (staff[payload.employee] has limit) or staff[payload.employee].limit > 3'),
  },
  {
    name: 'a fallback of a truth is written with has',
    before: denying('staff[payload.employee].ok else false'),
    after: denying('staff[payload.employee] has ok and staff[payload.employee].ok'),
  },
  {
    name: 'the words of a command get a name',
    before: allowing(commands('c.words starts with ["run", "test"]')),
    after: allowing(commands('c.words starts with tests'), 'let tests = ["run", "test"]'),
  },
  {
    name: 'the parts of a test of commands change places',
    before: allowing('every c in commands(payload.line) (c.program == "npm" and c.words starts with ["ci"])'),
    after: allowing('every k in commands(payload.line) (k.words starts with ["ci"] and k.program == "npm")'),
  },
  {
    name: 'the approver from data gets a name',
    before: asking('staff[payload.employee].manager'),
    after: asking('boss', 'let boss = staff[payload.employee].manager'),
  },
  {
    name: 'the approver is read by the name of the row',
    before: asking('boss or finance', 'let boss = staff[payload.employee].manager'),
    after: asking('finance or worker.manager', worker),
  },
  {
    name: 'approvers of whom any may approve change places',
    before: asking('finance or cfo'),
    after: asking('cfo or finance'),
  },
  {
    name: 'approvers who must all approve change places',
    before: asking('staff[payload.employee].deputy and legal'),
    after: asking('legal and staff[payload.employee].deputy'),
  },
  {
    name: 'a quantity has another unit',
    before: allowing('quantity(payload.memory) <= quantity("1Gi")'),
    after: allowing('quantity(payload.memory) <= quantity("1024Mi")'),
  },
  {
    name: 'a text is joined from constants',
    before: allowing('payload.employee == "eu/web"'),
    after: allowing('payload.employee == key', 'let key = join("eu", "/", "web")'),
  },
  {
    name: 'a zone from the payload is written out',
    before: denying('date(payload.at, payload.zone) == 2026-03-03'),
    after: denying(
      'payload.zone == "Asia/Tokyo" and date(payload.at, "Asia/Tokyo") == 2026-03-03 or payload.zone == "Europe/Berlin" and date(payload.at, "Europe/Berlin") == 2026-03-03',
    ),
  },
  {
    name: 'a sum with a filter has another variable',
    before: denying('sum i in payload.items (if i.sku == "a" then i.qty else 0) > 3'),
    after: denying('sum k in payload.items (if k.sku == "a" then k.qty else 0) > 3'),
  },
  {
    name: 'a count with a filter becomes a quantifier',
    before: denying('count i in payload.items (i.price > 10) > 0'),
    after: denying('some i in payload.items (i.price > 10)'),
  },
  {
    name: 'a table of constants has another name, and its rows another order',
    before: allowing('payload.n <= caps[payload.region]'),
    after: allowing('payload.n <= ceilings[payload.region]', 'table ceilings = { us: 20, eu: 10 }'),
  },
  {
    name: 'an action gets a title, and a rule a claim',
    before: asking('finance or cfo'),
    after: asking(
      'finance or cfo',
      'guarantee g on pay.send {\n  always ask finance or cfo when payload.n > 5\n  never allow unapproved when if payload.region == "eu" then payload.n > 5\n}',
    ).replace('action pay.send {', 'action pay.send "Pay for {employee}, {argv}" {'),
  },
];

const loosened = (from: string, to: string): string => `loosened ${from} ${to}`;
const tightened = (from: string, to: string): string => `tightened ${from} ${to}`;
const [allowed, refused] = [loosened('DENY', 'ALLOW'), tightened('ALLOW', 'DENY')];
const [fewer, more] = [loosened('ESCALATE', 'ESCALATE'), tightened('ESCALATE', 'ESCALATE')];

export const editsWithMeaning: readonly MeaningfulEdit[] = [
  {
    name: 'another group may approve, too',
    before: asking('finance'),
    after: asking('finance or cfo'),
    changes: [fewer],
  },
  {
    name: 'a group may not approve any more',
    before: asking('finance or cfo or legal'),
    after: asking('cfo or legal'),
    changes: [more],
  },
  {
    name: 'one of two groups is enough',
    before: asking('finance and cfo'),
    after: asking('finance or cfo'),
    changes: [fewer],
  },
  {
    name: 'both groups are needed',
    before: asking('finance or cfo'),
    after: asking('finance and cfo'),
    changes: [more],
  },
  {
    name: 'the deputy approves for the manager',
    before: asking('staff[payload.employee].manager'),
    after: asking('staff[payload.employee].deputy'),
    changes: [fewer],
  },
  {
    name: 'the name of the approver means another column',
    before: asking('boss', 'let boss = staff[payload.employee].manager'),
    after: asking('boss', 'let boss = staff[payload.employee].deputy'),
    changes: [fewer],
  },
  {
    name: 'the senior approver begins lower',
    before: asking('senior', senior(9)),
    after: asking('senior', senior(7)),
    changes: [fewer],
  },
  {
    name: 'a constant of a table names another group',
    before: asking('regions[payload.region]', regions('finance')),
    after: asking('regions[payload.region]', regions('legal')),
    changes: [fewer],
  },
  {
    name: 'a person approves for the team',
    before: asking('staff[payload.employee].team'),
    after: asking('staff[payload.employee].manager'),
    changes: [fewer],
  },
  {
    name: 'two people are needed of those who may approve',
    before: asking('staff[payload.employee].manager or finance'),
    after: asking('staff[payload.employee].manager or finance needs 2'),
    changes: [more],
  },
  {
    name: 'the manager approves beside a group',
    before: asking('legal'),
    after: asking('legal and staff[payload.employee].manager'),
    changes: [more],
  },
  {
    name: 'a signed field names the approver',
    before: asking('staff[payload.employee].manager'),
    after: asking('payload.lead'),
    changes: [fewer],
  },
  {
    name: 'a limit holds for missing cells, too',
    before: allowing('payload.n <= staff[payload.employee].limit'),
    after: allowing('payload.n <= (staff[payload.employee].limit else 5)'),
    changes: [allowed],
  },
  {
    name: 'the fallback of a limit is higher',
    before: allowing('payload.n <= (staff[payload.employee].limit else 5)'),
    after: allowing('payload.n <= (staff[payload.employee].limit else 7)'),
    changes: [allowed],
  },
  {
    name: 'a guard lets missing cells pass',
    before: denying('not staff[payload.employee].ok'),
    after: denying('not (staff[payload.employee].ok else true)'),
    changes: [allowed],
  },
  {
    name: 'a cell has to be there',
    before: allowing('(staff[payload.employee].limit else 5) > 3'),
    after: allowing('staff[payload.employee] has limit and staff[payload.employee].limit > 3'),
    changes: [refused],
  },
  {
    name: 'the body of a definition is stricter',
    before: denying('high(payload.n)', 'let high(n: number) = n > 100'),
    after: denying('high(payload.n)', 'let high(n: number) = n > 50'),
    changes: [refused],
  },
  {
    name: 'the body of a definition in a quantifier is milder',
    before: denying('some i in payload.items (dear(i.price))', 'let dear(price: number) = price > 10'),
    after: denying('some i in payload.items (dear(i.price))', 'let dear(price: number) = price > 12'),
    changes: [allowed],
  },
  {
    name: 'a definition is called with another argument',
    before: allowing('known(payload.to.name)', 'let known(name: string) = name == "ann"'),
    after: allowing('known(payload.employee)', 'let known(name: string) = name == "ann"'),
    changes: [allowed, refused],
  },
  {
    name: 'one more word is required',
    before: allowing(commands('c.words starts with ["run"]')),
    after: allowing(commands('c.words starts with ["run", "test"]')),
    changes: [refused],
  },
  {
    name: 'words at the start become words anywhere',
    before: allowing(commands('c.words starts with ["run", "test"]')),
    after: allowing(commands('"run" in c.args and "test" in c.args')),
    changes: [allowed],
    isPartlyOpen: true,
  },
  {
    name: 'a branch of a conditional value is higher',
    before: allowing('payload.n <= (if payload.region == "eu" then 10 else 20)'),
    after: allowing('payload.n <= (if payload.region == "eu" then 15 else 20)'),
    changes: [allowed],
  },
  {
    name: 'the condition of a conditional is the opposite',
    before: allowing('payload.n <= (if payload.region == "eu" then 10 else 20)'),
    after: allowing('payload.n <= (if payload.region == "us" then 10 else 20)'),
    changes: [allowed, refused],
  },
  {
    name: 'an implication has no condition any more',
    before: allowing('if payload.region == "eu" then payload.n < 10'),
    after: allowing('payload.n < 10'),
    changes: [refused],
  },
  {
    name: 'a quantity is larger',
    before: allowing('quantity(payload.memory) <= quantity("1Gi")'),
    after: allowing('quantity(payload.memory) <= quantity("1.5Gi")'),
    changes: [allowed],
    isPartlyOpen: true,
  },
  {
    name: 'a zone is that of the request',
    before: denying('date(payload.at, "Europe/Berlin") == 2026-03-03'),
    after: denying('date(payload.at, payload.zone) == 2026-03-03'),
    changes: [allowed, refused],
  },
  {
    name: 'the filter of a sum counts another kind',
    before: denying('sum i in payload.items (if i.sku == "a" then i.qty else 0) > 3'),
    after: denying('sum i in payload.items (if i.sku in ["a", "b"] then i.qty else 0) > 3'),
    changes: [refused],
    isPartlyOpen: true,
  },
  {
    name: 'a row of constants is gone',
    before: allowing('payload.n <= lows[payload.region]', 'table lows = { eu: 1, us: 2 }'),
    after: allowing('payload.n <= lows[payload.region]', 'table lows = { eu: 1 }'),
    changes: [refused],
  },
  {
    name: 'the first text of a list may be anywhere',
    before: denying('payload.argv starts with ["rm"]'),
    after: denying('"rm" in payload.argv'),
    changes: [refused],
    isPartlyOpen: true,
  },
];
