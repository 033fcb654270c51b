// Diagnostics about expressions, one function each: operands, functions, quantifiers, risk and reasons.

import type { Diagnostic, Fix } from '../../diagnostic/diagnostic.ts';
import { type Span, spanning } from '../../diagnostic/span.ts';
import { didYouMean, nearestOf } from '../../diagnostic/suggest.ts';
import { type Builtin, builtins } from '../../model/builtins.ts';
import type { Expression, Literal } from '../../model/expression.ts';
import type { Slot, Type } from '../../model/type.ts';
import { printExpression } from '../../syntax/print/print.ts';
import { printType } from '../../syntax/print/type.ts';
import type {
  BinaryExpression,
  CallNode,
  ConditionalExpression,
  LetDeclaration,
  NameNode,
  Quantifier,
  ExpressionNode as Tree,
} from '../../syntax/tree/tree.ts';
import { foreignFunction, joining } from './foreign-names.ts';
import { listed, spelledPath } from './path-errors.ts';
import { earlier, error } from './problem.ts';
import { typeText } from './type-text.ts';

// Operands

export function conditionMistyped(node: Tree, type: Type): Diagnostic {
  return error(
    'condition-mistyped',
    node.span,
    `a condition is true or false, this is \`${typeText(type)}\``,
    {
      help: 'compare it, as in `payload.count > 3`, or write `payload has note`',
    },
  );
}

export function equalityUnfit(span: Span, type: Type): Diagnostic {
  const help =
    type.kind !== 'list'
      ? 'compare its fields'
      : type.element.type.kind === 'text'
        ? 'test membership with `in`, elements with `some` or `every`, or all in order: `words starts with ["a", "b"] and length(words) == 2`'
        : 'test membership with `in`, or go through it with `some`, `every`';
  return error('equality-unfit', span, `\`${typeText(type)}\` is not compared as a whole`, { help });
}

/** Reports an order on text or enumerations; the fix lists the values that are meant. */
export function orderingUnfit(node: BinaryExpression, left: Expression, right: Expression): Diagnostic {
  const message = `\`${typeText(left.type)}\` has no order`;
  const fix = orderingFix(node, left, right);
  return error('ordering-unfit', node.span, message, {
    help:
      fix === null
        ? 'compare with `==`, `!=` or `in`'
        : `list the values that are meant: \`${fix.edits[0]!.text}\``,
    ...(fix === null ? {} : { fix }),
  });
}

function orderingFix(node: BinaryExpression, left: Expression, right: Expression): Fix | null {
  if (left.type.kind !== 'text' || right.kind !== 'literal' || typeof right.value !== 'string') return null;
  const values = left.type.values ?? [];
  const at = values.indexOf(right.value);
  const sides: Partial<Record<BinaryExpression['operator'], readonly string[]>> = {
    '<': values.slice(0, at),
    '<=': values.slice(0, at + 1),
    '>': values.slice(at + 1),
    '>=': values.slice(at),
  };
  const meant = sides[node.operator];
  if (at < 0 || meant === undefined || meant.length === 0) return null;
  const text = `in [${meant.map((value) => JSON.stringify(value)).join(', ')}]`;
  const span = { ...node.span, start: node.operatorSpan.start, end: node.right.span.end };
  return { title: 'list the values', edits: [{ span, text }] };
}

export function outsideEnumeration(literal: Literal, type: Type): Diagnostic {
  const values = type.kind === 'text' ? (type.values ?? []) : [];
  const text = String(literal.value);
  const nearest = nearestOf(text, values);
  const message = `\`${JSON.stringify(text)}\` is not one of the values of \`${typeText(type)}\``;
  if (nearest === null) return error('outside-enumeration', literal.span, message);
  const better = JSON.stringify(nearest);
  return error('outside-enumeration', literal.span, message, {
    help: `did you mean \`${better}\``,
    fix: { title: `write \`${better}\``, edits: [{ span: literal.span, text: better }] },
  });
}

export function enumerationsDisjoint(left: Expression, right: Expression): Diagnostic {
  const message = `\`${typeText(left.type)}\` and \`${typeText(right.type)}\` have no value in common`;
  return error('enumerations-disjoint', spanning(left.span, right.span), message, {
    help: 'they are never equal: compare a field with its own values, or declare both with one type',
  });
}

export function textNotRead(span: Span, text: string, type: Type): Diagnostic {
  const help =
    type.kind === 'ip'
      ? 'write an address such as `"10.0.0.1"`; a network is written after `in` without brackets'
      : 'write a local time such as `"2026-05-19 12:00"`';
  return error('literal-mismatch', span, `\`${text}\` is not a value of \`${typeText(type)}\``, { help });
}

