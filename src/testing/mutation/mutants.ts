// The mutants of a policy file: the file with one typical mistake each. Parts that no test can see are left
// alone: shapes are refused before any rule, tests give the readings of meters, and guarantees decide
// nothing.

import type {
  Declaration,
  ExpressionNode,
  HoursDeclaration,
  PolicyDeclaration,
  PolicyFile,
} from '../../language/syntax/tree/tree.ts';
import type { PolicySources } from '../../pipeline.ts';
import { neighbours } from './constant.ts';
import { entryRemoval, excerpt, type PolicyEdit, removal, replacement } from './edit.ts';
import { conditionChanges, negatedExpression } from './expression.ts';
import { fileChanges, listChanges, tableChanges } from './list.ts';
import { ruleChanges } from './rule.ts';

export interface Mutant extends PolicyEdit {
  /** `policy/rule`, or the name of the changed policy or declaration. */
  readonly subject: string;
  /** The policy whose actions alone may be decided differently; null when others may be, too. */
  readonly policy: string | null;
}

/** `text` is the text of `file`. A mutant may fail to compile, or mean the same as the file. */
export function mutantsOf(
  file: PolicyFile,
  text: string,
  readListFile: PolicySources['readListFile'],
): readonly Mutant[] {
  return file.declarations.flatMap((declaration) => {
    if (declaration.kind === 'policy') return policyMutants(declaration, text);
    return declarationChanges(declaration, text, readListFile).map((change) => ({
      ...change,
      subject: 'name' in declaration ? declaration.name.text : '',
      policy: null,
    }));
  });
}

function declarationChanges(
  declaration: Exclude<Declaration, PolicyDeclaration>,
  text: string,
  readListFile: PolicySources['readListFile'],
): readonly PolicyEdit[] {
  switch (declaration.kind) {
    case 'list':
      return listChanges(declaration, text, readListFile);
    case 'table':
      return tableChanges(declaration, text, readListFile);
    case 'hours':
      return declaration.file === null
        ? hoursChanges(declaration, text)
        : fileChanges(declaration.file, readListFile).concat(exceptDropped(declaration, text));
    case 'let':
      return conditionChanges(declaration.value, text);
    case 'action':
    case 'type':
    case 'group':
    case 'approvers':
    case 'meter':
    case 'guarantee':
      return [];
  }
}

function policyMutants(policy: PolicyDeclaration, text: string): readonly Mutant[] {
  const name = policy.name.text;
  const { when } = policy;
  const edits =
    when === null
      ? []
      : [withoutWhen(when, text), negatedExpression(when, text), ...conditionChanges(when, text)];
  return [
    ...edits.map((change) => ({ ...change, subject: name, policy: name })),
    ...policy.rules.flatMap((rule) =>
      ruleChanges(rule, text).map((change) => ({
        ...change,
        subject: `${name}/${rule.name.text}`,
        policy: name,
      })),
    ),
  ];
}

/** Removes the whole condition with its parentheses, which its span leaves out. */
function withoutWhen({ span }: ExpressionNode, text: string): PolicyEdit {
  const start = text.lastIndexOf('when', span.start);
  const opened = text.slice(start, span.start).split('(').length - 1;
  const closing = new RegExp(`^(?:\\s*\\)){${opened}}`).exec(text.slice(span.end))?.[0] ?? '';
  const whole = { ...span, start, end: span.end + closing.length };
  return { edits: [removal(text, whole)], change: `dropped \`${excerpt(text, whole)}\`` };
}

function hoursChanges({ spans, except }: HoursDeclaration, text: string): readonly PolicyEdit[] {
  const moved = spans.flatMap((span) => {
    if (span.kind === 'yearly-span')
      return [span.first, span.last].map((end) => replacement(text, end.span, dayAfter(end.text)));
    const ends = span.kind === 'weekly-span' ? [span.from, span.to] : [span.first, span.last];
    return ends.flatMap((end) => neighbours(end).map((put) => replacement(text, end.span, put)));
  });
  const dropped = spans.length < 2 ? [] : spans.map((_, index) => drop(text, spans, index));
  return [...moved, ...dropped, ...exceptDropped({ except }, text)];
}

function exceptDropped({ except }: Pick<HoursDeclaration, 'except'>, text: string): readonly PolicyEdit[] {
  return except === null ? [] : [withoutExcept(except.span, text)];
}

/** The next day of a leap year. */
function dayAfter(text: string): string {
  return new Date(Date.parse(`2024-${text}T00:00Z`) + 86_400_000).toISOString().slice(5, 10);
}

function drop(text: string, spans: HoursDeclaration['spans'], index: number): PolicyEdit {
  return {
    edits: [entryRemoval(text, spans, index)],
    change: `dropped \`${excerpt(text, spans[index]!.span)}\``,
  };
}

function withoutExcept(name: HoursDeclaration['span'], text: string): PolicyEdit {
  const start = text.lastIndexOf('except', name.start);
  const span = { ...name, start };
  return { edits: [removal(text, span)], change: `dropped \`${excerpt(text, span)}\`` };
}
