// Diagnostics about paths, one function each: names, fields, facts, secrets and presence.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { type Span, spanning } from '../../diagnostic/span.ts';
import { didYouMean } from '../../diagnostic/suggest.ts';
import type { FieldReference } from '../../model/currency.ts';
import { pathText, stepText } from '../../model/describe.ts';
import type { FieldRead } from '../../model/expression.ts';
import type { Type } from '../../model/type.ts';
import { nowInHours } from '../../syntax/repair/forms.ts';
import type {
  BinaryExpression,
  Declaration,
  FallbackExpression,
  NameNode,
  Path,
} from '../../syntax/tree/tree.ts';
import { article } from './errors.ts';
import { foreignMember, foreignRoot } from './foreign-names.ts';
import { error, warning } from './problem.ts';
import { typeText } from './type-text.ts';

interface FieldPath {
  readonly root: NameNode;
  readonly steps: readonly NameNode[];
}

// Paths

export function unknownPath(
  path: Path,
  candidates: readonly string[],
  fields: ReadonlySet<string>,
): Diagnostic {
  const { root } = path;
  const message = `\`${root.text}\` is not declared`;
  if (!fields.has(root.text)) {
    return error('unknown-name', root.span, message, {
      help: 'expressions read `payload`, `agent`, `action`, `request`, `now`, `risk` and declared names',
      ...didYouMean(root, candidates),
      ...foreignRoot(root, path.steps, fields),
    });
  }
  const better = `payload.${root.text}`;
  return error('unknown-name', root.span, message, {
    help: `did you mean \`${better}\``,
    fix: { title: `write \`${better}\``, edits: [{ span: root.span, text: better }] },
  });
}

export function unknownField(path: FieldPath, index: number, candidates: ReadonlySet<string>): Diagnostic {
  const step = path.steps[index]!;
  const message = `no matched action declares \`${pathUpTo(path, index)}\``;
  return error('unknown-field', step.span, message, {
    help: candidates.size === 0 ? 'it has no fields' : `declared are ${listed([...candidates].sort())}`,
    ...didYouMean(step, candidates, stepText),
  });
}

export function fieldMistyped(path: FieldPath, index: number, type: Type): Diagnostic {
  const step = path.steps[index]!;
  const message = `\`${pathUpTo(path, index - 1)}\` is \`${typeText(type)}\` and has no field \`${step.text}\``;
  const part = type.kind === 'text' ? partOf(type, step.text) : null;
  const member = part ?? (type.kind === 'list' || type.kind === 'text' ? foreignMember(step.text) : null);
  if (member !== null && index === path.steps.length - 1 && (member === 'length' || type.kind === 'text')) {
    const text = `${member}(${pathUpTo(path, index - 1)})`;
    const fix = { title: `write \`${text}\``, edits: [{ span: spanning(path.root.span, step.span), text }] };
    return error('not-a-record', step.span, message, { help: `write \`${text}\``, fix });
  }
  return error('not-a-record', step.span, message, {
    help: valueHelp(pathUpTo(path, index - 1), type, step.text),
  });
}

/** Returns the function that reads the part of an address with this name; null when there is none. */
function partOf({ of }: Extract<Type, { kind: 'text' }>, name: string): string | null {
  if (of === 'email') return name === 'domain' || name === 'host' ? 'domain' : null;
  if (of !== 'url' && of !== 'web_address') return null;
  const parts = {
    host: 'host',
    hostname: 'host',
    domain: 'host',
    scheme: 'scheme',
    protocol: 'scheme',
    port: 'port',
  };
  return parts[name as keyof typeof parts] ?? null;
}