export function membershipMismatch(
  node: BinaryExpression,
  subject: Type,
  element: Type,
  list: string | null,
): Diagnostic {
  const holder = list === null ? 'the list' : `list \`${list}\``;
  const message = `${holder} has elements of type \`${typeText(element)}\`, the value is \`${typeText(subject)}\``;
  if (element.kind === 'text' && element.of === 'network')
    return error('type-mismatch', node.span, message, { help: 'an address is a field of type `ip`' });
  const help = membershipHelp(subject, element, list);
  return error('type-mismatch', node.span, message, help === null ? {} : { help });
}

function membershipHelp(subject: Type, element: Type, list: string | null): string | null {
  if (subject.kind === 'list') return 'go through it: `some x in payload.tags (x in [...])`';
  if (element.kind === 'record') return 'test a field of its elements: `some x in ... (x.name == "a")`';
  const isRead = subject.kind === 'ip' || subject.kind === 'datetime';
  if (isRead && list !== null) return `declare it as \`list ${list}: ${subject.kind}\``;
  return 'a list and what is looked up in it have one type: change the entries, or the type of the field';
}

function textHelp(text: string | undefined): string {
  return text !== undefined && /^[\da-f.:]+\/\d{1,3}$/i.test(text)
    ? 'a network is compared only with a field of type `ip`: declare the field so'
    : 'a part of a text is tested with `contains`';
}

export function membershipUnfit(span: Span, type: Type): Diagnostic {
  const help = type.kind === 'text' ? textHelp(type.values?.[0]) : 'compare it with `==`';
  return error(
    'membership-unfit',
    span,
    `\`in\` takes a list, a range, hours or a network, not \`${typeText(type)}\``,
    {
      help,
    },
  );
}

export function hoursSubjectUnfit(subject: Expression, hours: string): Diagnostic {
  const message = `hours are tested with an instant, this is \`${typeText(subject.type)}\``;
  return error('hours-subject-unfit', subject.span, message, { help: `write \`now in ${hours}\`` });
}

export function cidrInvalid(span: Span, why: string): Diagnostic {
  return error('cidr-unfit', span, `this is not a network: ${why}`, { help: 'write such as `"10.0.0.0/8"`' });
}

export function networksTooMany(span: Span, count: number): Diagnostic {
  return error('cidr-unfit', span, `a list with networks has at most 256 entries, this one has ${count}`, {
    help: 'join neighbouring networks, or list only addresses, which may be any number',
  });
}

export function listLiteralEmpty(span: Span): Diagnostic {
  return error('list-literal-empty', span, 'an empty list matches nothing', {
    help: 'write its values; whether a list is empty is `length(x) == 0`',
  });
}

export function entriesDiffer(entry: Expression, type: Type | null): Diagnostic {
  const other = type === null ? 'a single value' : `\`${typeText(type)}\``;
  return error('entries-differ', entry.span, `the entry is \`${typeText(entry.type)}\`, not ${other}`, {
    help: 'all entries of a list are of one type',
  });
}

// Text

export function insideUnfit(expression: Expression): Diagnostic {
  const message = `\`inside\` tests a path, this is \`${typeText(expression.type)}\``;
  return error('inside-unfit', expression.span, message, { help: 'declare the field as `path`' });
}

export function withinUnfit(expression: Expression): Diagnostic {
  const message = `\`within\` tests a host, this is \`${typeText(expression.type)}\``;
  const of = expression.type.kind === 'text' ? expression.type.of : null;
  const name = expression.kind === 'field' ? spelledPath(expression) : 'x';
  const help =
    of === 'url' || of === 'web_address'
      ? `test its host: \`host(${name}) within ...\``
      : of === 'email'
        ? `test its domain: \`domain(${name}) within ...\``
        : 'declare the field as `host`; a folder of a path is tested by `inside`';
  return error('within-unfit', expression.span, message, { help });
}

export function domainInvalid(span: Span, text: string): Diagnostic {
  return error('within-unfit', span, `\`${text}\` is not a domain`, {
    help: 'write only the domain, such as `"example.com"`: hosts below it count, too',
  });
}

export function patternNotConstant(span: Span, operator: string): Diagnostic {
  return error('pattern-not-constant', span, `the pattern after \`${operator}\` must be a constant`, {
    help: 'write a text, or a let of a text; `contains` and `starts with` take any text',
  });
}

