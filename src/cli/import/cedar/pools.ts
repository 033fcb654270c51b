// The values of which requests are made for a comparison: the constants of the Cedar policies with their neighbours, and the
// values of the prover's cells of the written policies.

import { isJsonObject, type Json } from '../../../language/model/json.ts';
import type { PolicySet } from '../../../language/model/policy.ts';
import type { Shape, Type } from '../../../language/model/type.ts';
import { isValue } from '../../../reasoning/cells/leaf.ts';
import { createProblem } from '../../../reasoning/prove/problem.ts';
import { jsonOfSample } from '../../../reasoning/prove/sample.ts';
import type { CedarPolicy } from './cedar-policies.ts';
import type { CedarSchema } from './cedar-schema.ts';
import { isCarried, type Pools } from './payload-values.ts';

interface Constants {
  readonly texts: Set<string>;
  readonly longs: Set<number>;
  readonly decimals: Set<number>;
  readonly instants: Set<string>;
  readonly durations: Set<string>;
  readonly addresses: Set<string>;
  readonly ids: Map<string, Set<string>>;
}

/** Numbers at which calculations with 64 bits end. */
const longEdges = [
  0,
  1,
  -1,
  2,
  3_037_000_500,
  -3_037_000_500,
  Number.MAX_SAFE_INTEGER,
  -Number.MAX_SAFE_INTEGER,
];

export function poolsOf(policies: readonly CedarPolicy[], schema: CedarSchema): Pools {
  const found: Constants = {
    texts: new Set(['', 'x', 'a*b']),
    longs: new Set(longEdges),
    decimals: new Set([0, 0.0001, -1.5, 1_000]),
    instants: new Set(['2026-03-02T10:00:00.000Z', '1999-12-31T23:59:59.999Z']),
    durations: new Set(['1h', '-30m', '0s']),
    addresses: new Set(['10.1.2.3', '192.168.0.1', '2001:db8::1', '::ffff:a01:203']),
    ids: new Map([...schema.entities].map(([name, { ids }]) => [name, new Set(ids ?? ['a', 'b', 'c'])])),
  };
  for (const { json } of policies) collect(found, json);
  const isOfType = (type: string, id: string): boolean =>
    schema.entities.get(type)?.ids?.includes(id) ?? true;
  return {
    texts: [...found.texts],
    longs: around([...found.longs], 1).filter((one) => isCarried('long', one)),
    decimals: around([...found.decimals], 0.0001).filter((one) => isCarried('decimal', one)),
    instants: around(
      [...found.instants].map((one) => Date.parse(one)),
      1,
    ).map((ms) => new Date(ms).toISOString()),
    durations: [...found.durations],
    addresses: [...found.addresses],
    ids: new Map([...found.ids].map(([type, ids]) => [type, [...ids].filter((id) => isOfType(type, id))])),
    places: new Map(),
  };
}

/** The values, and those beside them. */
function around(values: readonly number[], step: number): readonly number[] {
  const digits = step < 1 ? 4 : 0;
  return [
    ...new Set(
      values.flatMap((one) => [one - step, one, one + step]).map((one) => Number(one.toFixed(digits))),
    ),
  ];
}

function collect(found: Constants, json: unknown): void {
  if (Array.isArray(json)) for (const one of json) collect(found, one);
  if (!isJsonObject(json)) return;
  for (const [name, value] of Object.entries(json)) {
    const [first] = Array.isArray(value) ? value : [];
    const argument = isJsonObject(first) && typeof first.Value === 'string' ? first.Value : null;
    if (name === 'Value') collectValue(found, value);
    else if (name === 'like' && isJsonObject(value)) collectPattern(found, value.pattern);
    else if (argument !== null && collectCall(found, name, argument)) continue;
    else if ((name === 'entity' || name === '__entity') && isJsonObject(value)) collectEntity(found, value);
    collect(found, value);
  }
  if (typeof json.type === 'string' && typeof json.id === 'string') collectEntity(found, json);
}

function collectValue({ texts, longs }: Constants, value: Json): void {
  if (typeof value === 'string') texts.add(value).add(`${value}x`);
  if (typeof value === 'number') longs.add(value);
}

function collectPattern({ texts }: Constants, pattern: Json | undefined): void {
  const parts = (Array.isArray(pattern) ? pattern : []).map((part) =>
    isJsonObject(part) ? String(part.Literal) : null,
  );
  for (const filling of ['', 'x\n', '*']) texts.add(parts.map((part) => part ?? filling).join(''));
  texts.add(
    parts
      .map((part) => part ?? 'x')
      .join('')
      .slice(1),
  );
}

function collectEntity({ ids }: Constants, { type, id }: Readonly<Record<string, unknown>>): void {
  if (typeof type === 'string' && typeof id === 'string') ids.set(type, (ids.get(type) ?? new Set()).add(id));
}

/** Whether the call makes a value of a text. */
function collectCall(found: Constants, name: string, argument: string): boolean {
  switch (name) {
    case 'decimal':
      found.decimals.add(Number(argument));
      return true;
    case 'datetime': {
      const ms = Date.parse(argument.replace(/([+-]\d{2})(\d{2})$/, '$1:$2'));
      if (!Number.isNaN(ms)) found.instants.add(new Date(ms).toISOString());
      return true;
    }
    case 'duration':
      found.durations.add(argument);
      return true;
    case 'ip':
      for (const one of addressesNear(argument)) found.addresses.add(one);
      return true;
    default:
      return false;
  }
}

/** The first address of a range, and others near it. */
function addressesNear(range: string): readonly string[] {
  const [address = ''] = range.split('/');
  if (!address.includes('.')) return [address, '::1', 'ff02::1', '::ffff:7f00:1'];
  const [first = '0', ...rest] = address.split('.');
  return [
    address,
    [first, ...rest.slice(0, 2), '77'].join('.'),
    [String((Number(first) + 1) % 224), ...rest].join('.'),
    '127.0.0.1',
    '239.1.1.1',
  ];
}

// ---- cells

/** The values of the prover's cells of one action, by place in the payload. */
export function cellValues(set: PolicySet, key: string): Pools['places'] {
  const { ctx } = createProblem(set, key);
  const shape = set.actions.get(key)!.shape;
  const places = [...ctx.leaves.values()].flatMap(
    ({ key: path, cells }): readonly [string, readonly Json[]][] => {
      const type = typeAt(shape, path);
      if (type === null) return [];
      const values = cells.filter(({ value, isOther }) => !isOther && isValue(value));
      return [[path, values.map(({ value }) => jsonOfSample(value as never, type))]];
    },
  );
  return new Map(places.filter(([, values]) => values.length > 0));
}

/** The type at a path such as `payload.resource.owner`; null for what is no single value of the payload. */
function typeAt(shape: Shape, path: string): Type | null {
  const [root, ...steps] = path.split('.');
  if (root !== 'payload' || steps.length === 0) return null;
  let type: Type | null = { kind: 'record', shape } as Type;
  for (const step of steps) {
    if (type?.kind !== 'record') return null;
    type = type.shape.fields.find(({ name }) => name === step)?.type ?? null;
  }
  return type === null || type.kind === 'record' || type.kind === 'list' ? null : type;
}
