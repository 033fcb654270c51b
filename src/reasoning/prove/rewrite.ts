// Rewrites expressions: lets, facts about the action and constant texts and quantities are written out, and
// parts are replaced. Also makes new expressions.

import { canonicalMeaning } from '../../language/model/canonical.ts';
import { childrenOf, descendants, elementsOf, writtenList } from '../../language/model/children.ts';
import type {
  ComparisonOperator,
  Conditional,
  Expression,
  FieldRead,
  Quantify,
} from '../../language/model/expression.ts';
import { booleanType } from '../../language/model/type.ts';
import type { Value } from '../../language/model/value.ts';
import { constantOf, placeholder } from '../cells/condition-meaning.ts';
import type { Elements, ProofContext } from './context.ts';

/** The expression with `change` applied to each operand. A subject stays a read of a field. */
export function mapOperands(expression: Expression, change: (operand: Expression) => Expression): Expression {
  switch (expression.kind) {
    case 'not':
    case 'negate':
      return { ...expression, operand: change(expression.operand) };
    case 'and':
    case 'or':
      return { ...expression, operands: expression.operands.map(change) };
    case 'compare':
      return { ...expression, left: change(expression.left), right: change(expression.right) };
    case 'arithmetic':
      return { ...expression, left: change(expression.left), right: change(expression.right) };
    case 'text-test':
      return { ...expression, left: change(expression.left), right: change(expression.right) };
    case 'is-null':
    case 'has':
      return { ...expression, subject: change(expression.subject) as typeof expression.subject };
    case 'else':
      return {
        ...expression,
        subject: change(expression.subject) as typeof expression.subject,
        fallback: change(expression.fallback),
      };
    case 'in-list':
      return { ...expression, subject: change(expression.subject) };
    case 'in-table':
      return { ...expression, subject: change(expression.subject) };
    case 'column':
      return { ...expression, key: change(expression.key) };
    case 'in-hours':
      return { ...expression, subject: change(expression.subject) };
    case 'in-cidr':
      return { ...expression, subject: change(expression.subject) };
    case 'like':
    case 'matches':
      return { ...expression, subject: change(expression.subject) };
    case 'mentions':
    case 'single-script':
    case 'list-prefix':
      return { ...expression, subject: change(expression.subject) };
    case 'has-cell':
      return { ...expression, cell: change(expression.cell) as typeof expression.cell };
    case 'if':
      return {
        ...expression,
        condition: change(expression.condition),
        whenTrue: change(expression.whenTrue),
        otherwise: change(expression.otherwise),
      };
    case 'in-elements':
      return { ...expression, subject: change(expression.subject), elements: change(expression.elements) };
    case 'in-range':
      return {
        ...expression,
        subject: change(expression.subject),
        low: change(expression.low),
        high: change(expression.high),
      };
    case 'quantify':
      return { ...expression, sources: expression.sources.map(change), body: change(expression.body) };
    case 'list':
    case 'text-list':
      return writtenList(elementsOf(expression)!.map(change), expression);
    case 'call':
      return { ...expression, args: expression.args.map(change) };
    case 'literal':
    case 'field':
    case 'fact':
    case 'meter':
    case 'let':
    case 'now':
    case 'risk':
      return expression;
  }
}

const meanings = new WeakMap<Expression, string>();

/** A text that is equal for expressions with the same meaning. */
export function expressionMeaning(expression: Expression): string {
  const meaning = meanings.get(expression) ?? canonicalMeaning(expression);
  meanings.set(expression, meaning);
  return meaning;
}

/** Where an expression stands: texts of lets stay in the body of a quantifier, where they have a limit. */
type Standing = 'outside' | 'in a body';

/** Writes out lets, facts about the action, and variables that stand for a constant. */
export function writtenOut(
  ctx: ProofContext,
  expression: Expression,
  elements: Elements,
  standing: Standing = 'outside',
): Expression {
  return isWrittenOut(expression, elements, standing)
    ? expression
    : newWrittenOut(ctx, expression, { elements, standing });
}

function isTextOfBody({ type }: Expression, standing: Standing): boolean {
  return standing === 'in a body' && type.kind === 'text';
}

