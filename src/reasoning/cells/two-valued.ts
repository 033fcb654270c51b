// Determines which conditions are never unknown for any payload of a shape: those that compare constants with
// what is always present. INVARIANT: a form that this file does not name may be unknown.

import { elementsOf } from '../../language/model/children.ts';
import type { Expression } from '../../language/model/expression.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import type { Shape, Type } from '../../language/model/type.ts';

export interface Payloads {
  readonly set: PolicySet;
  readonly shape: Shape;
  /** Whether the risk is known, because nothing adds to it. */
  readonly isRiskKnown: boolean;
}

export function isTwoValued(condition: Expression, of: Payloads): boolean {
  switch (condition.kind) {
    case 'not':
      return isTwoValued(condition.operand, of);
    case 'and':
    case 'or':
      return condition.operands.every((operand) => isTwoValued(operand, of));
    case 'let': {
      const declared = of.set.lets.get(condition.id);
      return declared !== undefined && isTwoValued(declared.expression, of);
    }
    case 'literal':
    case 'field':
      return condition.type.kind === 'boolean' && isKnown(condition, of);
    case 'compare':
      return isKnown(condition.left, of) && isKnown(condition.right, of);
    case 'text-test':
      return isKnown(condition.left, of) && isKnown(condition.right, of);
    case 'in-range':
      return [condition.subject, condition.low, condition.high].every((part) => isKnown(part, of));
    case 'in-list':
    case 'like':
      return isKnown(condition.subject, of);
    case 'in-elements': {
      const { subject, elements } = condition;
      const written = elementsOf(elements);
      return written !== null && [subject, ...written].every((part) => isKnown(part, of));
    }
    default:
      return false;
  }
}

const plainKinds: ReadonlySet<Type['kind']> = new Set(['boolean', 'number', 'integer', 'text']);

function isKnown(part: Expression, { shape, isRiskKnown }: Payloads): boolean {
  if (part.kind === 'risk') return isRiskKnown;
  if (!plainKinds.has(part.type.kind)) return false;
  if (part.kind === 'literal') return part.value !== null;
  return part.kind === 'field' && part.root === 'payload' && !part.isSigned && isThere(shape, part.steps);
}

/** Whether every payload has a value at the path. */
function isThere(shape: Shape, [step, ...rest]: readonly string[]): boolean {
  const field = shape.fields.find(({ name }) => name === step);
  if (field === undefined || field.isOptional || field.isNullable) return false;
  if (rest.length === 0) return plainKinds.has(field.type.kind);
  return field.type.kind === 'record' && isThere(field.type.shape, rest);
}
