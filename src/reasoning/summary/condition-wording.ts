// Puts a written condition into English for people who do not read policies. INVARIANT: every operator keeps
// its meaning. An operator without words of its own stays as written, between backticks, and is never
// replaced by a similar one.

import { oppositeComparison } from '../../language/model/expression.ts';
import { writtenEntries } from '../../language/syntax/tree/lists.ts';
import type {
  BinaryExpression,
  BinaryOperator,
  CallNode,
  ExpressionNode,
  LookUp,
  Path,
  Quantifier,
} from '../../language/syntax/tree/tree.ts';

export interface WordingContext {
  /** The node's source text on one line. */
  readonly textOf: (node: ExpressionNode) => string;
  /** The expression of a `let`; null when the name is no `let`. */
  readonly letOf: (name: string) => ExpressionNode | null;
  /** Called for each declared name that the words mention. */
  readonly mention: (name: string) => void;
  /** Variables of the surrounding quantifiers. */
  readonly variables: ReadonlySet<string>;
}

/** A clause such as "the amount is at most 10,000 USD"; with `isNot`, its opposite. */
export function describeCondition(node: ExpressionNode, wording: WordingContext, isNot = false): string {
  switch (node.kind) {
    case 'unary':
      return node.operator === 'not'
        ? describeCondition(node.operand, wording, !isNot)
        : asWritten(node, wording, isNot);
    case 'binary':
      return describeBinary(node, wording, isNot);
    case 'has': {
      if (node.subject.kind === 'look-up') return asWritten(node, wording, isNot);
      const names = [...node.subject.steps, ...node.field].map(({ text }) => plain(text));
      return `“${names.join('.')}” is ${isNot ? 'not ' : ''}given`;
    }
    case 'single-script':
      return `the letters of ${describeTerm(node.subject, wording)} are ${isNot ? 'not ' : ''}of one script`;
    case 'quantifier':
      return describeQuantifier(node, wording, isNot);
    case 'path':
      return pathCondition(node, wording, isNot);
    case 'look-up':
      return `${describeLookUp(node, wording)} is ${isNot ? 'not ' : ''}true`;
    case 'boolean':
      return node.value === isNot ? 'never' : 'always';
    case 'call':
      if (wording.letOf(node.callee.text) !== null) wording.mention(node.callee.text);
      return asWritten(node, wording, isNot);
    default:
      return asWritten(node, wording, isNot);
  }
}

function asWritten(node: ExpressionNode, { textOf }: WordingContext, isNot: boolean): string {
  return `\`${textOf(node)}\` ${isNot ? 'does not hold' : 'holds'}`;
}

function pathCondition(node: Path, wording: WordingContext, isNot: boolean): string {
  const { root, steps } = node;
  if (steps.length === 0 && wording.letOf(root.text) !== null) {
    wording.mention(root.text);
    return `${spacedName(root.text)} ${isNot ? 'does not hold' : 'holds'}`;
  }
  return `${describeTerm(node, wording)} is ${isNot ? 'not ' : ''}true`;
}

const opposites: Partial<Record<BinaryOperator, BinaryOperator>> = {
  ...oppositeComparison,
  in: 'not in',
  'not in': 'in',
};

/** The words that follow "is" or "are". */
const comparisons: Partial<Record<BinaryOperator, string>> = {
  '==': '',
  '!=': 'not ',
  '<': 'less than ',
  '<=': 'at most ',
  '>': 'more than ',
  '>=': 'at least ',
};

/** The words for each test: for the test, and for its opposite. */
const textTests: Partial<Record<BinaryOperator, readonly [string, string]>> = {
  like: ['has the form', 'does not have the form'],
  matches: ['has the form', 'does not have the form'],
  'starts with': ['begins with', 'does not begin with'],
  'ends with': ['ends with', 'does not end with'],
  contains: ['contains', 'does not contain'],
  inside: ['lies in', 'does not lie in'],
  within: ['is in or below', 'is neither in nor below'],
  'mentions any of': ['has a word of', 'has no word of'],
  'like any of': ['has a form of', 'has no form of'],
  'matches any of': ['has a form of', 'has no form of'],
  'starts with any of': ['begins with one of', 'begins with none of'],
  'ends with any of': ['ends with one of', 'ends with none of'],
  'contains any of': ['contains one of', 'contains none of'],
  'inside any of': ['lies in one of', 'lies in none of'],
};

