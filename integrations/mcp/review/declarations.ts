// Turns schemas of tools into declarations of actions and their results, for a person to read and to edit.
// INVARIANT: arguments that are valid by the schema, and are JSON that the service takes, are a payload that the
// declaration takes, but for texts that the type of a path or an address refuses; the same is true of results,
// without an exception; no text of a server can end a line.

import { isObject, type Json, type JsonObject, member } from '../protocol/messages.ts';
import { type FieldContext, type FieldKind, fieldKind, isSecret, possibleKinds } from './field-kinds.ts';

export interface DeclarationOptions {
  readonly as: string;
  /** Whether payloads may have fields that the schema does not name. */
  readonly isOpen: boolean;
}

export interface Declarations {
  readonly text: string;
  /** The number of places with type `any`, of which policies know only that something is there. */
  readonly anyCount: number;
  /** Names of tools that no action can have. */
  readonly left: readonly string[];
}

export function declareTools(tools: readonly JsonObject[], options: DeclarationOptions): Declarations {
  const left = tools.map(({ name }) => String(name)).filter((name) => !keyForm.test(name));
  const declared = tools
    .filter(({ name }) => keyForm.test(String(name)))
    .map((tool) => declare(tool, options));
  const [reading, acting] = [true, false].map((isReadOnly) =>
    declared.filter(({ isReading }) => isReading === isReadOnly),
  );
  const kinds = new Set(declared.flatMap((one) => [...one.kinds]));
  const explained = (Object.keys(explanations) as (FieldKind | 'secret')[]).filter((kind) => kinds.has(kind));
  const first = `# Actions of the server \`${options.as}\`, from the schemas of its tools. Read them before you use them.\n`;
  const parts = [
    `${first}${explained.map((kind) => comment(explanations[kind], '')).join('')}`,
    ...section('the server calls these read-only, which is not verified', reading ?? []),
    ...section('these may change something', acting ?? []),
  ];
  return {
    text: parts.join('\n'),
    anyCount: declared.reduce((sum, { anyCount }) => sum + anyCount, 0),
    left,
  };
}

/** What the types of the file refuse, and what to write where a tool needs it. */
const explanations: Readonly<Record<FieldKind | 'secret', string>> = {
  path: '`path`: rules see it without `..`, and `inside` holds. It refuses `../x` and backslashes. A tool that needs them gets `string` here, and no `allow` that rests on the field.',
  url: '`url`: rules see its one spelling. It refuses relative addresses, `data:` and user names: write `string` where a tool needs them, or `web_address` where the scheme may be missing.',
  host: '`host`: rules see its one spelling. It refuses ports and odd numbers: write `string` where a tool needs them.',
  email:
    '`email`: rules see its one spelling. It refuses names around an address (`Ann <ann@example.com>`) and several in one text: write `string` where a tool needs them.',
  secret: '`secret`: neither stored nor shown. Leave the word out where the field is no secret.',
};

/** Names that a quoted key can hold. */
const keyForm = /^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/;

interface ActionDeclaration {
  readonly text: string;
  readonly isReading: boolean;
  readonly anyCount: number;
  readonly kinds: ReadonlySet<FieldKind | 'secret'>;
}

function section(title: string, those: readonly ActionDeclaration[]): readonly string[] {
  return those.length === 0 ? [] : [`# --- ${title} ---\n`, ...those.map(({ text }) => text)];
}

interface Context extends DeclarationOptions {
  /** The schema in which local references are looked up. */
  readonly root: JsonObject;
  /** References that are being written out, to detect a schema within itself. */
  readonly within: readonly string[];
  readonly indent: string;
  /** The property that is being written. */
  readonly named: FieldContext;
  readonly count: { any: number };
  /** The kinds that have been written. */
  readonly kinds: Set<FieldKind | 'secret'>;
  /** Whether the schema is that of a result. */
  readonly isResult: boolean;
}

