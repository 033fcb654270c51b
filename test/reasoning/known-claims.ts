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
    name: 'standing approvals',
    policies: `action pay.send { amount: number 0.., vendor: string }
approvers finance "Finance"
policy p on pay.send {
  allow small when payload.amount <= 100
  allow known after approval by finance standing per payload.vendor for 8h when payload.amount <= 500
  escalate new_payee to finance standing per session, payload.vendor for 8h up to 10 times when payload.vendor != "Uline" and payload.amount <= 200
  escalate large to finance when payload.amount > 300
  deny huge when payload.amount > 400
  shadow escalate watched to finance standing per session for 8h when payload.amount == 0
}`,
    on: 'pay.send',
    proved: [
      'never standing when payload.amount > 400',
      'never standing when payload.amount > 500',
      'never standing when payload.vendor == "Uline" and payload.amount <= 100',
      'never allow unapproved when payload.vendor != "Uline"',
      'never allow unapproved when payload.amount > 100',
    ],
    refuted: [
      'never standing',
      'never standing when payload.amount > 300',
      'never standing when payload.vendor == "Uline"',
      'never standing when payload.amount <= 100',
      'never allow when payload.vendor != "Uline"',
    ],
  },
  {
    name: 'facts about delegations',
    policies: `action pay.send { amount: number 0.. }
action mail.send { to: string }
policy p on pay.send {
  allow own unless request.delegated
  allow buyer when request.delegate == "buyer" and payload.amount <= 50
  deny behind_research when "research" in request.chain
}
policy m on mail.send { allow any }`,
    on: 'pay.send',
    proved: [
      'never allow when request.delegated and request.delegate != "buyer"',
      'never allow when request.delegated and payload.amount > 50',
      'never allow when request.delegated and request.delegate == "research"',
      'never allow when "research" in request.chain',
      'never allow when "buyer" not in request.chain and length(request.chain) > 0',
      'never allow when request.delegated and "buyer" not in request.chain',
      'never allow when not request.delegated and "other" in request.chain',
      'never allow when not request.delegated and length(request.chain) > 0',
      'never allow when request.delegated and length(request.chain) == 0',
      'never allow when some one in request.chain (one == "research")',
      'never deny when length(request.chain) == 0',
      'never allow when request.delegated and request.delegate not in request.chain',
    ],
    refuted: [
      'never allow',
      'never allow when request.delegated',
      'never allow when not request.delegated and payload.amount > 50',
      'never allow when request.delegate == "buyer"',
      // Of an agent that asks by itself this is unknown.
      'never allow when not request.delegated and request.delegate == "research"',
      'never allow when "other" in request.chain',
      'never allow when "other" in request.chain and request.delegate == "buyer"',
      'never allow when length(request.chain) > 2',
      'never deny when request.delegated',
      'never deny when request.delegate == "buyer" and payload.amount == 1',
      'never deny when not request.delegated or "buyer" in request.chain',
    ],
  },
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
  {
    name: 'payments with budgets, approvals and risk',
    policies: `approvers fin "F"
approvers legal "L"
action pay.send { amount: money(currency) 0.01.., currency: "USD" | "EUR", to: string, ref?: string matches '[A-Z]{2}[0-9]{4}', iban: string ..34 }
list known = ["acme", "initech"]
list blocked ignoring case = ["Evil Corp", "Globex"]
table caps = { USD: 1_000 USD, EUR: 900 EUR }
meter day = sum(payload.amount) of pay.send per agent, payload.currency over 24h
meter week = sum(payload.amount) of pay.send per agent, payload.currency over 7d
meter often = count() of pay.send per agent over 1h
hours office = mon-fri 08:00-18:00 in "Europe/Zurich"
policy pay on pay.send {
  allow small when payload.amount <= caps[payload.currency] and payload.to in known
  allow big after approval by fin needs 2 within 4h when payload.amount <= 50_000 USD or payload.amount <= 45_000 EUR
  deny  blocked when payload.to in blocked
  deny  budget when payload.currency == "USD" and day > 10_000 USD or payload.currency == "EUR" and day > 9_000 EUR
  deny  often when often > 20
  escalate night to legal when now not in office
  reauth critical within 15m when agent.risk_tier == "critical" or not request.signed
  risk  r +30 when payload.to not in known
  risk  q +40 when now not in office
  deny  risky when risk >= 70
}`,
    on: 'pay.send',
    proved: [
      'never allow when payload.to == "EVIL corp"',
      'never allow when fold(payload.to) == "globex"',
      'never allow unapproved when payload.currency == "EUR" and payload.amount > 900 EUR',
      'never allow unapproved when payload.to not in known',
      'never allow when payload.currency == "USD" and payload.amount > 50_000 USD',
      'never allow when payload.currency == "USD" and day > 10_000 USD',
      'never allow when payload.currency == "USD" and payload.amount > 10_000 USD',
      'never allow when payload.to not in known and now not in office',
      'never allow unapproved when now not in office',
      'always ask fin needs 2 when payload.amount > 1_000 USD and payload.currency == "USD"',
      'always ask legal when now not in office',
      'never allow when often >= 21',
      'never allow when risk >= 70',
      'never allow unapproved when agent.risk_tier == "critical"',
      'never ask fin needs 3',
      'never ask legal when now in office',
    ],
    refuted: [
      'never allow when payload.currency == "USD" and payload.amount > 9_000 USD',
      'never allow unapproved when payload.to == "acme"',
      'never reauth',
      'never deny when payload.to in known',
      'never allow when now not in office',
      'always ask fin when payload.amount > 900 EUR',
      'never allow when payload has ref and payload.ref like "AB*"',
      'never allow when week > 10_000 USD',
    ],
  },
  {
    name: 'files by path and content',
    policies: `action file.write { path: path matches '/.*', size: integer 0..10_000_000, mode?: "0644" | "0755", text: string ..100_000 }
policy files on file.write {
  allow workspace when payload.path inside "/workspace" and payload.size <= 1_000_000
  deny hidden when payload.path like "*/.*"
  deny keys when payload.path matches '.*\\.(pem|key)'
  deny exec when (payload.mode else "0644") == "0755" and not (payload.path ends with ".sh")
  deny secret when payload.text matches '(?s).*AKIA[0-9A-Z]{16}.*'
}`,
    on: 'file.write',
    proved: [
      'never allow when payload.path starts with "/etc"',
      'never allow when payload.path inside "/workspace/.git"',
      'never allow when payload.path ends with ".pem"',
      'never allow when payload has mode and payload.mode == "0755" and payload.path ends with ".py"',
      'never allow when payload.size > 1_000_000',
      'never allow when payload.path == "/workspace/a.key"',
      'never allow when not (payload.path starts with "/workspace")',
      'always deny when payload.path like "/workspace/*/.ssh/*"',
    ],
    refuted: [
      'never allow when payload.path inside "/workspace/src"',
      'never allow when payload has mode and payload.mode == "0755"',
      'never allow when payload.path ends with ".sh"',
      'never allow when payload.text contains "AKIA"',
      'always deny when payload.path like "*secret*"',
    ],
  },
  {
    name: 'mails with lists of addresses and files',
    policies: `action mail.send { to: [email] 1..50, cc?: [email] ..50, subject: string ..200, body: string ..50_000, files: [{ name: string ..100, size: integer 0..1_000_000 }] ..10 }
list partners = ["partner.example", "example.com"]
policy mail on mail.send {
  allow ok when every t in payload.to (domain(t) within partners)
  deny cc when payload has cc and some c in payload.cc (not (domain(c) within partners))
  deny big when sum f in payload.files (f.size) > 2_000_000
  deny many when count t in payload.to (domain(t) == "example.com") > 10
  deny exe when some f in payload.files (f.name ends with ".exe" or f.name ends with ".bat")
  deny links when some l in links(payload.body) (host(l) != "docs.example.com")
  deny words when payload.subject mentions any of ["Urgent", "invoice"]
  deny two when length(payload.to) + length(payload.files) > 40
}`,
    on: 'mail.send',
    proved: [
      'never allow when some t in payload.to (domain(t) == "evil.example")',
      'never allow when some f in payload.files (f.name == "a.exe")',
      'never allow when sum f in payload.files (f.size) >= 2_000_001',
      'never allow when payload.subject mentions any of ["URGENT"]',
      'never allow when payload has cc and some c in payload.cc (domain(c) == "evil.example")',
      'never allow when length(payload.to) > 40',
      'never allow when some l in links(payload.body) (host(l) != "docs.example.com")',
      'never allow when some l in links(payload.body) (host(l) == "evil.example")',
      'never allow when count t in payload.to (domain(t) == "example.com") >= 11',
      'never allow when some f in payload.files (f.name like "*.bat")',
    ],
    refuted: [
      'never allow when length(payload.to) > 10',
      'never allow when some f in payload.files (f.size > 999_999)',
      'never allow when some t in payload.to (domain(t) == "www.example.com")',
      'never allow when length(links(payload.body)) > 0',
      'never allow when count t in payload.to (domain(t) == "example.com") >= 10',
      'never allow when payload.subject == "hello"',
    ],
  },
  {
    name: 'shell lines',
    policies: `action shell.run { line: string ..1000, dir: path }
policy sh on shell.run {
  allow reads when every c in commands(payload.line) (c.only_reads)
  allow git when every c in commands(payload.line) (c.program == "git" and c.subcommand in ["log", "status", "add"])
  deny rm when some c in commands(payload.line) (c.program in ["rm", "dd"])
  deny etc when payload.dir inside "/etc"
}`,
    on: 'shell.run',
    proved: [
      'never allow when some c in commands(payload.line) (c.program == "rm")',
      'never allow when some c in commands(payload.line) (not c.only_reads and c.program != "git")',
      'never allow when payload.dir == "/etc/ssh"',
      'never allow when some c in commands(payload.line) (c.program == "git" and c.subcommand == "push" and not c.only_reads)',
    ],
    refuted: [
      'never allow when some c in commands(payload.line) (c.program == "git")',
      'never allow when payload.dir inside "/srv"',
      'never allow when some c in commands(payload.line) (c.program == "ls")',
    ],
  },
  {
    name: 'web requests with hosts within lists',
    policies: `action web.fetch { url: url, peer: ip, method: "GET" | "POST" | "PUT", born: date, hops: [{ host: host, tags: [string ..20] ..5 }] ..5 }
list internal: network = ["10.0.0.0/8", "192.168.0.0/16"]
list high: host = ["b.example"]
list both: host = ["a.example", "b.example"]
policy web on web.fetch {
  allow get when payload.method == "GET" and scheme(payload.url) == "https" and host(payload.url) within "example.com"
  allow post when payload.method != "GET" and host(payload.url) in both and host(payload.url) not in high
  deny ip when payload.peer in internal
  deny port when port(payload.url) != 443
  deny young when payload.born + 18 years > today in "Europe/Berlin"
  deny hop when some h in payload.hops (h.host within "evil.example" or some t in h.tags (t == "bad"))
  deny long when length(payload.url) > 200
}`,
    on: 'web.fetch',
    proved: [
      'never allow when payload.peer in "10.1.0.0/16"',
      'never allow when scheme(payload.url) == "http" and payload.method == "GET"',
      'never allow when payload.method == "POST" and host(payload.url) == "b.example"',
      'never allow when payload.method == "PUT" and host(payload.url) == "c.example"',
      'never allow when port(payload.url) == 8443',
      'never allow when payload.born > 2040-01-01',
      'never allow when payload.born + 10 years > today in "Europe/Berlin"',
      'never allow when length(payload.url) >= 201',
      'never allow when some h in payload.hops (h.host == "x.evil.example")',
      'never allow when some h in payload.hops (some t in h.tags (t == "bad"))',
      'never allow when host(payload.url) == "evil.example"',
    ],
    refuted: [
      'never allow when payload.method == "PUT"',
      'never allow when payload.peer in "172.16.0.0/12"',
      'never allow when host(payload.url) == "www.example.com"',
      'never allow when payload.born == 1990-05-05',
      'never allow when some h in payload.hops (h.host == "a.example")',
      'never allow when some h in payload.hops (some t in h.tags (t == "good"))',
      'never allow when length(payload.url) > 190',
    ],
  },
  {
    name: 'queries with facts about people and points',
    policies: `approvers dba "D"
action db.query { rows: integer 1..100_000, table: string, at: timestamp, keys: { owner: string, team?: string }, hash: signed string }
list own = ["orders", "items"]
let heavy = payload.rows > 10_000
policy db on db.query {
  allow own when payload.table in own and "reader" in request.user.roles
  allow any after approval by dba except request.user.email when "admin" in request.user.groups
  deny future when payload.at > now + 1d
  deny old when now - payload.at > 30d
  escalate heavy to dba when heavy and payload.table != "items"
  deny team when payload.keys has team and payload.keys.team != payload.keys.owner
  deny point unless request.point == "gateway"
  deny tags when "blocked" in agent.tags
}`,
    on: 'db.query',
    proved: [
      'never allow when "blocked" in agent.tags',
      'never allow when request.point != "gateway"',
      'never allow unapproved when payload.table == "users"',
      'never allow when payload.at > now + 2d',
      'never allow when now - payload.at > 31d',
      'never allow unapproved when heavy and payload.table == "orders"',
      'never allow when payload.keys has team and payload.keys.team == "x" and payload.keys.owner == "y"',
      'never allow unapproved when "reader" not in request.user.roles',
    ],
    refuted: [
      'never allow unapproved when heavy',
      'never allow when payload.at > now',
      'never allow when now - payload.at > 29d',
      'never deny when "reader" in request.user.roles',
      'never allow when payload.keys has team',
      'always ask dba when heavy',
    ],
  },
];
