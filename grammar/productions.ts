// The rules of the grammar as data, in reading order, and how their tokens are spelled. The EBNF page and the
// diagrams are both made from this.

import type { ISerializedGast } from 'chevrotain';
import { contextualWords, reservedWords, symbol } from '../src/language/syntax/parse/tokens.ts';

/** A rule or a part of a rule, as Chevrotain serializes it. */
export interface Production {
  readonly type: ISerializedGast['type'];
  readonly name?: string;
  readonly definition?: readonly Production[];
  readonly separator?: Production;
}

export function fromTheTop(rules: readonly Production[]): readonly Production[] {
  const byName = new Map(rules.map((rule) => [rule.name, rule]));
  const met = new Set<Production>();
  const meet = (name: string | undefined): void => {
    const rule = byName.get(name);
    if (rule === undefined || met.has(rule)) return;
    met.add(rule);
    for (const inner of namesIn(rule)) meet(inner);
  };
  meet('file');
  return [...met];
}

function namesIn(production: Production): readonly (string | undefined)[] {
  const own = production.type === 'NonTerminal' ? [production.name] : [];
  return [...own, ...(production.definition ?? []).flatMap(namesIn)];
}

const spelling: ReadonlyMap<string, string> = new Map([
  ...[...reservedWords, ...contextualWords].map((text) => [tokenName(text), text] as const),
  ...Object.values(symbol).map((type) => [type.name, String(type.PATTERN)] as const),
]);

function tokenName(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** How a grammar is written down: what each way of putting parts together looks like. */
export interface Notation<Shown> {
  sequence(parts: readonly Shown[]): Shown;
  choice(alternatives: readonly Shown[]): Shown;
  optional(part: Shown): Shown;
  oneOrMore(part: Shown, separator?: Shown): Shown;
  anyNumber(part: Shown, separator?: Shown): Shown;
  /** A token that stands for one text only. */
  text(text: string): Shown;
  /** A token that stands for many texts. */
  token(name: string): Shown;
  rule(name: string): Shown;
}

/** A rule or a part of a rule in the given notation. */
export function notate<Shown>(production: Production, notation: Notation<Shown>): Shown {
  const parts = (production.definition ?? []).map((part) => notate(part, notation));
  const { separator } = production;
  const between = separator && notate(separator, notation);
  switch (production.type) {
    case 'Terminal': {
      const text = spelling.get(production.name ?? '');
      return text === undefined ? notation.token(production.name ?? '') : notation.text(text);
    }
    case 'NonTerminal':
      return notation.rule(production.name ?? '');
    case 'Option':
      return notation.optional(notation.sequence(parts));
    case 'Repetition':
    case 'RepetitionWithSeparator':
      return notation.anyNumber(notation.sequence(parts), between);
    case 'RepetitionMandatory':
    case 'RepetitionMandatoryWithSeparator':
      return notation.oneOrMore(notation.sequence(parts), between);
    case 'Alternation':
      return notation.choice(parts);
    case 'Alternative':
    case 'Rule':
      return notation.sequence(parts);
  }
}

const ebnf: Notation<string> = {
  sequence: (parts) => parts.join(' '),
  choice: (alternatives) => `( ${alternatives.join(' | ')} )`,
  optional: (part) => `[ ${part} ]`,
  oneOrMore: (part, separator) => `${part} { ${separator === undefined ? '' : `${separator} `}${part} }`,
  anyNumber: (part, separator) =>
    separator === undefined ? `{ ${part} }` : `[ ${ebnf.oneOrMore(part, separator)} ]`,
  text: (text) => `'${text}'`,
  token: (name) => name,
  rule: (name) => name,
};

/** The alternatives of a rule, each in EBNF. */
export function alternativesOf(rule: Production): readonly string[] {
  const [only, ...more] = rule.definition ?? [];
  const isChoice = only?.type === 'Alternation' && more.length === 0;
  return (isChoice ? (only.definition ?? []) : [rule]).map((one) => notate(one, ebnf));
}
