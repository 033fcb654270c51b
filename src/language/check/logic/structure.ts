// Turns data into a text that is equal for data of equal content; spans are left out. The text is short,
// because large sets hold many of them. INVARIANT: two pieces of the checker's data have one text only if
// they hold the same values.

import { spanKeys } from '../../diagnostic/span.ts';

/** Returns the text of the data. Spans are left out; keys are not, so that data of two kinds differ. */
export function structureOf(data: unknown): string {
  switch (typeof data) {
    case 'string':
      return JSON.stringify(data);
    case 'bigint':
      return `${data}n`;
    case 'object':
      break;
    default:
      return `${data as boolean | number | undefined}`;
  }
  if (data === null) return 'null';
  if (Array.isArray(data)) return structureOfArray(data);
  return 'kind' in data && data.kind === 'literal' ? structureOfLiteral(data) : structureOfObject(data);
}

function structureOfArray(data: readonly unknown[]): string {
  let text = '[';
  for (const part of data) text += `${structureOf(part)},`;
  return `${text}]`;
}

function structureOfObject(data: object): string {
  let text = '{';
  for (const key in data) {
    if (spanKeys.has(key)) continue;
    // The keys of the model are plain words.
    const part: unknown = data[key as keyof typeof data];
    text += `${key}:${key === 'type' && typeof part === 'object' && part !== null ? structureOfType(part) : structureOf(part)},`;
  }
  return `${text}}`;
}

const typeTexts = new WeakMap<object, string>();

/** Many places share one type, and the text of a type may be long, so it is computed once. */
function structureOfType(type: object): string {
  const cached = typeTexts.get(type);
  if (cached !== undefined) return cached;
  const text = structureOf(type);
  typeTexts.set(type, text);
  return text;
}

/**
 * The type of a text literal is the text itself and is left out. For other values the kind of the type is
 * written before the value.
 */
function structureOfLiteral(data: object): string {
  const { value, type } = data as { readonly value: unknown; readonly type: { readonly kind: string } };
  return typeof value === 'string' ? JSON.stringify(value) : `${type.kind} ${structureOf(value)}`;
}
