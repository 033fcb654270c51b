// Finds the currency of amounts whose currency field is in a record around theirs: `lines: [{ fee:
// money(currency) }], currency: "USD" | "EUR"`. A type may be declared apart from the records around it, so
// the field is looked up where a payload is put together.

import type { Span } from '../../diagnostic/span.ts';
import { allSigners } from '../../model/signers.ts';
import type { Field, MoneyType, Shape, Slot, Type } from '../../model/type.ts';
import type { RecordBody, TypeNode } from '../../syntax/tree/tree.ts';
import { checkCurrency } from '../expressions/types.ts';
import type { Environment } from '../incremental/environment.ts';
import { payloadField } from '../logic/payload-paths.ts';
import { currencyFieldInList, currencyFieldUnfit } from '../messages/errors.ts';

/** A type whose currency is the name of a field. */
type FieldMoney = MoneyType & { readonly currencyField: string };

/** What the shape describes. Only in payloads may a record around an amount name the amount's currency. */
type ShapeRole = 'payload' | 'result' | 'row';

/** Where a type occurs, and how the type is written there. */
interface TypeContext {
  /** The records around the type, the innermost last. */
  readonly records: readonly PlacedRecord[];
  /** The steps from the payload to the type; null beneath a list. */
  readonly steps: readonly string[] | null;
  /**
   * The record as written; null when the type is not written as a record here, for example when it is named.
   */
  readonly body: RecordBody | null;
  readonly span: Span;
  readonly of: ShapeRole;
  readonly env: Environment;
}

type PlacedRecord = Pick<TypeContext, 'steps'> & { readonly shape: Shape };

interface ShapeSource {
  readonly body: RecordBody;
  readonly of: ShapeRole;
}

/**
 * Returns the shape with the currency of each amount placed. An amount without a currency is reported and
 * stays unchanged in the shape.
 */
export function placeCurrencies(shape: Shape, { body, of }: ShapeSource, env: Environment): Shape {
  return needsPlacing(shape)
    ? placedShape(shape, { records: [], steps: [], body, span: body.span, of, env })
    : shape;
}

/** Whether any amount of the shape has its currency outside its own record. */
function needsPlacing(shape: Shape): boolean {
  const cached = needing.get(shape);
  if (cached !== undefined) return cached;
  const needs = shape.fields.some(({ type }) => {
    const record = recordIn(type);
    return record === null ? lacksCurrency(type, shape) : needsPlacing(record);
  });
  needing.set(shape, needs);
  return needs;
}

const needing = new WeakMap<Shape, boolean>();

/** The shape of a record, or of the records in a list; null for other types. */
function recordIn(type: Type): Shape | null {
  if (type.kind === 'list') return recordIn(type.element.type);
  return type.kind === 'record' ? type.shape : null;
}

function lacksCurrency(type: Type, { fields }: Shape): type is FieldMoney {
  return (
    type.kind === 'money' &&
    type.currencyField !== null &&
    !fields.some(({ name }) => name === type.currencyField)
  );
}

function placedShape(shape: Shape, ctx: TypeContext): Shape {
  const { body, env, of, records, steps } = ctx;
  const written = new Map(body?.fields.map(({ name, type }) => [name.text, typeWithin(type)]));
  const fields = shape.fields.map((field) => {
    const node = written.get(field.name);
    const inner: TypeContext = {
      records: [...records, { shape, steps }],
      steps: steps && [...steps, field.name],
      body: node?.kind === 'record-type' ? node.body : null,
      span: node?.kind === 'money-type' ? node.currency.span : (node?.span ?? ctx.span),
      of,
      env,
    };
    return lacksCurrency(field.type, shape)
      ? placedAmount(field, field.type, inner)
      : { ...field, ...placedSlot(field, inner) };
  });
  return { ...shape, fields };
}

/** Strips list brackets, the modifiers `secret` and `signed`, and unions with null from a type. */
function typeWithin(node: TypeNode): TypeNode {
  switch (node.kind) {
    case 'list-type':
      return typeWithin(node.element);
    case 'modified-type':
      return typeWithin(node.type);
    case 'union-type':
      return typeWithin(node.members.find(({ kind }) => kind !== 'null-type') ?? node.members[0]!);
    default:
      return node;
  }
}

function placedSlot(slot: Slot, ctx: TypeContext): Slot {
  const { type } = slot;
  if (type.kind === 'list') {
    const element = placedSlot(type.element, { ...ctx, steps: null });
    return element === type.element ? slot : { ...slot, type: { ...type, element } };
  }
  if (type.kind !== 'record' || !needsPlacing(type.shape)) return slot;
  return { ...slot, type: { ...type, shape: placedShape(type.shape, ctx) } };
}

/** Returns the amount with the place of its currency. An amount needs the signers of its currency too. */
function placedAmount(amount: Field, type: FieldMoney, { env, of, records, span }: TypeContext): Field {
  const name = type.currencyField;
  const record = records.findLast(({ shape }) => payloadField(shape, name) !== undefined);
  if (record === undefined || of !== 'payload') {
    env.report(currencyFieldUnfit(span, name));
    return amount;
  }
  if (record.steps === null) {
    env.report(currencyFieldInList(span, name));
    return amount;
  }
  const currency = payloadField(record.shape, name)!;
  checkCurrency(span, { amount, currency }, env);
  return { ...amount, ...allSigners(amount, currency), type: { ...type, currencyRecord: record.steps } };
}
