// Infers the declaration of an action from the payloads of its requests. INVARIANT: a payload that does not fit
// the declaration is refused by the gate, so a wrong guess refuses requests and never allows more.

import { isJsonObject, type Json, type JsonObject } from '../../language/model/json.ts';
import { quote } from '../../language/syntax/print/expression.ts';
import { canonicalText } from '../../language/value/canonical-text.ts';
import { isAmountOf, isCurrency } from '../../language/value/currency.ts';
import { parseIp } from '../../language/value/ip.ts';
import { parseDate, parseDatetime, parseTimestamp } from '../../language/value/time.ts';
import { isWritable } from './value-classes.ts';

/** The text of a declaration such as `action mail.send { to: email }`. */
export function declarationOf(key: string, payloads: readonly JsonObject[]): string {
  return `action ${key} ${bodyOf(payloads, 0)}`;
}

/** Whether an action can be declared under this key. */
export function isDeclarable(key: string): boolean {
  return key.split('.').length > 1 && key.split('.').every((part) => /^[A-Za-z_][A-Za-z0-9_-]*$/.test(part));
}

const depthMax = 4;
const fieldsMax = 60;

function bodyOf(records: readonly JsonObject[], depth: number): string {
  const names = [...new Set(records.flatMap(Object.keys))].filter(isWritable).toSorted();
  const currency = currencyField(names, records);
  const fields = names.map((name) => {
    const given = records.flatMap((record) => (Object.hasOwn(record, name) ? [record[name]!] : []));
    const values = given.filter((value) => value !== null);
    const isMoney = currency !== null && isMoneyField(name, currency, records);
    const type = isMoney ? `money(${fieldText(currency)})` : typeOf(name, values, depth);
    const own = name === currency ? codesOf(values) : type;
    const nullable = given.length > values.length && own !== 'any' ? ' | null' : '';
    return `  ${fieldText(name)}${given.length < records.length ? '?' : ''}: ${own}${nullable}`;
  });
  return fields.length === 0 ? '{}' : `{\n${fields.join('\n')}\n}`;
}

function fieldText(name: string): string {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(name) ? name : quote(name);
}

// ---- money

/** The field that names the currency of the amounts beside it; null if there is none. */
function currencyField(names: readonly string[], records: readonly JsonObject[]): string | null {
  const fields = names.filter(
    (name) =>
      /currency/i.test(name) &&
      records.every(({ [name]: value }) => typeof value === 'string' && isCurrency(value)),
  );
  return fields.length === 1 ? fields[0]! : null;
}

const amountNames = /amount|price|total|cost|fee|sum|budget|balance|payment|charge/i;

function isMoneyField(name: string, currency: string, records: readonly JsonObject[]): boolean {
  const isAmount = ({ [name]: value, [currency]: code }: JsonObject): boolean =>
    value === undefined || value === null || (typeof value === 'number' && isAmountOf(value, String(code)));
  return (
    amountNames.test(name) &&
    records.some(({ [name]: value }) => typeof value === 'number') &&
    records.every(isAmount)
  );
}

function codesOf(values: readonly Json[]): string {
  const codes = [...new Set(values.map(String))].toSorted();
  return codes.map((code) => quote(code)).join(' | ');
}

// ---- types

type JsonKind = 'boolean' | 'number' | 'string' | 'list' | 'record';

function kindOf(value: Json): JsonKind {
  if (Array.isArray(value)) return 'list';
  return isJsonObject(value) ? 'record' : (typeof value as 'boolean' | 'number' | 'string');
}

/** The type of most values. */
function typeOf(name: string, values: readonly Json[], depth: number): string {
  if (values.length === 0) return 'any';
  const byKind = [...Map.groupBy(values, kindOf)].toSorted(([, a], [, b]) => b.length - a.length);
  const [kind, own] = byKind[0]!;
  if (own.some(isDigest)) return 'secret string';
  const isSecret = secretNames.test(name) && (kind === 'string' || kind === 'number');
  return `${isSecret ? 'secret ' : ''}${plainType(name, { kind, values: own }, depth)}`;
}

/** Names of fields whose values policies must not contain. */
const secretNames =
  /passw|secret|token|api_?key|private_?key|credential|\botp\b|^otp|_otp|\bpin\b|^pin$|_pin$|cvv|cvc|ssn/i;

/** A service exports a digest in place of a secret. */
function isDigest(value: Json): boolean {
  return isJsonObject(value) && typeof value.secret === 'string' && value.secret.startsWith('hmac-sha256:');
}

interface ValuesOfKind {
  readonly kind: JsonKind;
  readonly values: readonly Json[];
}

function plainType(name: string, { kind, values }: ValuesOfKind, depth: number): string {
  switch (kind) {
    case 'boolean':
      return 'boolean';
    case 'number':
      return values.every(Number.isInteger) ? 'integer' : 'number';
    case 'string':
      return secretNames.test(name) ? 'string' : textType(name, values as readonly string[]);
    case 'list': {
      const elements = (values as readonly Json[][]).flat().filter((one) => one !== null);
      return `[${elements.length === 0 ? 'string' : typeOf(name, elements, depth + 1)}]`;
    }
    case 'record':
      return recordType(values as readonly JsonObject[], depth);
  }
}

/** `any` for a record that is rather a map, or too deep to be restricted. */
function recordType(records: readonly JsonObject[], depth: number): string {
  const names = new Set(records.flatMap((record) => Object.keys(record)));
  const isMap = names.size > fieldsMax || names.size === 0;
  return isMap || depth >= depthMax ? 'any' : bodyOf(records, depth + 1);
}

/** The share of texts that must have a form before a field has its type. */
const formShare = 0.95;

/** Forms that say what they are, and forms that nearly every word has and that a name has to confirm. */
const forms: readonly {
  readonly type: string;
  readonly accepts: (text: string) => boolean;
  readonly names?: RegExp;
}[] = [
  { type: 'timestamp', accepts: (text) => parseTimestamp(text) !== null },
  { type: 'date', accepts: (text) => parseDate(text) !== null },
  { type: 'datetime', accepts: (text) => parseDatetime(text) !== null },
  { type: 'ip', accepts: (text) => parseIp(text) !== null },
  { type: 'email', accepts: (text) => canonicalText('email', text) !== null },
  { type: 'url', accepts: (text) => canonicalText('url', text) !== null },
  {
    type: 'web_address',
    names: /url|link|site|web|page|href|uri/i,
    accepts: (text) => canonicalText('web_address', text) !== null,
  },
  { type: 'path', accepts: (text) => text.startsWith('/') && canonicalText('path', text) !== null },
  {
    type: 'path',
    names: /path|file|dir|folder/i,
    accepts: (text) => text.includes('/') && !text.includes('://') && canonicalText('path', text) !== null,
  },
  { type: 'host', names: /host|domain/i, accepts: (text) => canonicalText('host', text) !== null },
];

function textType(name: string, texts: readonly string[]): string {
  const fits = forms.find(
    ({ names, accepts }) =>
      (names === undefined || names.test(name)) && texts.filter(accepts).length >= formShare * texts.length,
  );
  return fits?.type ?? 'string';
}
