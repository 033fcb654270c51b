// Adds what a formula knows nothing of to a request that a model describes: rows of pushed tables, and the
// enforcement point that vouches for an approver. The rows are samples: rows without optional cells, and whole
// rows with small and with large values. The definition then tries each request.

import { namingValues } from '../../language/model/approvers.ts';
import type { Json, JsonObject } from '../../language/model/json.ts';
import type { PolicySet, Rule } from '../../language/model/policy.ts';
import { isPushed } from '../../language/model/pushed-row.ts';
import type { Facts, PushedRows } from '../../language/model/request.ts';
import type { Field } from '../../language/model/type.ts';
import { sampleOf } from './sample.ts';

/** Reads the rows of a request, as a decision does; `onRowUnknown` learns which rows are read. */
type ReadRows = (facts: Facts) => unknown;

interface RowSample {
  readonly hasOptionalCells: boolean;
  readonly number: number;
  readonly truth: boolean;
  /** Which value of an enumeration is taken. */
  readonly place: number;
  /** Whether addresses are those of the payload; otherwise each column has one of its own. */
  readonly areAddressesOfPayload: boolean;
}

const [small, large] = [1, 1_000_000_000];
const samples: readonly RowSample[] = [false, true].flatMap((areAddressesOfPayload) => [
  { hasOptionalCells: true, number: small, truth: true, place: 0, areAddressesOfPayload },
  { hasOptionalCells: true, number: large, truth: true, place: 1, areAddressesOfPayload },
  { hasOptionalCells: true, number: large, truth: false, place: 1, areAddressesOfPayload },
  { hasOptionalCells: false, number: small, truth: true, place: 0, areAddressesOfPayload },
]);

/** A key of a row may be read from another row. */
const roundsMax = 3;

type Tables = Pick<PolicySet, 'tables'>;

/** The request itself, also from each enforcement point that signs the approvers of rules, each with sample rows. */
export function* withSamples(
  set: Tables,
  facts: Facts,
  { rules, read }: { readonly rules: readonly Rule[]; readonly read: ReadRows },
): Generator<Facts> {
  const signers = rules.flatMap(({ requirement }) =>
    namingValues(requirement).flatMap((value) => (value.kind === 'field' ? (value.signers ?? []) : [])),
  );
  const signed = [...new Set(signers)].map((point) => ({ ...facts, request: { ...facts.request, point } }));
  yield* withSampleRows(set, facts, read);
  for (const one of signed) yield* withSampleRows(set, one, read);
}

/**
 * The request as it is if no table has pushed rows; else without rows, and with rows of each kind for the keys that
 * it reads. A service always knows the rows that a request reads.
 */
function* withSampleRows({ tables }: Tables, facts: Facts, read: ReadRows): Generator<Facts> {
  if (![...tables.values()].some(isPushed)) return yield facts;
  yield { ...facts, rows: { given: {}, areAll: true } };
  for (const sample of samples) {
    const rows = rowsRead({ tables, sample }, facts, read);
    if (Object.keys(rows.given).length === 0) return;
    yield { ...facts, rows };
  }
}

function rowsRead(
  { tables, sample }: Tables & { readonly sample: RowSample },
  facts: Facts,
  read: ReadRows,
): PushedRows {
  const given = new Map<string, Map<string, JsonObject>>();
  const address = sample.areAddressesOfPayload ? addressIn(facts.payload) : null;
  const present = (): PushedRows['given'] =>
    Object.fromEntries([...given].map(([name, rows]) => [name, Object.fromEntries(rows)]));
  for (let round = 0; round < roundsMax; round += 1) {
    let isNew = false;
    read({
      ...facts,
      rows: { given: present(), areAll: false },
      onRowUnknown: (name, key) => {
        const shape = tables.get(name)?.pushed?.shape;
        if (shape === undefined) return;
        isNew = true;
        given.set(name, (given.get(name) ?? new Map()).set(key, rowOf(shape.fields, sample, address)));
      },
    });
    if (!isNew) break;
  }
  return { given: present(), areAll: true };
}

/** The first text of the payload that looks like an e-mail address; null if there is none. */
function addressIn(json: Json): string | null {
  if (typeof json === 'string') return /^[^@\s]+@[^@\s]+$/.test(json) ? json : null;
  if (typeof json !== 'object' || json === null) return null;
  for (const part of Object.values(json)) {
    const found = addressIn(part);
    if (found !== null) return found;
  }
  return null;
}

function rowOf(fields: readonly Field[], sample: RowSample, address: string | null): JsonObject {
  return Object.fromEntries(
    fields
      .filter(({ isOptional }) => !isOptional || sample.hasOptionalCells)
      .map((field) => [field.name, cellOf(field, sample, address)]),
  );
}

/** A text cell has the name of its column, so that the cells of a row differ. */
function cellOf(field: Field, { number, truth, place }: RowSample, address: string | null): Json {
  const { type } = field;
  switch (type.kind) {
    case 'boolean':
      return truth;
    case 'number':
    case 'integer':
    case 'money':
      return number;
    case 'text':
      if (type.values !== null) return type.values[Math.min(place, type.values.length - 1)] ?? '';
      if (type.of !== 'email') return sampleOf(field);
      return address ?? `${field.name.replaceAll(/\W/g, '')}@example.com`;
    default:
      return sampleOf(field);
  }
}