/** Returns how to read what an author tried to read as a field of a value. */
function valueHelp(path: string, type: Type, field: string): string {
  switch (type.kind) {
    case 'list':
      return `go through it: \`some x in ${path} (x.${field} ...)\``;
    case 'money':
      return type.currencyField === null
        ? `compare the amount itself: \`${path} > 100 USD\``
        : `compare the amount itself: \`${path} > 100 USD\`; its currency is the field \`${[...(type.currencyRecord ?? []), type.currencyField].join('.')}\``;
    case 'date':
      return `compare the date itself, such as \`${path} < 2026-12-25\``;
    case 'timestamp':
      return `declare \`hours office = mon-fri 09:00-17:00 in "Zone"\` and write \`${path} in office\`, or take its \`date(${path}, "Zone")\``;
    default:
      return `it is one value: compare \`${path}\` itself`;
  }
}

export function fieldTypesDiffer(path: FieldPath, type: Type, other: Type): Diagnostic {
  const span = path.steps.at(-1)?.span ?? path.root.span;
  const message = `\`${pathUpTo(path)}\` is \`${typeText(type)}\` in one matched action and \`${typeText(other)}\` in another`;
  return error('field-types-differ', span, message, {
    help: 'split the policy, so that the field has one type in each, or give the fields one type',
  });
}

export function payloadWhole({ span, root }: Path): Diagnostic {
  return error('payload-whole', span, `\`${root.text}\` as a whole is not a value`, {
    help: 'name a field of it',
  });
}

export function factMissing(span: Span, names: readonly string[]): Diagnostic {
  return error('fact-missing', span, 'this is a group of facts, not a value', {
    help: `read ${listed(names)}`,
  });
}

export function unknownFact(root: string, step: NameNode, names: readonly string[]): Diagnostic {
  const attributes = names.map((name) => name.slice(root.length + 1));
  return error('unknown-fact', step.span, `\`${root}\` has no attribute \`${step.text}\``, {
    help: `there are ${listed(names)}`,
    ...didYouMean(step, attributes),
  });
}

/** The first `known` steps are valid; those after them are not. */
export function stepsMisplaced(path: Path, stepCount: number): Diagnostic {
  const first = path.steps[stepCount];
  const last = path.steps.at(-1);
  const span = first === undefined || last === undefined ? path.span : spanning(first.span, last.span);
  const message = `\`${pathUpTo(path, stepCount - 1)}\` has no fields`;
  const isNow = path.root.text === 'now' && stepCount === 0;
  return error('steps-misplaced', span, message, {
    help: isNow ? nowInHours : 'it is one value: remove what follows it',
  });
}

export function notAValue(name: NameNode, kind: Declaration['kind']): Diagnostic {
  const message = `\`${name.text}\` is ${article(kind)}, not a value`;
  const uses: Partial<Record<Declaration['kind'], string>> = {
    list: `test membership: \`x in ${name.text}\``,
    table: `find a row: \`${name.text}[payload.id]\`, or ask for it: \`payload.id in ${name.text}\``,
    hours: `test a time: \`now in ${name.text}\``,
    group: 'name it after `on`',
    approvers: 'name it after `to` or `by`',
  };
  const help = uses[kind];
  return error('not-a-value', name.span, message, help === undefined ? {} : { help });
}

export function secretRead(field: FieldRead): Diagnostic {
  return error('secret-read', field.span, `\`${spelledPath(field)}\` is secret: only \`has\` may test it`, {
    help: 'a condition on its value would show it in decisions',
  });
}

export function secretElements(span: Span): Diagnostic {
  return error('secret-read', span, 'the elements are secret and may not be compared');
}

export function anyRead(field: FieldRead): Diagnostic {
  return error('any-read', field.span, `\`${spelledPath(field)}\` is \`any\`: only \`has\` may test it`, {
    help: 'declare its type to read its value',
  });
}

// Presence

/** `having` are the actions that declare the field; null when all of the matched ones do. */
export function fieldMayBeAbsent(
  field: FieldRead,
  steps: readonly NameNode[],
  having: readonly string[] | null,
): Diagnostic {
  const text = pathText(
    field.root,
    steps.map((step) => step.text),
  );
  const whole = field.steps.map(stepText).join('.');
  return error('field-may-be-absent', steps.at(-1)?.span ?? field.span, `\`${text}\` may be absent here`, {
    help:
      having === null
        ? `ask first: \`${field.root} has ${whole} and ...\`, or give a value: \`(${spelledPath(field)} else ...)\``
        : `only ${listed(having)} ${having.length === 1 ? 'has' : 'have'} it: write the rule in a policy on \`${having.join(', ')}\`, or ask first: \`${field.root} has ${whole} and ...\``,
  });
}

