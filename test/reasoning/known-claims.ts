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
];