function describeBinary(node: BinaryExpression, wording: WordingContext, isNot: boolean): string {
  const { left, right } = node;
  if (node.operator === 'and' || node.operator === 'or') {
    const isAnd = (node.operator === 'and') !== isNot;
    const parts = chain(node, node.operator).map((part) => {
      const words = describeCondition(part, wording, isNot);
      return isJoined(part, isAnd, isNot) ? `(${words})` : words;
    });
    return parts.join(isAnd ? ' and ' : ' or ');
  }
  const operator = isNot ? (opposites[node.operator] ?? node.operator) : node.operator;
  if (operator === 'in' || operator === 'not in') return membership(node, operator === 'in', wording);
  const [subject, object] = [describeTerm(left, wording), describeTerm(right, wording)];
  const compared = comparisons[operator];
  if (compared !== undefined) return `${subject} ${be(subject)} ${compared}${object}`;
  const test = textTests[operator];
  return test === undefined ? asWritten(node, wording, isNot) : `${subject} ${test[isNot ? 1 : 0]} ${object}`;
}

function chain(node: ExpressionNode, operator: 'and' | 'or'): readonly ExpressionNode[] {
  if (node.kind !== 'binary' || node.operator !== operator) return [node];
  return [...chain(node.left, operator), ...chain(node.right, operator)];
}

/**
 * Whether the part needs brackets: it is joined by the other word than its neighbours, or only a bracket
 * shows where it ends.
 */
function isJoined(part: ExpressionNode, isAnd: boolean, isNot: boolean): boolean {
  if (part.kind === 'quantifier') return part.quantifier !== 'count' && part.quantifier !== 'sum';
  if (part.kind === 'unary' && part.operator === 'not') return isJoined(part.operand, isAnd, !isNot);
  if (part.kind !== 'binary' || (part.operator !== 'and' && part.operator !== 'or')) return false;
  return ((part.operator === 'and') !== isNot) !== isAnd;
}

function membership({ left, right }: BinaryExpression, isIn: boolean, wording: WordingContext): string {
  const [subject, not] = [describeTerm(left, wording), isIn ? '' : 'not '];
  if (right.kind === 'range') {
    const [low, high] = [describeTerm(right.low, wording), describeTerm(right.high, wording)];
    return `${subject} ${be(subject)} ${not}between ${low} and ${high}`;
  }
  const whole = describeTerm(right, wording);
  if (left.kind === 'path' && left.root.text === 'now' && left.steps.length === 0)
    return `it is ${isIn ? 'within' : 'outside of'} ${whole}`;
  if (right.kind === 'text') return `${subject} ${be(subject)} ${not}in ${whole}`;
  if (right.kind === 'path' && (right.root.text === 'agent' || right.root.text === 'request'))
    return `${whole} ${isIn ? 'have' : 'do not have'} ${subject}`;
  return `${subject} ${be(subject)} ${not}one of ${whole}`;
}

function be(subject: string): 'is' | 'are' {
  const noun = subject.replace(/ (of|in|for) .*/, '');
  return /[^si]s$/.test(noun) && !singularInUs.test(noun) ? 'are' : 'is';
}

/** Nouns that end in `us` and are no plurals, unlike `cpus` and `menus`. */
const singularInUs =
  /(?:stat|bon|camp|vir|foc|corp|cens|radi|surpl|nex|apparat|consens|loc|pl|min|\bb|\bop)us$/;

function describeQuantifier(node: Quantifier, wording: WordingContext, isNot: boolean): string {
  const { quantifier, variable, sources, body } = node;
  if (quantifier === 'count' || quantifier === 'sum') return asWritten(node, wording, isNot);
  const inner = { ...wording, variables: new Set([...wording.variables, variable.text]) };
  const among = enumerated(
    sources.map((source) => describeTerm(source, wording)),
    'and',
  );
  // The opposite of "for each" is "for at least one, not".
  if (quantifier === 'every')
    return `for ${isNot ? 'at least one' : 'each'} of ${among}, ${describeCondition(body, inner, isNot)}`;
  const isNone = (quantifier === 'no') !== isNot;
  return `for ${isNone ? 'none' : 'at least one'} of ${among}, ${describeCondition(body, inner)}`;
}

