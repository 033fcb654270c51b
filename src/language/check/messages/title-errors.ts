// Diagnostics about the title of an action, one function each.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import { type Span, spanning } from '../../diagnostic/span.ts';
import { didYouMean } from '../../diagnostic/suggest.ts';
import type { Type } from '../../model/type.ts';
import type { ExpressionNode, NameNode } from '../../syntax/tree/tree.ts';
import { error } from './problem.ts';
import { typeText } from './type-text.ts';

const code = 'title-field-unfit';

export function titleUnfit(span: Span, problem: string): Diagnostic {
  return error('title-unfit', span, `the title ${problem}`, {
    help: 'say in a few words what a request is about, such as `"Pay {amount} to {vendor}"`',
  });
}

export function titleHoldsNoField(value: ExpressionNode): Diagnostic {
  const message = 'a placeholder in a title is the name of a payload field, not an expression';
  if (value.kind !== 'else' || value.subject.kind !== 'path') {
    return error(code, value.span, message, {
      help: 'write only the name of a field between the braces, such as `{amount}`; for a brace, write `{{`',
    });
  }
  const { root, steps } = value.subject;
  const names = root.text === 'payload' && steps.length > 0 ? steps : [root, ...steps];
  const text = names.map((name) => name.text).join('.');
  return error(code, value.span, message, {
    help: `write \`{${text}}\`: if the field is absent, the title shows \`(no ${names.at(-1)!.text})\``,
    fix: { title: `write \`${text}\``, edits: [{ span: value.span, text }] },
  });
}

export function titleNamesPayload(span: Span, steps: readonly NameNode[]): Diagnostic {
  const name = steps.map(({ text }) => text).join('.');
  const field = { ...span, ...spanning(steps[0]!.span, steps.at(-1)!.span) };
  return error(code, span, `a title names fields without \`payload\`: \`{${name}}\``, {
    help: `leave out \`payload.\``,
    fix: { title: `write \`${name}\``, edits: [{ span: { ...span, end: field.end }, text: name }] },
  });
}

export function titleFieldUnknown(name: NameNode, candidates: readonly string[]): Diagnostic {
  const help =
    candidates.length === 0
      ? 'the payload has no declared field'
      : `its fields: ${candidates.map((one) => `\`${one}\``).join(', ')}`;
  return error(code, name.span, `the payload has no field \`${name.text}\``, {
    help,
    ...didYouMean(name, candidates),
  });
}

export function titleFieldSecret(name: NameNode): Diagnostic {
  return error(
    code,
    name.span,
    `\`${name.text}\` is secret, and a title is shown to everyone who sees the request`,
    {
      help: 'leave it out of the title',
    },
  );
}

export function titleNotPrintable(name: NameNode, type: Type, isLast: boolean): Diagnostic {
  const message = isLast
    ? `a title cannot show \`${name.text}\`, which is ${typeText(type)}`
    : `\`${name.text}\` has no fields, as it is ${typeText(type)}`;
  return error(code, name.span, message, {
    help: 'name a single value: a text, a number, money, a date or time',
  });
}