function declare(tool: JsonObject, options: DeclarationOptions): ActionDeclaration {
  const { name, description, inputSchema } = tool;
  const root = isObject(inputSchema) ? inputSchema : {};
  const words = typeof description === 'string' ? description : '';
  const context: Context = {
    ...options,
    root,
    within: [],
    indent: '',
    named: { name: '', about: `${String(name).replaceAll(/[_.-]/g, ' ')} ${words}` },
    count: { any: 0 },
    kinds: new Set(),
    isResult: false,
  };
  const says = comment(words, '');
  const action = `action ${keyText(`${options.as}.${String(name)}`)} ${recordText(root, context)}`;
  const text = `${says}${action}${resultText(tool, context)}\n`;
  return {
    text,
    isReading: member(tool, 'annotations', 'readOnlyHint') === true,
    anyCount: context.count.any,
    kinds: context.kinds,
  };
}

/** The declaration of the result; what does not fit is left out. Empty when nothing is left. */
function resultText({ outputSchema }: JsonObject, context: Context): string {
  if (!isObject(outputSchema)) return '';
  // A field of a result is optional to write, so the places of type `any` in it need nobody's attention.
  const ofResult = {
    ...context,
    root: outputSchema,
    isResult: true,
    count: { any: 0 },
    isOpen: false,
    indent: '  ',
  };
  const text = recordText(outputSchema, ofResult);
  if (/^ {4}[^ #]/m.test(text)) return `\n  result ${text}`;
  return text === '{ }' ? '' : '\n# No result: none of the fields in its schema fits.';
}

function keyText(key: string): string {
  return key.split('.').every(isWord) ? key : JSON.stringify(key);
}

function isWord(text: string): boolean {
  return /^[a-z][a-z0-9_]*$/.test(text);
}

const commentLength = 105;

/** The server's own words as a comment of at most three lines. The words cannot leave the comment. */
function comment(text: string, indent: string): string {
  const words = text
    .replaceAll(/[\p{C}\p{Z}\s]+/gu, ' ')
    .trim()
    .split(' ');
  const lines: string[] = [''];
  for (const word of words) {
    const last = lines.at(-1) ?? '';
    if (last.length + word.length > commentLength && last !== '') lines.push(word.slice(0, commentLength));
    else lines[lines.length - 1] = `${last} ${word.slice(0, commentLength)}`.trim();
  }
  const shortened = lines.length > 3 ? [...lines.slice(0, 2), `${lines[2]} ...`] : lines;
  return shortened
    .filter((line) => line !== '')
    .map((line) => `${indent}# ${line}\n`)
    .join('');
}

function recordText(schema: JsonObject, context: Context): string {
  const inner = `${context.indent}  `;
  const properties = isObject(schema.properties) ? Object.entries(schema.properties) : [];
  const required = Array.isArray(schema.required) ? schema.required : [];
  const isTop = context.named.name === '';
  const lines = properties.map(([name, property]) => {
    const { type, notes } = fieldType(property, {
      ...context,
      indent: inner,
      named: { ...context.named, name },
    });
    const unfit = context.isResult ? unfitIn(name, { property, type, notes, isTop }) : null;
    if (unfit !== null) return comment(`Left out: ${name}, ${unfit}`, inner);
    const field = `${fieldName(name)}${required.includes(name) ? '' : '?'}: ${type}`;
    return `${notes.map((note) => comment(note, inner)).join('')}${inner}${field}\n`;
  });
  // What a tool returns may have more fields than its schema names.
  if (context.isOpen || (context.isResult && !isTop)) lines.push(`${inner}...\n`);
  return lines.length === 0 ? '{ }' : `{\n${lines.join('')}${context.indent}}`;
}

/** Fields that the enforcement point computes, whatever the tool returns under these names. */
const computed: ReadonlySet<string> = new Set(['bytes', 'items', 'is_error']);

interface ResultField extends FieldType {
  readonly property: Json;
  /** Whether it is a field of the result itself. */
  readonly isTop: boolean;
}

/** Why a field cannot be one of a result; null when it can. */
function unfitIn(name: string, { property, type, notes, isTop }: ResultField): string | null {
  if (isTop && computed.has(name)) return 'which the proxy computes itself';
  if (isSecret(property, name)) return 'perhaps a secret';
  return isTop && type === 'any' ? `${notes.join(' ') || 'any value.'}` : null;
}

function fieldName(name: string): string {
  return isWord(name) ? name : JSON.stringify(name);
}

/** The type of a property, with what a person has to know or to decide. */
function fieldType(property: Json, context: Context): FieldType {
  const type = typeOf(property, context);
  const { name } = context.named;
  if (context.isResult) return type;
  const isText = /^\[*string/.test(type.type);
  if (isSecret(property, name) && (isText || member(property, 'writeOnly') === true)) {
    context.kinds.add('secret');
    return { ...type, type: `secret ${type.type}` };
  }
  if (isSecret(property, name) && type.type === 'any')
    return { ...type, notes: [...type.notes, 'A secret? A `secret` type is neither stored nor shown.'] };
  if (!isText && type.type !== 'any') return type;
  const kinds = possibleKinds(isObject(property) ? property : {}, context.named);
  if (kinds.length === 0) return type;
  const types = kinds.map((kind) => `\`${kind}\``).join(' or ');
  return { ...type, notes: [...type.notes, `Perhaps ${types}: as it is, no \`allow\` may rest on it.`] };
}

interface FieldType {
  readonly type: string;
  readonly notes: readonly string[];
}

function typeOf(schemaOrRef: Json | undefined, context: Context): FieldType {
  const schema = resolved(schemaOrRef, context);
  if (typeof schema === 'string') return anyType(schema, context);
  const { schema: own, context: inner } = schema;
  const union = own.anyOf ?? own.oneOf;
  if (Array.isArray(own.allOf) || member(own, 'not') !== undefined || own.if !== undefined)
    return anyType('several schemas at once', inner);
  if (Array.isArray(union)) return unionType(union, inner);
  if (own.const !== undefined) return valuesType([own.const], inner);
  if (Array.isArray(own.enum)) return valuesType(own.enum, inner);
  if (Array.isArray(own.type))
    return unionType(
      own.type.map((type) => ({ ...own, type })),
      inner,
    );
  return plainType(own, inner);
}

interface ResolvedSchema {
  readonly schema: JsonObject;
  readonly context: Context;
}

/** The schema behind a local reference; a text with the reason when there is none. */
function resolved(schemaOrRef: Json | undefined, context: Context): ResolvedSchema | string {
  if (!isObject(schemaOrRef)) return 'no schema';
  const { $ref: ref } = schemaOrRef;
  if (ref === undefined) return { schema: schemaOrRef, context };
  if (typeof ref !== 'string' || !ref.startsWith('#')) return 'a schema from elsewhere';
  if (context.within.includes(ref)) return 'a schema within itself';
  const way = ref
    .slice(1)
    .split('/')
    .slice(1)
    .map((step) => decodeURIComponent(step).replaceAll('~1', '/').replaceAll('~0', '~'));
  const target = way.length === 0 ? context.root : member(context.root, ...way);
  return resolved(target, { ...context, within: [...context.within, ref] });
}

function anyType(why: string, { count }: Context): FieldType {
  count.any += 1;
  return { type: 'any', notes: [`any: ${why}.`] };
}

function unionType(members: readonly Json[], context: Context): FieldType {
  const others = members.filter((one) => member(one, 'type') !== 'null' && member(one, 'const') !== null);
  const isNullable = others.length < members.length;
  const values = others.flatMap((one) => {
    const held = member(one, 'const');
    const listed = member(one, 'enum');
    return held !== undefined ? [held] : Array.isArray(listed) ? listed : [undefined];
  });
  const isOfValues = others.length > 0 && values.every((value) => typeof value === 'string');
  const type = isOfValues
    ? valuesType(values as readonly Json[], context)
    : others.length === 1
      ? typeOf(others[0], context)
      : anyType('one of several shapes', context);
  return isNullable ? nullable(type) : type;
}

function nullable({ type, notes }: FieldType): FieldType {
  return { type: type === 'any' || type.endsWith('| null') ? type : `${type} | null`, notes };
}

function valuesType(values: readonly Json[], context: Context): FieldType {
  const others = [...new Set(values.filter((value) => value !== null))];
  const isNullable = values.includes(null);
  const type = typeOfValues(others, context);
  return isNullable ? nullable(type) : type;
}

function typeOfValues(values: readonly Json[], context: Context): FieldType {
  if (values.length === 0) return anyType('nothing but null', context);
  if (values.every((value) => typeof value === 'string' && isPrintable(value)))
    return { type: values.map((value) => JSON.stringify(value)).join(' | '), notes: [] };
  if (values.every((value) => typeof value === 'string')) return { type: 'string', notes: [] };
  if (values.every((value) => typeof value === 'boolean')) return { type: 'boolean', notes: [] };
  const notes = [`One of ${values.map((value) => JSON.stringify(value)).join(', ')}.`];
  if (values.every((value) => typeof value === 'number')) {
    const ends = range(Math.min(...values), Math.max(...values));
    return { type: `${values.every(Number.isInteger) ? 'integer' : 'number'}${ends}`, notes };
  }
  return anyType('values of several types', context);
}

function isPrintable(text: string): boolean {
  return !/\p{C}/u.test(text) && text !== '';
}

function plainType(schema: JsonObject, context: Context): FieldType {
  switch (schema.type) {
    case 'boolean':
      return { type: 'boolean', notes: [] };
    case 'string':
      return textType(schema, context);
    case 'integer':
    case 'number':
      return numberType(schema, schema.type);
    case 'array':
      return listType(schema, context);
    case 'object':
      return objectType(schema, context);
    case 'null':
      return anyType('nothing but null', context);
    default:
      return isObject(schema.properties) ? objectType(schema, context) : anyType('no type', context);
  }
}

const formats: Readonly<Record<string, string>> = {
  date: 'date',
  'date-time': 'timestamp',
  ipv4: 'ip',
  ipv6: 'ip',
};

function textType(schema: JsonObject, { named, kinds, isResult }: Context): FieldType {
  const { format, pattern, minLength, maxLength } = schema;
  const notes = typeof pattern === 'string' ? [`By the server it matches ${pattern}`] : [];
  const formatType = typeof format === 'string' ? formats[format] : undefined;
  if (formatType !== undefined) return { type: formatType, notes };
  // The value of a secret is not read by anybody: any text is one. A result with a text that its type refuses would be
  // lost as a whole.
  const kind = isResult || isSecret(schema, named.name) ? null : fieldKind(schema, named);
  if (kind !== null) kinds.add(kind);
  return { type: `${kind ?? 'string'}${range(minLength, maxLength)}`, notes };
}

/** Exclusive ends are ends of an integer one step further in; other numbers keep the end, and a note. */
function numberType(schema: JsonObject, type: string): FieldType {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const step = type === 'integer' ? 1 : 0;
  const low = stricter(Math.max, minimum, inward(exclusiveMinimum, step));
  const high = stricter(Math.min, maximum, inward(exclusiveMaximum, -step));
  const ends =
    step === 1 ? [] : [exclusiveMinimum, exclusiveMaximum].filter((end) => typeof end === 'number');
  const notes = ends.length === 0 ? [] : [`By the server it ends before ${ends.join(', ')}.`];
  return { type: `${type}${range(low, high)}`, notes };
}

/** The first integer that an exclusive end leaves; the end itself for numbers. */
function inward(end: Json | undefined, step: number): number | undefined {
  if (typeof end !== 'number') return undefined;
  if (step === 0) return end;
  return step > 0 ? Math.floor(end) + 1 : Math.ceil(end) - 1;
}

function stricter(
  choose: (...ends: number[]) => number,
  ...ends: readonly (Json | undefined)[]
): number | undefined {
  const numbers = ends.filter((end) => typeof end === 'number');
  return numbers.length === 0 ? undefined : choose(...numbers);
}

/** The service takes no number with more digits. */
const largest = 999_999_999_999_999;

function range(first: Json | undefined, last: Json | undefined): string {
  const [low, high] = [endText(first), endText(last)];
  return low === '' && high === '' ? '' : ` ${low}..${high}`;
}

function endText(value: Json | undefined): string {
  const isPlain =
    typeof value === 'number' && Math.abs(value) <= largest && /^-?\d+(\.\d+)?$/.test(String(value));
  return isPlain ? String(value) : '';
}

function listType({ items, prefixItems, minItems, maxItems }: JsonObject, context: Context): FieldType {
  const element =
    prefixItems === undefined ? typeOf(items, context) : anyType('places of several types', context);
  return { type: `[${element.type}]${range(minItems, maxItems)}`, notes: element.notes };
}

function objectType(schema: JsonObject, context: Context): FieldType {
  const isMap = isObject(schema.additionalProperties) || isObject(schema.patternProperties);
  const isEmpty = !isObject(schema.properties) || Object.keys(schema.properties).length === 0;
  if (isMap) return anyType('keys of any name', context);
  if (isEmpty && schema.additionalProperties !== false) return anyType('an object of any shape', context);
  return { type: recordText(schema, context), notes: [] };
}