/** Words for an operand, such as "the amount" or "10,000 USD". */
export function describeTerm(node: ExpressionNode, wording: WordingContext): string {
  switch (node.kind) {
    case 'text':
      return node.isRaw ? `\`${node.value}\`` : JSON.stringify(node.value);
    case 'number':
      return grouped(node.text);
    case 'money':
      return `${grouped(node.amount)} ${node.currency}`;
    case 'duration':
    case 'date':
    case 'instant':
    case 'clock':
      return node.text;
    case 'list-literal':
    case 'text-list':
      return enumerated(
        writtenEntries(node).map((entry) => describeTerm(entry, wording)),
        'or',
      );
    case 'path':
      return pathNoun(node, wording);
    case 'call':
      return describeCall(node, wording);
    case 'look-up':
      return describeLookUp(node, wording);
    case 'else': {
      const [subject, fallback] = [describeTerm(node.subject, wording), describeTerm(node.fallback, wording)];
      return `${subject} (${fallback === '""' ? 'empty' : fallback} if there is none)`;
    }
    default:
      return `\`${wording.textOf(node)}\``;
  }
}

/** `limits[payload.currency]` becomes "‘limits’ for the currency". */
function describeLookUp({ table, key, column }: LookUp, wording: WordingContext): string {
  wording.mention(table.text);
  const row = `${spacedName(table.text)} for ${describeTerm(key, wording)}`;
  return column === null ? row : `the ${plain(column.text)} of ${row}`;
}

function pathNoun({ root, steps }: Path, wording: WordingContext): string {
  const names = steps.map(({ text }) => text);
  if (wording.variables.has(root.text)) return names.length === 0 ? 'it' : `its ${plain(names.join(' '))}`;
  if (root.text === 'payload') return describeField(names);
  if (root.text === 'result') return describeField(['result', ...names]);
  if (root.text === 'agent') return `the agent's ${plain(names.join(' '))}`;
  if (root.text === 'request') return `the request's ${plain(names.join(' '))}`;
  if (root.text === 'action') return 'the action';
  if (root.text === 'now') return 'the present time';
  if (root.text === 'risk') return 'the risk';
  const written = wording.letOf(root.text);
  if (written !== null && names.length === 0 && isConstant(written)) return describeTerm(written, wording);
  wording.mention(root.text);
  const whole = spacedName(root.text);
  return names.length === 0 ? whole : `the ${plain(names.join(' '))} of ${whole}`;
}

function isConstant({ kind }: ExpressionNode): boolean {
  return kind === 'text' || kind === 'number' || kind === 'money' || kind === 'duration' || kind === 'date';
}

const calls: Readonly<Record<string, string>> = {
  host: 'host of',
  domain: 'domain of',
  scheme: 'scheme of',
  port: 'port of',
  length: 'length of',
  links: 'links in',
  commands: 'commands in',
  ip: 'IP address of',
  first: 'first of',
};

const spellings: Readonly<Record<string, string>> = {
  fold: 'without regard to case',
  lower: 'in lower case',
  trim: 'without blanks at its ends',
};

function describeCall(node: CallNode, wording: WordingContext): string {
  const [argument] = node.args;
  if (argument === undefined || node.args.length > 1) return `\`${wording.textOf(node)}\``;
  const noun = describeTerm(argument, wording);
  const spelling = spellings[node.callee.text];
  if (spelling !== undefined) return `${noun}, ${spelling},`;
  const words = calls[node.callee.text];
  if (words === undefined) return `\`${wording.textOf(node)}\``;
  return noun === 'it' ? `its ${words.replace(/ \w+$/, '')}` : `the ${words} ${noun}`;
}

/** `plan.deletes` becomes "the deletes of the plan". */
function describeField(steps: readonly string[]): string {
  return steps
    .toReversed()
    .map((step) => (isHardlyNoun(step) ? `“${step}”` : `the ${plain(step)}`))
    .join(' of ');
}

/** Whether a name is hardly a noun, such as "to" and "paid", and would read badly after an article. */
function isHardlyNoun(step: string): boolean {
  return step.length < 4 || /(ed|ble|paid)$/.test(step);
}

/** A declared name in quotation marks, to stand among other words. */
export function spacedName(name: string): string {
  return `‘${plain(name)}’`;
}

function plain(name: string): string {
  return name.replaceAll('_', ' ');
}

function grouped(written: string): string {
  const [whole = '', fraction] = written.replaceAll('_', '').split('.');
  const groupedDigits = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? groupedDigits : `${groupedDigits}.${fraction}`;
}

export function enumerated(words: readonly string[], last: 'and' | 'or'): string {
  if (words.length < 2) return words[0] ?? 'nothing';
  return `${words.slice(0, -1).join(', ')} ${last} ${words.at(-1)}`;
}