export function wordsUnfit(span: Span, operator: string): Diagnostic {
  return error('words-unfit', span, `\`${operator}\` takes a list of constant texts`, {
    help:
      operator === 'within'
        ? 'name a declared list, write `["example.com"]`, or compare one host with another by `==`'
        : 'name a declared list, or write `["a", "b"]`',
  });
}

export function anyOfIgnoringCase(span: Span, operator: string, list: string): Diagnostic {
  return error('words-unfit', span, `\`${list}\` ignores case, \`${operator}\` does not`, {
    help: 'declare a list without `ignoring case`, or test `lower(...)` against small letters',
  });
}

export function anyOfTooLong(span: Span, operator: string, count: number): Diagnostic {
  return error('any-of-too-long', span, `\`${operator}\` takes at most 256 texts, this list has ${count}`, {
    help: 'if you know the whole texts, look them up with `in`, whose lists may have any length',
  });
}

// Arithmetic and functions

export function arithmeticUnfit(node: BinaryExpression, left: Type, right: Type): Diagnostic {
  const message = `\`${typeText(left)}\` \`${node.operator}\` \`${typeText(right)}\` has no meaning`;
  return error('arithmetic-unfit', node.span, message, { help: arithmeticHelp(node, left, right) });
}

function arithmeticHelp({ operator, left: operand }: BinaryExpression, left: Type, right: Type): string {
  const kinds = [left.kind, right.kind];
  const isSum = operator === '+' || operator === '-';
  if (isSum && left.kind === 'date' && right.kind === 'duration') {
    const date = printExpression(operand);
    return `only whole months and years are added to a date, as in \`${date} ${operator} 2 months\`; for days, compare the difference of two dates, as in \`payload.end - payload.start > 60d\``;
  }
  if (isSum && left.kind === 'date' && (right.kind === 'integer' || right.kind === 'number'))
    return 'write `6 months` or `18 years`; for days, compare the difference of two dates with a duration, as in `payload.end - payload.start > 60d`';
  if (isSum && kinds.includes('text')) return joining;
  if (isSum && kinds.includes('list'))
    return 'lists are joined in their declaration, as in `list all = a + b`; elsewhere, write one test for each, as in `x in a or x in b`';
  if (isSum && kinds.includes('boolean')) return 'join conditions by `and` or `or`';
  if (isSum && kinds.includes('money')) return 'write the currency with the amount, such as `100 USD`';
  if (left.kind === 'datetime' || right.kind === 'datetime')
    return 'a `datetime` has no time zone, so only the difference of two of them is known; declare the field as `timestamp`';
  if (operator === '+' && left.kind === 'timestamp')
    return 'add a duration to a time, as in `payload.at + 24h`; two times have only a difference, as in `now - payload.at`';
  return 'numbers are added, subtracted, multiplied and divided; money and durations are added to their like and multiplied by a number; durations are added to times; two times or two dates have a difference';
}

/**
 * Reports a comparison of a date with a date that is so many days away; the fix compares the difference of the
 * two dates with the duration.
 */
export function daysAddedToDate(node: BinaryExpression, added: BinaryExpression): Diagnostic {
  const isRight = node.right === added;
  const isSum = added.operator === '+';
  const other = isRight ? node.left : node.right;
  const [later, sooner] = isSum ? [other, added.left] : [added.left, other];
  const difference: BinaryExpression = { ...added, operator: '-', left: later, right: sooner };
  const operator = isRight === isSum ? node.operator : (turned[node.operator] ?? node.operator);
  const text = printExpression({ ...node, operator, left: difference, right: added.right });
  const message = `\`date\` \`${added.operator}\` \`duration\` has no meaning`;
  return error('arithmetic-unfit', added.span, message, {
    help: `compare the difference of the two dates: \`${text}\``,
    fix: { title: 'compare the difference of the two dates', edits: [{ span: node.span, text }] },
  });
}

const turned: Partial<Record<BinaryExpression['operator'], BinaryExpression['operator']>> = {
  '<': '>',
  '<=': '>=',
  '>': '<',
  '>=': '<=',
};

export function negationUnfit(operand: Expression): Diagnostic {
  return error('arithmetic-unfit', operand.span, `no \`-\` is written before \`${typeText(operand.type)}\``, {
    help: 'only numbers, money and durations can be negative',
  });
}

