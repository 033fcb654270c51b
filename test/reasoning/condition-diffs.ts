// Edits of one condition: some in other words, which change no decision, and some that change decisions.

const declared = `approvers fin "F"
approvers legal "L"
type region = "eu" | "us" | "ap"
action x.y { amount: money(currency) 0.01.., currency: "USD" | "EUR", n: integer, m: number, to: string ..100, mail: email, url: url, peer: ip, path: path, born: date, due: date, at: timestamp, region: region, note?: string, line: string ..500, text: string, flag: boolean, tags: [string ..20] ..9, items: [{ sku: string ..20, qty: integer 0..99, price: number 0..1000, tags: [string ..20] ..5 }] ..9 }
list known = ["ann", "bob"]
list kinds ignoring case = ["Fire", "Water"]
list nets: network = ["10.0.0.0/8", "192.168.0.0/16"]
table caps = { eu: 10, us: 20 }
hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
meter day = sum(payload.n) of x.y per agent over 24h
`;

/** A policy that allows what meets the condition. */
export function allowing(condition: string): string {
  return `${declared}policy p on x.y { allow ok when ${condition} }`;
}

export const sameConditions: readonly (readonly [string, string])[] = [
  ['payload.n > 4', 'not (payload.n <= 4)'],
  ['payload.n > 4', 'payload.n >= 5'],
  ['payload.n in 1..5', 'payload.n >= 1 and payload.n < 6'],
  ['2 * payload.n <= 9', 'payload.n <= 4'],
  ['payload.to in known', 'payload.to == "ann" or payload.to == "bob"'],
  ['payload.text in kinds', 'fold(payload.text) in ["fire", "water"]'],
  ['payload.text mentions any of ["Urgent"]', 'payload.text mentions any of ["urgent"]'],
  ['every i in payload.items (i.qty <= 5)', 'not (some i in payload.items (i.qty > 5))'],
  ['sum i in payload.items (i.qty) <= 20', 'sum k in payload.items (k.qty) < 21'],
  ['count i in payload.items (i.qty > 5) == 0', 'no i in payload.items (i.qty > 5)'],
  ['some i in payload.items (some t in i.tags (t == "a"))', 'some j in payload.items ("a" in j.tags)'],
  [
    'every l in links(payload.text) (host(l) == "a.example")',
    'no k in links(payload.text) (host(k) != "a.example")',
  ],
  [
    'every c in commands(payload.line) (c.program in ["git", "ls"])',
    'every d in commands(payload.line) (d.program == "git" or d.program == "ls")',
  ],
  [
    'every c in commands(payload.line) (c.program == "git" and c.only_reads)',
    'every c in commands(payload.line) (c.only_reads) and every c in commands(payload.line) (c.program == "git")',
  ],
  ['payload.peer in nets', 'payload.peer in "10.0.0.0/8" or payload.peer in "192.168.0.0/16"'],
  ['payload.path starts with "/srv/"', 'payload.path like "/srv/*"'],
  ['payload.to matches "ab.*"', 'payload.to matches "a(b.*)"'],
  ['payload.born + 18 years <= today in "UTC"', 'not (today in "UTC" < payload.born + 216 months)'],
  ['payload.due - payload.born > 5d', 'payload.due - payload.born >= 6d'],
  ['payload.due > today in "Europe/Berlin"', 'payload.due - today in "Europe/Berlin" >= 1d'],
  [
    'payload.n <= caps[payload.region]',
    'payload.region == "eu" and payload.n <= 10 or payload.region == "us" and payload.n <= 20',
  ],
  [
    'payload.amount <= 100 USD or payload.amount <= 90 EUR',
    'payload.amount <= 90 EUR or not (payload.amount > 100 USD) and payload.currency == "USD"',
  ],
  ['length(payload.tags) + length(payload.items) <= 9', 'length(payload.items) <= 9 - length(payload.tags)'],
  ['(payload.note else "x") == "x"', 'not (payload has note) or payload.note == "x"'],
  ['now in office and payload.flag', 'payload.flag and not (now not in office)'],
];

export const otherConditions: readonly (readonly [string, string])[] = [
  ['payload.n > 4', 'payload.n > 5'],
  ['payload.n in 1..5', 'payload.n in 1..6'],
  ['payload.to in known', 'payload.to == "ann"'],
  ['payload.text in kinds', 'fold(payload.text) in ["fire", "air"]'],
  ['payload.text mentions any of ["urgent"]', 'payload.text mentions any of ["urgent", "now"]'],
  ['every i in payload.items (i.qty <= 5)', 'every i in payload.items (i.qty <= 6)'],
  ['sum i in payload.items (i.qty) <= 20', 'sum i in payload.items (i.qty) <= 21'],
  ['count i in payload.items (i.qty > 5) <= 2', 'count i in payload.items (i.qty > 5) <= 3'],
  ['some i in payload.items ("a" in i.tags)', 'some i in payload.items ("b" in i.tags)'],
  [
    'every l in links(payload.text) (host(l) == "a.example")',
    'every l in links(payload.text) (host(l) in ["a.example", "b.example"])',
  ],
  [
    'every c in commands(payload.line) (c.program in ["git", "ls"])',
    'every c in commands(payload.line) (c.program in ["git", "ls", "cat"])',
  ],
  [
    'every c in commands(payload.line) (c.program == "git")',
    'every c in commands(payload.line) (c.program == "git" and c.subcommand == "log")',
  ],
  [
    'every c in commands(payload.line) (c.only_reads)',
    'every c in commands(payload.line) (c.only_reads and "-f" not in c.options)',
  ],
  ['payload.peer in nets', 'payload.peer in "10.0.0.0/8"'],
  ['payload.path starts with "/srv/"', 'payload.path inside "/srv"'],
  ['payload.to matches "ab.*"', 'payload.to matches "ab+.*c"'],
  ['payload.born + 18 years <= today in "UTC"', 'payload.born + 17 years <= today in "UTC"'],
  ['payload.born + 18 years <= 2026-02-28', 'payload.born <= 2008-02-28'],
  ['payload.due > today in "Europe/Berlin"', 'payload.due > today in "Asia/Tokyo"'],
  ['payload.n <= caps[payload.region]', 'payload.n <= 10'],
  [
    'payload.amount <= 100 USD or payload.amount <= 90 EUR',
    'payload.amount <= 100 USD or payload.amount <= 95 EUR',
  ],
  ['day <= 100', 'day < 100'],
  ['(payload.note else "x") == "x"', 'payload has note and payload.note == "x"'],
  ['now in office', 'now in office or payload.flag'],
  ['length(payload.url) <= 200', 'length(payload.url) <= 201'],
  ['host(payload.url) within "a.example"', 'host(payload.url) == "a.example"'],
  ['domain(payload.mail) == "a.example"', 'domain(payload.mail) within "a.example"'],
  [
    'length(payload.url) <= 200 and host(payload.url) within "a.example"',
    'length(payload.url) <= 201 and host(payload.url) within "a.example"',
  ],
  ['payload.m * 3 <= 10', 'payload.m * 3 <= 11'],
];
