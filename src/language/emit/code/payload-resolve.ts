// Turns a valid payload into the payload that rules see, with every path, URL, host and e-mail address in
// canonical form. It runs only when the generated check has met a text that is not canonical. INVARIANT: the
// sent payload is not changed, and a part that needs no change is returned as the very same object.

import { isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { ResolvedText } from '../../model/trace.ts';
import type { Shape, Slot, Type } from '../../model/type.ts';
import { canonicalText } from '../../value/canonical-text.ts';

export function resolvePayload(shape: Shape, payload: JsonObject): JsonObject {
  const types = new Map(shape.fields.map(({ name, type }) => [name, type]));
  let isSame = true;
  const entries = Object.entries(payload).map(([name, value]) => {
    const type = types.get(name);
    const resolved = type === undefined ? value : resolveValue(type, value);
    isSame &&= resolved === value;
    return [name, resolved] as const;
  });
  return isSame ? payload : Object.fromEntries(entries);
}

function resolveValue(type: Type, value: Json): Json {
  switch (type.kind) {
    case 'text':
      return typeof value === 'string' ? (canonicalText(type.of, value) ?? value) : value;
    case 'record':
      return isJsonObject(value) ? resolvePayload(type.shape, value) : value;
    case 'list': {
      if (!Array.isArray(value)) return value;
      const elements = value.map((element: Json) => resolveValue(type.element.type, element));
      return elements.every((element, at) => element === value[at]) ? value : elements;
    }
    default:
      return value;
  }
}

/** Whether the type includes a text that can be spelt in several ways. */
export function holdsSpellings(type: Type): boolean {
  if (type.kind === 'text') return type.of !== 'string';
  if (type.kind === 'list') return holdsSpellings(type.element.type);
  return type.kind === 'record' && type.shape.fields.some((field) => holdsSpellings(field.type));
}

/** The most resolved texts that are reported for one payload. */
const reportedMax = 100;

/** Returns the texts that rules see in another form than sent, each with its place. Secrets are left out. */
export function resolvedTexts(shape: Shape, sent: JsonObject, resolved: JsonObject): readonly ResolvedText[] {
  const texts: ResolvedText[] = [];
  collectRecord(texts, { shape, sent, resolved, pointer: '' });
  return texts;
}

interface Pair<T> {
  readonly sent: T;
  readonly resolved: T;
  readonly pointer: string;
}

function collectRecord(texts: ResolvedText[], pair: Pair<JsonObject> & { readonly shape: Shape }): void {
  const { shape, sent, resolved, pointer } = pair;
  for (const field of shape.fields) {
    if (!Object.hasOwn(sent, field.name)) continue;
    const at = `${pointer}/${field.name}`;
    collect(texts, field, { sent: sent[field.name]!, resolved: resolved[field.name]!, pointer: at });
  }
}

function collect(texts: ResolvedText[], slot: Slot, { sent, resolved, pointer }: Pair<Json>): void {
  if (sent === resolved || slot.isSecret || texts.length >= reportedMax) return;
  const { type } = slot;
  if (typeof resolved === 'string') texts.push({ pointer, resolved });
  else if (type.kind === 'record') {
    const [before, after] = [sent as JsonObject, resolved as JsonObject];
    collectRecord(texts, { shape: type.shape, sent: before, resolved: after, pointer });
  } else if (type.kind === 'list') {
    for (const [at, element] of (sent as readonly Json[]).entries()) {
      const after = (resolved as readonly Json[])[at]!;
      collect(texts, type.element, { sent: element, resolved: after, pointer: `${pointer}/${at}` });
    }
  }
}
