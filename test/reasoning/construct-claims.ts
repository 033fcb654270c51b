// Claims about policies with approvers from data, rows, definitions, conditionals, words of commands and
// quantities, by the answers that people worked out.

import type { KnownClaims } from './known-claims.ts';

export const constructClaims: readonly KnownClaims[] = [
  {
    name: 'expenses that data send to people',
    policies: `approvers finance "Finance"
approvers cfo "The CFO"
approvers legal "Legal"
action expense.submit { employee: string, amount: number 0..20_000, region: "eu" | "us", lead?: signed by "hr" email }
table staff pushed by "hr" key id: string { manager?: email, team?: "finance" | "cfo", limit?: number }
table regions = { eu: "finance", us: "cfo" }
let worker = staff[payload.employee]
let boss = worker.manager
policy expenses on expense.submit {
  allow small when payload.amount <= (if payload.region == "eu" then 200 else 250)
  allow medium after approval by boss needs 1 within 4h when payload.amount <= (worker.limit else 1_000)
  allow large after approval by finance or cfo within 2h when payload.amount <= 10_000
  escalate region to regions[payload.region] when payload.amount > 5_000
  escalate team to worker.team or legal needs 2 when payload.amount > 8_000
}`,
    on: 'expense.submit',
    proved: [
      'never allow unapproved when payload.amount > 250',
      'never allow unapproved when payload.region == "eu" and payload.amount > 200',
      'never allow when payload.amount > 10_000 and not (worker has limit)',
      'always ask regions[payload.region] when payload.amount > 5_000',
      'never ask legal when payload.amount <= 8_000',
      'always ask worker.team or legal needs 2 when payload.amount > 8_000',
      'never ask cfo when payload.amount <= 200',
      'never deny when payload.amount <= 10_000',
      'never ask finance when payload.amount > 200 and payload.amount <= 250 and payload.region == "us"',
      'always ask finance or cfo when payload.amount > 5_000 and payload.amount <= 10_000 and not (worker has limit)',
    ],
    refuted: [
      'never allow unapproved when payload.amount > 200',
      'always ask finance when payload.amount > 5_000',
      'never ask cfo when payload.amount > 5_000',
      'never allow when payload.amount > 10_000',
      'always ask worker.team or legal needs 3 when payload.amount > 8_000',
      'never ask finance needs 2 when payload.amount > 8_000',
      'never ask boss',
    ],
  },
  {
    name: 'pods with quantities, quotas and zones',
    policies: `action pod.create { memory: string ..10, cpu: string ..10, replicas: integer 1..20, region: "eu" | "us" | "ap", team: "web" | "db", at: timestamp, zone: "Europe/Berlin" | "Asia/Tokyo" }
table quotas = { "eu/web": 2, "us/web": 4, "eu/db": 8 }
let key = join(payload.region, "/", payload.team)
let most = if payload.region == "eu" then 4 else if payload.region == "us" then 8 else 0
let tiny(text: string) = quantity(text) <= quantity("512Mi")
policy pods on pod.create {
  allow small when payload.replicas <= most and tiny(payload.memory)
  allow quota when payload.replicas <= quotas[key] and quantity(payload.cpu) <= 2
  deny holiday when date(payload.at, payload.zone) == 2026-12-25
}`,
    on: 'pod.create',
    proved: [
      'never allow when payload.replicas > 8',
      'never allow when payload.region == "ap"',
      'never allow when payload.region == "eu" and payload.team == "web" and payload.replicas > 4',
      'never allow when not tiny(payload.memory) and quantity(payload.cpu) > 2',
      'never allow when payload.zone == "Asia/Tokyo" and date(payload.at, "Asia/Tokyo") == 2026-12-25',
      'never allow when if payload.region == "eu" then payload.replicas > 8 else payload.replicas > 9',
    ],
    refuted: [
      'never allow when payload.region == "eu" and payload.replicas > 4',
      'never allow when not tiny(payload.memory)',
      'never allow when date(payload.at, "Asia/Tokyo") == 2026-12-25',
      'never allow when if payload.region == "eu" then payload.replicas > 8',
    ],
  },
  {
    name: 'commands by their first words',
    policies: `action shell.run { line: string ..500, argv: [string ..50] ..9 }
let tests = ["run", "test"]
policy shells on shell.run {
  allow tests when every c in commands(payload.line) (c.program == "npm" and (c.words starts with tests or c.words starts with ["ci"]))
  deny removing when payload.argv starts with ["rm", "-rf"]
}`,
    on: 'shell.run',
    proved: [
      'never allow when some c in commands(payload.line) (c.words starts with ["run", "deploy"])',
      'never allow when some c in commands(payload.line) (c.program == "npx")',
      'never allow when some c in commands(payload.line) (not (c.words starts with ["run"]) and not (c.words starts with ["ci"]))',
      'never allow when payload.argv starts with ["rm", "-rf", "/"]',
      'always deny when payload.argv starts with ["rm", "-rf"]',
    ],
    refuted: [
      'never allow when some c in commands(payload.line) (c.words starts with ["run"])',
      'never allow when payload.argv starts with ["rm"]',
      'never allow when "rm" in payload.argv and "-rf" in payload.argv',
    ],
  },
  {
    name: 'refunds by rows that may lack cells',
    policies: `action order.refund { order_id: string, amount: number 0..1000, to: { name: string ..50, mail: email, nick?: string ..20 }, copies: [email] ..5 }
table orders pushed by "shop" key id: string { owner: email, limit?: number, open: boolean, tags: [string] }
list own = ["example.com", "partner.example"]
let order = orders[payload.order_id]
let customer = payload.to
let internal(mail: email) = domain(mail) in own
let called(who: { name: string, nick?: string }, name: string) = who.name == name or who has nick and who.nick == name
policy refunds on order.refund {
  allow known when order.owner == customer.mail and payload.amount <= (order.limit else 10)
  deny closed when not order.open
  deny outside when some one in payload.copies (not internal(one))
  deny mallory when called(payload.to, "mallory")
}`,
    on: 'order.refund',
    proved: [
      'never allow when payload.amount > 10 and not (order has limit)',
      'never allow when order.owner != customer.mail',
      'never allow when payload.to has nick and payload.to.nick == "mallory"',
      'never allow when called(customer, "mallory")',
      'never allow when some one in payload.copies (domain(one) == "evil.example")',
      'never allow when order has limit and payload.amount > order.limit',
      'never allow when not orders[payload.order_id].open',
    ],
    refuted: [
      'never allow when payload.amount > 10',
      'never allow when not (order has limit)',
      'never deny when order.open and internal(customer.mail)',
      'never allow when payload.to has nick',
      'never allow when not internal(customer.mail)',
    ],
  },
];