/**
 * Whether nothing has to be written out. The expression then stays the same object, by which cached results
 * are found.
 */
function isWrittenOut(expression: Expression, elements: Elements, standing: Standing): boolean {
  if (expression.kind === 'let') return isTextOfBody(expression, standing);
  if (expression.kind === 'quantify')
    return (
      expression.sources.every((source) => isWrittenOut(source, elements, standing)) &&
      isWrittenOut(expression.body, elements, 'in a body')
    );
  if (expression.kind === 'fact') return !expression.fact.startsWith('action.');
  if (isConstantCall(expression)) return false;
  if (expression.kind === 'field' && elements.get(expression.root)?.kind === 'constant') return false;
  return childrenOf(expression).every((child) => isWrittenOut(child, elements, standing));
}

function newWrittenOut(
  ctx: ProofContext,
  expression: Expression,
  { elements, standing }: { readonly elements: Elements; readonly standing: Standing },
): Expression {
  const inner = (part: Expression): Expression => writtenOut(ctx, part, elements, standing);
  switch (expression.kind) {
    case 'quantify': {
      const body = writtenOut(ctx, expression.body, elements, 'in a body');
      return { ...expression, sources: expression.sources.map(inner), body };
    }
    case 'let': {
      if (isTextOfBody(expression, standing)) return expression;
      const declared = ctx.set.lets.get(expression.id);
      return declared === undefined ? expression : writtenOut(ctx, declared.expression, new Map());
    }
    case 'fact':
      return actionFact(ctx, expression) ?? expression;
    case 'field': {
      const element = elements.get(expression.root);
      return element?.kind === 'constant' && expression.steps.length === 0 ? element.literal : expression;
    }
    case 'has':
    case 'is-null':
    case 'else': {
      // The subject stays a read, even of a variable that stands for a constant.
      const written = mapOperands(expression, inner);
      return { ...written, subject: expression.subject } as Expression;
    }
    case 'call': {
      const written = mapOperands(expression, inner);
      const value = isConstantCall(written) ? constantOf(written, ctx.set) : null;
      return value === null || typeof value === 'symbol' ? written : literalNode(value as Value, written);
    }
    default:
      return mapOperands(expression, inner);
  }
}

/** Whether the expression is a quantity or a joined text of constants. */
function isConstantCall(expression: Expression): boolean {
  return (
    expression.kind === 'call' &&
    (expression.builtin === 'quantity' || expression.builtin === 'join') &&
    expression.args.every(({ kind }) => kind === 'literal')
  );
}

function actionFact(
  { action }: ProofContext,
  expression: Extract<Expression, { readonly kind: 'fact' }>,
): Expression | null {
  const segments = action.key.split('.');
  const values: Partial<Record<typeof expression.fact, string>> = {
    'action.key': action.key,
    'action.area': segments.slice(0, -1).join('.'),
    'action.verb': segments.at(-1) ?? '',
  };
  const value = values[expression.fact];
  return value === undefined
    ? null
    : { kind: 'literal', value, type: expression.type, span: expression.span };
}

/** The expression with the placeholder in place of each part that `isPart` accepts. */
export function withPlaceholder(expression: Expression, isPart: (part: Expression) => boolean): Expression {
  if (isPart(expression)) return placeholderRead(expression);
  return mapOperands(expression, (operand) => withPlaceholder(operand, isPart));
}

/** A read of the placeholder, with the type and span of what it replaces. */
export function placeholderRead({ type, span }: Pick<Expression, 'type' | 'span'>): FieldRead & Expression {
  return { kind: 'field', root: placeholder, steps: [], isSigned: false, isSecret: false, type, span };
}

/** The first `x else y` that is evaluated whenever the expression is. */
export function firstElse(expression: Expression): Extract<Expression, { readonly kind: 'else' }> | null {
  if (expression.kind === 'else') return expression;
  let first: Extract<Expression, { readonly kind: 'else' }> | null = null;
  // A quantifier's body is about single elements.
  if (expression.kind === 'quantify') return null;
  mapOperands(expression, (operand) => {
    first ??= firstElse(operand);
    return operand;
  });
  return first;
}

