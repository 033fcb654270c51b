// Small policies with claims whose answers people worked out, by the kind of condition that decides them.

export interface KnownClaims {
  readonly name: string;
  readonly policies: string;
  readonly on: string;
  readonly proved: readonly string[];
  readonly refuted: readonly string[];
}

export const knownClaims: readonly KnownClaims[] = [
  {
    name: 'numbers of a table by an enumeration',
    policies: `action ship.send { weight: number 0.., region: "eu" | "us" | "ap" }
table caps = { eu: 10, us: 20 }
policy p on ship.send { allow ok when payload.weight <= caps[payload.region] }`,
    on: 'ship.send',
    proved: [
      'never allow when payload.weight > 20',
      'never allow when payload.region == "ap"',
      'never allow when payload.region == "eu" and payload.weight > 10',
      'never allow when payload.weight > caps[payload.region]',
      'never deny when payload.region == "us" and payload.weight <= 20',
      'never allow when payload.region not in caps',
    ],
    refuted: [
      'never allow when payload.weight > 10',
      'never allow when caps[payload.region] > 15',
      'never allow when payload.region in caps',
    ],
  },
  {
    name: 'amounts of a table by currency',
    policies: `action pay.send { amount: money(currency) 0.01.., currency: "USD" | "EUR" | "GBP" }
table daily = { USD: 200 USD, EUR: 300 EUR }
meter paid = sum(payload.amount) of pay.send per agent, payload.currency over 24h
policy p on pay.send { allow ok when payload.amount <= daily[payload.currency] and paid <= daily[payload.currency] }`,
    on: 'pay.send',
    proved: [
      'never allow when payload.currency == "USD" and payload.amount > 200 USD',
      'never allow when payload.currency == "GBP"',
      'never allow when payload.amount > 2 * daily[payload.currency]',
      'never allow when paid > daily[payload.currency]',
      'never allow when payload.currency == "EUR" and paid > 300 EUR',
      'never allow when payload.currency == "USD" and payload.amount + 50 USD > 250 USD',
    ],
    refuted: [
      'never allow when payload.currency == "USD" and payload.amount > 100 USD',
      'never allow when payload.currency == "EUR" and paid >= 300 EUR',
      'never allow when payload.amount in [daily[payload.currency], 1 USD]',
    ],
  },
  {
    name: 'cells of other types, by other keys',
    policies: `action file.read { path: string, level: integer 0..9, owner: string, team?: "a" | "b", parts: [{ team: "a" | "b", size: number }] ..5 }
table folders = { a: "/srv/a", b: "/srv/b" }
table days = { a: 2026-06-01, b: 2026-07-01 }
table limits = { a: 3, b: 5 }
table levels = { ann: 3, bob: 5 }
table chiefs = { ann: "bob", bob: "cid" }
policy p on file.read {
  allow own when payload.level <= levels[payload.owner]
  deny chief when chiefs[payload.owner] == "cid" and payload.level > 4
  deny late when today in "Europe/Berlin" > days[payload.team else "b"]
  deny parts when some part in payload.parts (part.size > limits[part.team])
  deny next when levels[chiefs[payload.owner]] < payload.level
  deny folder when payload.path == folders[payload.team else "a"]
}`,
    on: 'file.read',
    proved: [
      'never allow when payload.level > 5',
      'never allow when payload.owner == "ann" and payload.level > 3',
      'never allow when payload.owner == "cid"',
      'never allow when payload.owner not in levels',
      'never allow when payload.owner == "bob"',
      'never allow when now > 2026-08-01T00:00Z',
      'never allow when some part in payload.parts (part.size > 5)',
      'never allow when payload has team and payload.team == "b" and payload.path == "/srv/b"',
    ],
    refuted: [
      'never allow when payload.level > 2',
      'never allow when payload.owner == "ann"',
      'never allow when some part in payload.parts (part.size > 4)',
      'never allow when payload.path == "/srv/b"',
      'never allow when now > 2026-06-15T00:00Z',
    ],
  },
  {
    name: 'lists that may be absent',
    policies: `action mail.tag { tags?: [string ..20] ..20 }
policy p on mail.tag { allow all }`,
    on: 'mail.tag',
    proved: ['never allow when "a" in (payload.tags else ([])) and "a" not in (payload.tags else ([]))'],
    refuted: [
      'never allow when "a" in (payload.tags else ([])) and "b" in (payload.tags else ([]))',
      'never allow when "a" in (payload.tags else ([])) and "b" in (payload.tags else ([])) and "c" in (payload.tags else ([]))',
    ],
  },
  {
    name: 'dates that are calculated',
    policies: `action rent.make { born: date, due: date, n: integer, at: timestamp, till?: date }
hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
policy p on rent.make {
  allow ok
  deny young when payload.born + 18 years > today in "Europe/Berlin"
  deny late when payload.due < today in "Europe/Berlin"
  deny closed when now not in office
  deny far when payload.due > (payload.till else payload.due) + 3 months
  deny at when date(payload.at, "Asia/Tokyo") > payload.due
}`,
    on: 'rent.make',
    proved: [
      'never allow when payload.born + 17 years > today in "Europe/Berlin"',
      'never allow when payload.born + 216 months > payload.due',
      'never allow when today in "Europe/Berlin" == 2026-12-25 and payload.due < 2026-12-25',
      'never allow when today in "Europe/Berlin" == 2026-12-26',
      'never allow when payload.born > 2040-01-01',
      'never allow when payload.born + 18 years > 2054-01-01',
      'never allow when payload has till and payload.due > payload.till + 4 months and payload.till < 9999-01-01',
      'never allow when payload.at > 2030-01-01T00:00Z and payload.due < 2029-12-01',
      'always deny when payload.born > 2040-01-01 and now < 2041-01-01T00:00Z',
      'never allow when payload.born + 20 years > payload.due + 3 years and payload.due < 9000-01-01',
    ],
    refuted: [
      'never allow when payload.n > 4',
      'never allow when payload.born + 19 years > today in "Europe/Berlin"',
      'never allow when payload.born + 18 years == today in "Europe/Berlin"',
      'never allow when payload.due - today in "Europe/Berlin" > 3d',
      'never allow when today in "Europe/Berlin" == 2026-12-25',
      'never allow when payload has till and payload.due > payload.till + 2 months',
      'never allow when payload.born + 1 month == 2000-02-28',
      'never allow when payload.born + 18 years > date(payload.at, "Europe/Berlin")',
      'never allow when today in "Asia/Tokyo" > payload.due',
      'never deny when payload.born + 1 month == 2000-02-28',
    ],
  },
  {
    name: 'whole numbers',
    policies: `action stock.move { a: integer, b: integer, lines: [{ count: integer 0..99 }] ..5, any: [{ count: integer }] }
policy p on stock.move {
  allow few when payload.a + payload.b < 6 and sum line in payload.lines (line.count) <= 20
  deny odd when 2 * payload.a + 4 * payload.b in 6..7
}`,
    on: 'stock.move',
    proved: [
      'never allow when payload.a + payload.b > 5 and payload.a in -1_000..1_000 and payload.b in -1_000..1_000',
      'never allow when sum line in payload.lines (line.count) >= 21',
      'never allow when payload.a + 2 * payload.b == 3 and payload.a in -1_000..1_000 and payload.b in -1_000..1_000',
      'never deny when payload.a in 1..9 and payload.b in 0..9 and 2 * payload.a + 4 * payload.b == 9',
    ],
    refuted: [
      'never allow when payload.a + payload.b > 4',
      'never allow when sum line in payload.lines (line.count) >= 20',
      'never allow when payload.a + 2 * payload.b == 4',
    ],
  },
  {
    name: 'texts whatever their case',
    policies: `action note.add { text: string, title: string }
list kinds ignoring case = ["Fire", "water"]
policy p on note.add {
  allow kinds when payload.text in kinds
  deny urgent when payload.title mentions any of ["Urgent", "NOW"]
}`,
    on: 'note.add',
    proved: [
      'never allow when fold(payload.text) != "fire" and fold(payload.text) != "water"',
      'never allow when payload.text == "earth"',
      'never allow when payload.title mentions any of ["urgent"]',
    ],
    refuted: [
      'never allow when fold(payload.text) == "fire"',
      'never allow when payload.text == "FIRE"',
      'never allow when payload.title mentions any of ["later"]',
    ],
  },
  {
    name: 'payloads as large as the service accepts',
    policies: `action mail.send { few: [string] 1..15, some: [string ..1000] 1..50, many: [string] 1..50, body: string }
policy p on mail.send {
  allow ok when every t in payload.few (t ends with "@x.example") and every t in payload.many (t ends with "@x.example")
  deny body when every t in payload.some (payload.body contains "x" and t == "a")
}`,
    on: 'mail.send',
    proved: [
      'never allow when some t in payload.many (t == "mallory")',
      'never allow when not (every t in payload.few (t ends with "@x.example"))',
      'always deny when every t in payload.few (t == "b@y.example")',
    ],
    refuted: [
      'never deny when every t in payload.many (t == "a@x.example") and every t in payload.few (t == "a@x.example") and payload.body == ""',
      'never deny when payload.body == "" and every t in payload.many (t ends with "@x.example") and every t in payload.few (t == "a@x.example")',
      'never deny when not (payload.body contains "x") and every t in payload.many (t == "a@x.example") and every t in payload.few (t == "a@x.example")',
    ],
  },
];
