// Maps names of other languages to what the policy language has for them: types, functions, members of values
// and roots of paths.

import type { NameNode } from '../../syntax/tree/tree.ts';
import type { DiagnosticDetails } from './problem.ts';

type Names = Readonly<Record<string, readonly string[]>>;

/** Types by name, each with its lower-case names in other languages. */
const types: Names = {
  string: ['str', 'text', 'varchar', 'char', 'uuid', 'symbol'],
  integer: ['int', 'int32', 'int64', 'long', 'short', 'uint', 'bigint', 'natural', 'count'],
  number: ['float', 'double', 'decimal', 'real', 'numeric', 'num', 'float64'],
  boolean: ['bool', 'bit', 'flag'],
  timestamp: ['time', 'instant', 'timestamptz'],
  duration: ['timedelta', 'interval', 'timespan'],
  url: ['uri', 'link', 'href'],
  host: ['hostname', 'domain', 'fqdn'],
  email: ['mail', 'emailaddress'],
  ip: ['ipaddr', 'ipaddress', 'inet', 'ipv4', 'ipv6'],
  path: ['file', 'filename', 'filepath', 'pathname'],
};

const elements = 'write the type of the elements in brackets: `[string]`';
const fieldsInBraces = 'write its fields: `{ name: string }`';
const typeForms: Readonly<Record<string, string>> = {
  array: elements,
  list: elements,
  set: elements,
  object: fieldsInBraces,
  dict: fieldsInBraces,
  map: fieldsInBraces,
  struct: fieldsInBraces,
  network:
    'a field is an address, of type `ip`; networks are written in a list: `list internal: network = ["10.0.0.0/8"]`',
  cidr: 'a field is an address, of type `ip`; networks are written in a list: `list internal: network = ["10.0.0.0/8"]`',
  enum: 'write its values: `"a" | "b"`',
  currency: 'write its values: `"USD" | "EUR"`',
};

/** Returns what to write for a type of another language; nothing for any other name. */
export function foreignType(name: NameNode): DiagnosticDetails {
  const small = name.text.toLowerCase();
  const better = nameFor(small, types);
  if (better !== null) return writeInstead(name, better);
  return Object.hasOwn(typeForms, small) ? { help: typeForms[small]! } : {};
}

/** Functions by name, each with their lower-case names in other languages. */
const functions: Names = {
  length: ['len', 'size', 'count', 'strlen', 'char_length', 'cardinality'],
  lower: ['tolower', 'to_lower', 'lowercase', 'lcase', 'downcase'],
  trim: ['strip', 'trim_space'],
  fold: ['casefold', 'normalize'],
  host: ['hostname', 'get_host'],
  min: ['least', 'minimum'],
  max: ['greatest', 'maximum'],
  abs: ['absolute'],
};

const someElement = 'write `some x in payload.tags (x == "a")`';
const everyElement = 'write `every x in payload.tags (x == "a")`';
const weekdays = 'declare `hours weekend = sat-sun 00:00-24:00 in "Zone"` and write `now in weekend`';
const office = 'declare `hours office = mon-fri 09:00-17:00 in "Zone"` and write `now in office`';
const conversion = 'nothing is converted: declare the field with the type that it has';
const pattern = "write `x matches '...'`, which matches the whole text";
const smallLetters = 'compare small letters: `lower(x)`';
const fallback = 'write `(payload.note else "")`';
/** Help about texts that other languages join by `+` or a function. */
export const joining =
  'texts cannot be joined: compare each part by itself; a reason joins texts in placeholders, as in `because "{payload.vendor}: {payload.note}"`';
const functionForms: Readonly<Record<string, string>> = {
  any: someElement,
  all: everyElement,
  weekday: weekdays,
  dayofweek: weekdays,
  day_of_week: weekdays,
  hour: office,
  time: office,
  time_of_day: office,
  exists: 'write `payload has note`',
  matches: pattern,
  match: pattern,
  upper: smallLetters,
  toupper: smallLetters,
  number: conversion,
  int: conversion,
  float: conversion,
  str: conversion,
  to_number: conversion,
  if: 'write two rules, each with its own `when`',
  sum: 'write `sum x in payload.lines (x.price)`; what was granted before is added up by a meter',
  age: 'write `payload.born + 18 years <= today in "Europe/Berlin"`',
  is_single_script: 'write `payload.note is single_script`',
  single_script: 'write `payload.note is single_script`',
  concat: joining,
  join: joining,
  format: joining,
  sprintf: joining,
  coalesce: fallback,
  ifnull: fallback,
};

/** Returns what to write for a function of another language; nothing for any other name. */
export function foreignFunction(name: NameNode): DiagnosticDetails {
  const small = name.text.toLowerCase();
  const better = nameFor(small, functions);
  if (better !== null) return writeInstead(name, better);
  return Object.hasOwn(functionForms, small) ? { help: functionForms[small]! } : {};
}

const payloadRoots: ReadonlySet<string> = new Set([
  ...['input', 'args', 'arguments', 'params', 'parameters', 'data', 'body', 'req', 'event', 'context'],
  ...['ctx', 'resource', 'this', 'self', 'call', 'tool', 'msg', 'message', 'fields', 'attributes'],
]);
/**
 * Names that other languages use for a current value or for a part of the decision, with what to write
 * instead.
 */
const valueForms: Readonly<Record<string, string>> = {
  result:
    'only a meter reads what calls returned: `meter rows = sum(result.rows) of db.query per session over 1h`, of actions that declare a `result`',
  meter: 'a meter is read by its name: `placed > 10`',
  today: 'write `today in "Zone"`, such as `today in "Europe/Berlin"`',
  current_time: 'write `now`',
  time: 'write `now`',
  risk_score: 'write `risk`',
  score: 'write `risk`',
};
const personRoots: ReadonlySet<string> = new Set([
  'user',
  'principal',
  'subject',
  'actor',
  'caller',
  'identity',
]);

/** Returns what to write for a path root of another language; nothing for any other root. */
export function foreignRoot(
  root: NameNode,
  steps: readonly NameNode[],
  fields: ReadonlySet<string>,
): DiagnosticDetails {
  if (payloadRoots.has(root.text)) {
    const [step] = steps;
    if (step !== undefined && fields.has(step.text)) {
      return { ...writeInstead(root, 'payload'), help: `write \`payload.${step.text}\`` };
    }
    return { help: 'what an agent asks for is in `payload`, such as `payload.count`' };
  }
  if (Object.hasOwn(valueForms, root.text)) return { help: valueForms[root.text]! };
  if (!personRoots.has(root.text)) return {};
  const tag = steps.length === 0 ? '...' : steps.map(({ text }) => text).join('.');
  return {
    help: `requests come from agents: read \`agent.id\`, \`request.user\` for the person behind the agent, or tag the agent and write \`"..." in agent.tags\` for \`${root.text}.${tag}\``,
  };
}

/**
 * Returns the function for what other languages read as a member of values, such as `length`; null for any
 * other name.
 */
export function foreignMember(name: string): string | null {
  return nameFor(name.toLowerCase(), { length: [...functions.length!, 'length'], lower: functions.lower! });
}

function nameFor(name: string, names: Names): string | null {
  return Object.keys(names).find((one) => one === name || names[one]!.includes(name)) ?? null;
}

function writeInstead({ span }: NameNode, text: string): DiagnosticDetails {
  return { help: `write \`${text}\``, fix: { title: `write \`${text}\``, edits: [{ span, text }] } };
}
