// Reads a constant text in the type of the value beside it: an address, a local time, or a text of a kind
// such as a path or URL.

import { elementsOf, writtenList } from '../../model/children.ts';
import type { Expression, Literal } from '../../model/expression.ts';
import { enumeration, listOf, type Type } from '../../model/type.ts';
import { type CanonicalKind, canonicalText } from '../../value/canonical-text.ts';
import type { Environment } from '../incremental/environment.ts';
import { behindLets, constantText } from '../logic/constants.ts';
import { typeOfText, valueAs } from '../logic/literals.ts';
import { textNotRead } from '../messages/type-errors.ts';
import { letsOf } from './lets.ts';

/**
 * Reads a constant text beside an address or a local time as such a value, also in a list; null, with a
 * diagnostic, when the text is none. A text beside a path, URL, host or e-mail address is read in its
 * canonical form, if it has one. Any other expression is returned unchanged.
 */
export function adapt(expression: Expression, type: Type, env: Environment): Expression | null {
  if (type.kind === 'text')
    return type.of === 'string' ? expression : canonicalConstant(expression, type.of, env);
  if (type.kind !== 'ip' && type.kind !== 'datetime') return expression;
  const node = behindLets(expression, letsOf(env));
  const written = elementsOf(node);
  if (written !== null) {
    const elements = written.map((element) => adapt(element, type, env));
    const resolved = elements.filter((element) => element !== null);
    if (resolved.length < elements.length) return null;
    const element = { type, isNullable: false, isSecret: false, isSigned: false };
    const listType: Type = { kind: 'list', element, length: { low: null, high: null } };
    return { kind: 'list', elements: resolved, type: listType, span: expression.span };
  }
  if (node.kind !== 'literal' || typeof node.value !== 'string') return expression;
  const value = valueAs(node.value, type);
  if (value === null) {
    env.report(textNotRead(expression.span, node.value, type));
    return null;
  }
  return { kind: 'literal', value, type, span: expression.span } satisfies Literal;
}

/** Brings constants beside texts of a kind, as in one list, into the canonical form of that kind. */
export function adaptAll(expressions: readonly Expression[], env: Environment): readonly Expression[] {
  const kind = expressions.map(({ type }) => kindOf(type)).find((each) => each !== null) ?? null;
  return kind === null ? expressions : expressions.map((each) => canonicalConstant(each, kind, env));
}

/** Returns the kind of a text, or of the texts in a list; null for free text and for any other type. */
function kindOf(type: Type): CanonicalKind | null {
  const text = type.kind === 'list' ? type.element.type : type;
  return text.kind === 'text' && text.of !== 'string' ? text.of : null;
}

function canonicalConstant(expression: Expression, kind: CanonicalKind, env: Environment): Expression {
  const node = behindLets(expression, letsOf(env));
  const written = elementsOf(node);
  if (written !== null) {
    const elements = written.map((element) => canonicalConstant(element, kind, env));
    if (elements.every((element, at) => element === written[at])) return expression;
    const values = elements.map((element) => constantText(element, letsOf(env)));
    if (!values.every((value) => value !== null)) return expression;
    const type = listOf(enumeration([...new Set(values)]));
    return writtenList(elements, { type, span: expression.span });
  }
  if (node.kind !== 'literal' || typeof node.value !== 'string') return expression;
  const value = canonicalText(kind, node.value) ?? node.value;
  if (value === node.value) return expression;
  return { kind: 'literal', value, type: typeOfText(value, env), span: expression.span } satisfies Literal;
}