export function unknownFunction(callee: NameNode, names: readonly string[]): Diagnostic {
  return error('unknown-function', callee.span, `no function is named \`${callee.text}\``, {
    help: `there are ${listed(names)}`,
    ...didYouMean(callee, names),
    ...foreignFunction(callee),
  });
}

export function argumentCount(node: CallNode, builtin: Builtin): Diagnostic {
  const message = `\`${builtin}\` does not take ${node.args.length === 1 ? 'one argument' : `${node.args.length} arguments`}`;
  return error('argument-count', node.span, message, { help: `it is \`${builtins[builtin].signature}\`` });
}

export function definitionArgumentCount(node: CallNode, definition: LetDeclaration): Diagnostic {
  const count = node.args.length === 1 ? 'one argument' : `${node.args.length} arguments`;
  const name = definition.name.text;
  if (definition.parameters.length === 0)
    return error('argument-count', node.span, `\`${name}\` takes no arguments`, {
      help: `write \`${name}\``,
      ...earlier(definition.name.span, 'declared here'),
    });
  return error('argument-count', node.span, `\`${name}\` does not take ${count}`, {
    help: `it is \`${signatureOf(definition)}\``,
    ...earlier(definition.name.span, 'declared here'),
  });
}

export function definitionArgumentMistyped(
  argument: Expression,
  definition: LetDeclaration,
  at: number,
): Diagnostic {
  const parameter = definition.parameters[at]!.name.text;
  const message = `\`${parameter}\` of \`${definition.name.text}\` does not take \`${typeText(argument.type)}\``;
  return error('argument-mistyped', argument.span, message, {
    help: `it is \`${signatureOf(definition)}\``,
    ...earlier(definition.name.span, 'declared here'),
  });
}

export function branchMissing({ span }: ConditionalExpression, type: Type): Diagnostic {
  const message = `\`if\` without \`else\` is a condition, but the value after \`then\` is \`${typeText(type)}\``;
  return error('branch-missing', span, message, { help: 'add `else` with the other value' });
}

export function branchesDiffer(span: Span, otherwise: Type, whenTrue: Type): Diagnostic {
  const message = `the value after \`else\` is \`${typeText(otherwise)}\`, the value after \`then\` \`${typeText(whenTrue)}\``;
  return error('else-mismatch', span, message, { help: 'give two values of the same type' });
}

export function branchUnfit(span: Span, type: Type): Diagnostic {
  return error('branch-unfit', span, `\`if\` chooses single values, not \`${typeText(type)}\``, {
    help: 'put the `if` around the condition that reads the value',
  });
}

export function letTooLarge(node: CallNode, nodesMax: number): Diagnostic {
  const message = `\`${node.callee.text}\` expands to more than ${nodesMax.toLocaleString('en')} parts, or to more than 500 levels`;
  return error('let-too-large', node.span, message, {
    help: 'call fewer lets within lets, or read the value once: `let` without parameters is evaluated once',
  });
}

export function expressionTooLarge(span: Span, partsMax: number): Diagnostic {
  const message = `this has more than ${partsMax.toLocaleString('en')} parts, written out with \`and\` and \`or\``;
  return error('expression-too-large', span, message, {
    help: 'give the condition of an inner `if`, or the key of an inner look-up, a name with `let`',
  });
}

/** A let with parameters that is read without arguments. */
export function definitionUncalled(name: NameNode, definition: LetDeclaration): Diagnostic {
  const message = `\`${name.text}\` takes ${definition.parameters.length === 1 ? 'an argument' : 'arguments'}`;
  return error('argument-count', name.span, message, {
    help: `write \`${name.text}(${definition.parameters.map(() => '...').join(', ')})\`: it is \`${signatureOf(definition)}\``,
    ...earlier(definition.name.span, 'declared here'),
  });
}

function signatureOf({ name, parameters }: LetDeclaration): string {
  const printed = parameters.map((one) => `${one.name.text}: ${printType(one.type)}`);
  return `${name.text}(${printed.join(', ')})`;
}

/** A variable around a call, read in the body of what is called. */
export function unknownVariable(name: NameNode): Diagnostic {
  return error('unknown-name', name.span, `nothing is named \`${name.text}\` here`, {
    help: 'a `let` does not see the variables of a quantifier: pass the value as a parameter',
  });
}

export function argumentMistyped(argument: Expression, builtin: Builtin): Diagnostic {
  const message = `\`${builtin}\` does not take \`${typeText(argument.type)}\` here`;
  const isString = argument.type.kind === 'text' && argument.type.of === 'string';
  const kind = builtin === 'domain' ? 'email' : builtin === 'ip' ? 'host' : 'url';
  const help = `it is \`${builtins[builtin].signature}\``;
  return error('argument-mistyped', argument.span, message, {
    help: isString && addressed.has(builtin) ? `${help}: declare the field as \`${kind}\`` : help,
  });
}

