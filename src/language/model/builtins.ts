// The functions of the language, one entry each. Every stage that handles functions has a table that
// satisfies `Record<Builtin, ...>`, so that for a new entry the type checker names each place that lacks a
// line. Each example is a condition that is true; docs/LANGUAGE.md shows the examples, and a test runs them.

export const builtins = {
  length: {
    signature: 'length(string | list): integer',
    meaning: 'the number of code points of a text, or of elements of a list',
    example: 'length("añb") == 3',
  },
  lower: {
    signature: 'lower(string): string',
    meaning: 'lower case, without locale',
    example: 'lower("ÀB") == "àb"',
  },
  trim: {
    signature: 'trim(string): string',
    meaning: 'without white space at both ends',
    example: 'trim("  two words ") == "two words"',
  },
  fold: {
    signature: 'fold(string): string',
    meaning: 'the form in which lists that ignore case compare text',
    example: 'fold("ＯＦＦＩＣＥ   supplies") == "office supplies"',
  },
  links: {
    signature: 'links(string): [web_address]',
    meaning: 'the URLs and web addresses in a text, in canonical form',
    example: '"www.example.com/a" in links("see www.example.com/a.")',
  },
  commands: {
    signature:
      'commands(string): [{ program, subcommand: string, words, args, options, files: [string], only_reads: boolean }]',
    meaning: 'the commands that a shell line may start; unknown if the line does not say which',
    example: 'every c in commands("ls -l") (c.program == "ls")',
  },
  domain: {
    signature: 'domain(email): host',
    meaning: 'the domain after the @, in canonical form',
    example: 'domain(payload.mail) == "example.com"',
  },
  host: {
    signature: 'host(url | web_address): host',
    meaning: 'the host in canonical form: lower case, no dot at the end',
    example: 'host(payload.link) == "www.example.com"',
  },
  scheme: {
    signature: 'scheme(url | web_address): string',
    meaning: 'the scheme in lower case; https if a web address has none',
    example: 'scheme(payload.link) == "https"',
  },
  port: {
    signature: 'port(url | web_address): integer',
    meaning: 'the port as written, or the usual one of the scheme; unknown if there is none',
    example: 'port(payload.link) == 443',
  },
  ip: {
    signature: 'ip(host): ip',
    meaning: 'the address that a host is; unknown if it is a name',
    example: 'some link in links("http://10.1.2.3/") (ip(host(link)) in "10.0.0.0/8")',
  },
  first: {
    signature: 'first([text]): text',
    meaning: 'the first element of a list of texts; unknown if it is empty',
    example: 'first(payload.names) == "a"',
  },
  join: {
    signature: 'join(string, string, ...): string',
    meaning: 'the texts in order, as one text',
    example: 'join("eu", "/", "7") == "eu/7"',
  },
  quantity: {
    signature: 'quantity(string): number',
    meaning:
      'a number with a unit: `m`, `k`, `M`, `G`, ..., `Ki`, `Mi`, ..., also with `B`; unknown if it is none',
    example: 'quantity("1.5Gi") > quantity("512Mi") and quantity("100m") == 0.1',
  },
  date: {
    signature: 'date(timestamp, "Zone"): date',
    meaning: 'the local date of an instant in a time zone, a constant or a field of `"Zone" | "Zone"`',
    example: 'date(2026-03-01T23:30Z, "Asia/Tokyo") == 2026-03-02',
  },
  today: {
    signature: 'today in "Zone": date',
    meaning: 'the local date of now in a time zone',
    example: 'today in "Europe/Berlin" == 2026-03-02',
  },
  months_later: {
    signature: 'date + 18 years: date',
    meaning:
      'the same day of another year or month (`- 6 months`), or the last day of a month that has no such day',
    example: '2008-02-29 + 18 years == 2026-02-28',
  },
  min: {
    signature: 'min(quantity, quantity, ...): quantity',
    meaning: 'the smallest',
    example: 'min(3, 0.5, 2) == 0.5',
  },
  max: {
    signature: 'max(quantity, quantity, ...): quantity',
    meaning: 'the largest',
    example: 'max(1h, 90m) == 90m',
  },
  abs: {
    signature: 'abs(number | money | duration): the same',
    meaning: 'without its sign',
    example: 'abs(-2.5 USD) == 2.5 USD',
  },
} as const;

export type Builtin = keyof typeof builtins;

/**
 * The functions that policies call by name. `months_later` is not one: it is made from `+` and `-` with years
 * and months.
 */
export const namedBuiltins = (Object.keys(builtins) as Builtin[]).filter((name) => name !== 'months_later');
