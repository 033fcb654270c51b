// The functions of the language, one entry each. Every stage that treats functions has a table that satisfies
// `Record<Builtin, ...>`, so that a new entry here makes the type checker name each place that lacks its line.

export const builtins = {
  length: {
    signature: 'length(string | list): integer',
    meaning: 'code points of a text, elements of a list',
  },
  lower: { signature: 'lower(string): string', meaning: 'lower case, without locale' },
  trim: { signature: 'trim(string): string', meaning: 'without white space at both ends' },
  fold: { signature: 'fold(string): string', meaning: 'as lists that ignore case compare text' },
  links: { signature: 'links(string): [string]', meaning: 'the URLs and web addresses in a text' },
  domain: { signature: 'domain(email): string', meaning: 'what stands behind the @, in lower case' },
  host: { signature: 'host(url | web_address): string', meaning: 'lower case, without trailing dot' },
  scheme: {
    signature: 'scheme(url | web_address): string',
    meaning: 'lower case; https where a web address has none',
  },
  port: { signature: 'port(url | web_address): integer', meaning: 'explicit, else by scheme, else unknown' },
  date: {
    signature: 'date(timestamp, "Zone"): date',
    meaning: 'the local date of an instant in a time zone',
  },
  today: { signature: 'today in "Zone": date', meaning: 'the local date of now in a time zone' },
  min: { signature: 'min(quantity, quantity, ...): quantity', meaning: 'the smallest' },
  max: { signature: 'max(quantity, quantity, ...): quantity', meaning: 'the largest' },
  abs: { signature: 'abs(number | money | duration): the same', meaning: 'without its sign' },
} as const;

export type Builtin = keyof typeof builtins;