/** The first conditional value without which the expression is unknown. */
export function firstIf(expression: Expression): Conditional | null {
  for (const child of expression.kind === 'quantify' ? [] : childrenOf(expression)) {
    if (child.kind === 'if') return child;
    const inner = mayBeKnownWithout.has(child.kind) ? null : firstIf(child);
    if (inner !== null) return inner;
  }
  return null;
}

/** Kinds of expression that may be known although a part of them is unknown. */
const mayBeKnownWithout: ReadonlySet<Expression['kind']> = new Set([
  'and',
  'or',
  'in-elements',
  'in-list',
  'mentions',
  'quantify',
]);

/** The most values of an argument that are told apart. */
const listedMax = 16;

/**
 * The first local date or joined text with an argument that is one of a few texts, such as a time zone, and a
 * conditional over these texts.
 */
export function firstListedArgument(
  expression: Expression,
): { readonly call: Expression; readonly byValue: Expression } | null {
  if (expression.kind === 'quantify') return null;
  if (expression.kind === 'call' && (expression.builtin === 'date' || expression.builtin === 'join')) {
    const at = expression.args.findIndex((arg) => arg.kind !== 'literal' && textsOf(arg) !== null);
    const arg = expression.args[at];
    if (arg !== undefined) return { call: expression, byValue: byValueOf(expression, arg, at) };
  }
  for (const child of childrenOf(expression)) {
    const inner = firstListedArgument(child);
    if (inner !== null) return inner;
  }
  return null;
}

function textsOf({ type }: Expression): readonly string[] | null {
  const values = type.kind === 'text' ? type.values : null;
  return values === null || values.length === 0 || values.length > listedMax ? null : values;
}

function byValueOf(call: Extract<Expression, { kind: 'call' }>, arg: Expression, at: number): Expression {
  const withText = (text: string): Expression => ({
    ...call,
    args: call.args.with(at, literalNode(text, arg)),
  });
  const [last = '', ...others] = (textsOf(arg) ?? []).toReversed();
  return others.reduce<Expression>(
    (otherwise, text) => ({
      kind: 'if',
      condition: comparisonCall('==', arg, literalNode(text, arg)),
      whenTrue: withText(text),
      otherwise,
      type: call.type,
      span: call.span,
    }),
    withText(last),
  );
}

export function replaced(expression: Expression, part: Expression, by: Expression): Expression {
  return expression === part ? by : mapOperands(expression, (operand) => replaced(operand, part, by));
}

/** The quantifier with another name for its variable. */
export function withVariable(quantify: Quantify, variable: string): Quantify {
  return { ...quantify, variable, body: renamedVariable(quantify.body, quantify.variable, variable) };
}

/** The expression with variables of quantifiers that are named by their depth; the same object if it has none. */
export function withPlainVariables(expression: Expression, depth = 0): Expression {
  if (!descendants(expression).some(({ kind }) => kind === 'quantify')) return expression;
  const inner = (part: Expression): Expression => withPlainVariables(part, depth + 1);
  if (expression.kind !== 'quantify')
    return mapOperands(expression, (part) => withPlainVariables(part, depth));
  return mapOperands(withVariable(expression, `$q${depth}`), inner);
}

/** The expression with another name for a variable of a quantifier around it. */
export function renamedVariable(expression: Expression, from: string, to: string): Expression {
  const renamed = (part: Expression): Expression => {
    if (part.kind === 'field') return part.root === from ? { ...part, root: to } : part;
    const isHidden = part.kind === 'quantify' && part.variable === from;
    return isHidden ? { ...part, sources: part.sources.map(renamed) } : mapOperands(part, renamed);
  };
  return renamed(expression);
}

/** A comparison with a constant, in the form that the makers of atoms take. */
export interface Comparison {
  readonly operator: ComparisonOperator;
  readonly constant: Value;
  readonly elements: Elements;
}

export function comparisonCall(
  operator: ComparisonOperator,
  left: Expression,
  right: Expression,
): Expression {
  return { kind: 'compare', operator, left, right, type: booleanType, span: left.span };
}

export function literalNode(value: Value, { type, span }: Pick<Expression, 'type' | 'span'>): Expression {
  return { kind: 'literal', value, type, span };
}