const addressed: ReadonlySet<Builtin> = new Set(['host', 'scheme', 'port', 'domain', 'ip']);

export function todayCalled(node: CallNode): Diagnostic {
  return error('today-called', node.span, '`today` is not a function', { help: 'write `today in "Zone"`' });
}

export function zoneNotConstant(span: Span): Diagnostic {
  return error('zone-not-constant', span, 'the time zone must be a constant', {
    help: 'write its IANA name, such as `"Europe/Berlin"`',
  });
}

// Quantifiers

export function quantifierTooDeep(node: Quantifier): Diagnostic {
  return error('quantifier-too-deep', node.span, 'quantifiers nest at most two deep', {
    help: 'three loops in one another take too long on long lists',
  });
}

export function variableTaken(name: NameNode, declared: NameNode | undefined): Diagnostic {
  return error('variable-taken', name.span, `\`${name.text}\` already means something else`, {
    help: `parameters, variables and declarations share one namespace: take another name, such as \`one_${name.text}\``,
    ...(declared === undefined ? {} : earlier(declared.span, 'declared here')),
  });
}

export function sourceDeclaredList(name: NameNode): Diagnostic {
  return error(
    'source-unfit',
    name.span,
    `declared lists are for \`in\`; \`${name.text}\` is not gone through`,
    {
      help: `test a value or each element, \`some x in payload.xs (x in ${name.text})\`, test a text, \`payload.text contains any of ${name.text}\`, or write the list out, \`some x in ["...", "..."] (...)\``,
    },
  );
}

export function sourceUnfit(expression: Expression): Diagnostic {
  const message = `a quantifier goes through lists, this is \`${typeText(expression.type)}\``;
  return error('source-unfit', expression.span, message, {
    help: 'name a list of the payload, a list literal, `agent.tags`, `links(...)` or `commands(...)`',
  });
}

export function sourcesDiffer(source: Expression, element: Slot): Diagnostic {
  const message = `the elements of \`${typeText(source.type)}\` are not of the type \`${typeText(element.type)}\``;
  return error('sources-differ', source.span, message, {
    help: 'go through lists of one element type, or write one quantifier for each',
  });
}

export function notSummable(body: Expression): Diagnostic {
  return error('not-summable', body.span, `\`${typeText(body.type)}\` cannot be added up`, {
    help: 'sum numbers, money or durations; `count` counts elements for which a condition is true',
  });
}

// Risk

export function riskMisplaced(span: Span): Diagnostic {
  return error('risk-misplaced', span, '`risk` is compared with a constant and read nowhere else', {
    help: 'write such as `risk >= 60`; a reason may show `{risk}`',
  });
}

export function riskComparisonUnfit(node: BinaryExpression): Diagnostic {
  return error('risk-misplaced', node.span, '`risk` is compared with a constant, by `<`, `<=`, `>` or `>=`', {
    help: 'write such as `risk >= 60`',
  });
}

export function riskReadAndRaised(name: NameNode, span: Span): Diagnostic {
  const message = `rule \`${name.text}\` reads \`risk\` and contributes to it`;
  return error('risk-read-and-raised', name.span, message, {
    help: 'split it: one rule that contributes, one that reads',
    ...earlier(span, 'it is read here'),
  });
}

export function riskAgainstGrain(
  comparison: Extract<Expression, { kind: 'compare' }>,
  effect: 'allow' | 'deny' | 'escalate' | 'reauth',
  name: NameNode,
): Diagnostic {
  const isAllow = effect === 'allow';
  const message = `\`${effect}\` rule \`${name.text}\` may come true as risk ${isAllow ? 'rises' : 'falls'}`;
  return error('risk-against-grain', comparison.span, message, {
    help: isAllow
      ? 'an `allow` reads risk only as `risk < c` or `risk <= c`'
      : 'a guard reads risk only as `risk >= c` or `risk > c`, else new points could silence it',
    ...earlier(name.span, 'the rule that reads it'),
  });
}

// Reasons

export function notPrintable(expression: Expression): Diagnostic {
  return error('not-printable', expression.span, `a reason cannot show \`${typeText(expression.type)}\``, {
    help: 'show a single value: a text, a number, money, a date or time',
  });
}