export function fieldMayBeNull(field: FieldRead, steps: readonly NameNode[]): Diagnostic {
  const text = pathText(
    field.root,
    steps.map((step) => step.text),
  );
  return error('field-may-be-null', steps.at(-1)?.span ?? field.span, `\`${text}\` may be null here`, {
    help: `ask first: \`${text} != null and ...\`, or give a value: \`(${spelledPath(field)} else ...)\``,
  });
}

export function hasSubjectUnfit(subject: Path): Diagnostic {
  const message = '`has` asks for fields of the payload and of elements, and for cells of tables';
  return error('has-subject-unfit', subject.root.span, message, {
    help: 'a row of a table is asked for by `payload.id in orders`; what the registry knows is never absent but unknown',
  });
}

export function hasAlways(span: Span, field: FieldRead): Diagnostic {
  return warning('has-always', span, `\`${spelledPath(field)}\` is always there`, {
    help: 'the gate refuses a payload without it: remove the test',
  });
}

export function elseSubjectUnfit(span: Span): Diagnostic {
  return error(
    'else-subject-unfit',
    span,
    '`else` replaces absent fields of the payload and of elements, and absent cells of tables',
    {
      help: 'nothing else can be absent; what is unknown stays unknown',
    },
  );
}

export function elseNeedless(node: FallbackExpression, field: FieldRead): Diagnostic {
  const span = { ...node.span, start: node.subject.span.end };
  return error('else-needless', span, `\`${spelledPath(field)}\` is always there: \`else\` never counts`, {
    help: 'remove it',
  });
}

export function elseMismatch(span: Span, type: Type, subject: Type): Diagnostic {
  const message = `the value after \`else\` is \`${typeText(type)}\`, the field \`${typeText(subject)}\``;
  return error('else-mismatch', span, message, { help: 'give a value of the same type' });
}

export function nullSubjectUnfit(span: Span): Diagnostic {
  return error('null-subject-unfit', span, 'this is never `null`', {
    help: 'remove the comparison: only payload fields of a type `T | null` can be null; what the registry does not know is unknown',
  });
}

export function nullNever(node: BinaryExpression, field: FieldRead, mayBeAbsent: boolean): Diagnostic {
  const text = spelledPath(field);
  const message = `\`${text}\` is never null`;
  if (!mayBeAbsent)
    return error('null-never', node.span, message, { help: 'it is always there: remove the test' });
  const has = `${field.root} has ${field.steps.map(stepText).join('.')}`;
  const better = node.operator === '==' ? `not (${has})` : has;
  return error('null-never', node.span, message, {
    help: `absent and null are two states: write \`${better}\``,
    fix: { title: `write \`${better}\``, edits: [{ span: node.span, text: better }] },
  });
}

export function nullOrdered(node: BinaryExpression): Diagnostic {
  return error('null-ordered', node.span, '`null` has no order', { help: 'write `== null` or `!= null`' });
}

// Words

/** Returns the path as a text, up to and including a step. */
function pathUpTo(path: FieldPath, last: number = path.steps.length - 1): string {
  return pathText(
    path.root.text,
    path.steps.slice(0, last + 1).map((step) => step.text),
  );
}

/** Returns the path of a read as a policy writes it. */
export function spelledPath({ root, steps }: FieldReference): string {
  return pathText(root, steps);
}

/** Lists names in backticks, up to 8 of them. */
export function listed(names: readonly string[]): string {
  const quotedNames = names.slice(0, 8).map((name) => `\`${name}\``);
  return quotedNames.join(', ') + (names.length > quotedNames.length ? ' and others' : '');
}
