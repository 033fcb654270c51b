// Conditions of the policies that an import writes, as values: constants are folded, so that what the schema alone decides is
// in no policy.

export type Condition =
  | { readonly kind: 'constant'; readonly value: boolean }
  | { readonly kind: 'test'; readonly text: string }
  | {
      readonly kind: 'comparison';
      readonly left: string;
      readonly operator: Comparison;
      readonly right: string;
    }
  | { readonly kind: 'not'; readonly of: Condition }
  | { readonly kind: 'and' | 'or'; readonly parts: readonly Condition[] }
  | {
      readonly kind: 'if';
      readonly condition: Condition;
      readonly whenTrue: Condition;
      readonly otherwise: Condition;
    };

export type Comparison = '==' | '!=' | '<' | '<=' | '>' | '>=';

export const always: Condition = { kind: 'constant', value: true };
export const never: Condition = { kind: 'constant', value: false };

export function test(text: string): Condition {
  return { kind: 'test', text };
}

export function comparison(left: string, operator: Comparison, right: string): Condition {
  return { kind: 'comparison', left, operator, right };
}

export function constant(value: boolean): Condition {
  return value ? always : never;
}

export function isConstant(condition: Condition, value: boolean): boolean {
  return condition.kind === 'constant' && condition.value === value;
}

const opposites: Readonly<Record<Comparison, Comparison>> = {
  '==': '!=',
  '!=': '==',
  '<': '>=',
  '<=': '>',
  '>': '<=',
  '>=': '<',
};

export function not(of: Condition): Condition {
  if (of.kind === 'constant') return constant(!of.value);
  if (of.kind === 'comparison') return { ...of, operator: opposites[of.operator] };
  return of.kind === 'not' ? of.of : { kind: 'not', of };
}

export function and(...parts: readonly Condition[]): Condition {
  return joined('and', parts);
}

export function or(...parts: readonly Condition[]): Condition {
  return joined('or', parts);
}

/** Parts that change nothing are left out; one part that decides alone is the whole. */
function joined(kind: 'and' | 'or', parts: readonly Condition[]): Condition {
  const decisive = kind === 'or';
  const flat = parts.flatMap((part) => (part.kind === kind ? part.parts : [part]));
  if (flat.some((part) => isConstant(part, decisive))) return constant(decisive);
  const unique = new Map(
    flat.filter(({ kind: own }) => own !== 'constant').map((part) => [conditionText(part), part]),
  );
  const [first, ...more] = [...unique.values()];
  if (first === undefined) return constant(!decisive);
  return more.length === 0 ? first : { kind, parts: [first, ...more] };
}

/** The condition in the language of policies, in parentheses where it may be part of another. */
export function conditionText(condition: Condition): string {
  switch (condition.kind) {
    case 'constant':
      return String(condition.value);
    case 'test':
      return condition.text;
    case 'comparison':
      return `${condition.left} ${condition.operator} ${condition.right}`;
    case 'if': {
      const { condition: tested, whenTrue, otherwise } = condition;
      const rest = isConstant(otherwise, true) ? '' : ` else ${conditionText(otherwise)}`;
      return `(if ${conditionText(tested)} then ${conditionText(whenTrue)}${rest})`;
    }
    case 'not':
      return `not (${conditionText(condition.of)})`;
    case 'and':
    case 'or':
      return `(${condition.parts.map(conditionText).join(` ${condition.kind} `)})`;
  }
}

/**
 * The condition under which an expression of Cedar is true, and that under which it is false. An expression that ends in an
 * error is neither. `isExact` says that it is always one of the two, so that each condition is the other's negation.
 */
export interface Truth {
  readonly yes: Condition;
  readonly no: Condition;
  readonly isExact: boolean;
}

export function exactly(yes: Condition): Truth {
  return { yes, no: not(yes), isExact: true };
}

export function negation({ yes, no, isExact }: Truth): Truth {
  return { yes: no, no: yes, isExact };
}

/** Cedar's `&&`: the second part is evaluated only where the first is true. */
export function both(a: Truth, b: Truth): Truth {
  const yes = and(a.yes, b.yes);
  if (a.isExact && b.isExact) return exactly(yes);
  return { yes, no: or(a.no, and(a.yes, b.no)), isExact: false };
}

export function either(a: Truth, b: Truth): Truth {
  if (a.isExact && b.isExact) return exactly(or(a.yes, b.yes));
  return negation(both(negation(a), negation(b)));
}

export interface Branches {
  readonly whenTrue: Truth;
  readonly otherwise: Truth;
}

export function choice(condition: Truth, { whenTrue, otherwise }: Branches): Truth {
  if (condition.isExact && whenTrue.isExact && otherwise.isExact)
    return exactly(chosen(condition.yes, whenTrue.yes, otherwise.yes));
  const where = (of: (one: Truth) => Condition): Condition =>
    or(and(condition.yes, of(whenTrue)), and(condition.no, of(otherwise)));
  return { yes: where(({ yes }) => yes), no: where(({ no }) => no), isExact: false };
}

function chosen(condition: Condition, whenTrue: Condition, otherwise: Condition): Condition {
  if (isConstant(otherwise, false)) return and(condition, whenTrue);
  if (isConstant(whenTrue, true)) return or(condition, otherwise);
  if (isConstant(whenTrue, false)) return and(not(condition), otherwise);
  return { kind: 'if', condition, whenTrue, otherwise };
}

/** Whether two boolean expressions are equal; both are evaluated. */
export function sameTruth(a: Truth, b: Truth): Truth {
  const yes = or(and(a.yes, b.yes), and(a.no, b.no));
  const no = or(and(a.yes, b.no), and(a.no, b.yes));
  return a.isExact && b.isExact ? exactly(yes) : { yes, no, isExact: false };
}
