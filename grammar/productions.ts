// The rules of the grammar as data, in reading order, and how their tokens are spelled: what the EBNF page and the
// diagrams are both made from.

import type { ISerializedGast } from 'chevrotain';
import { contextualWords, reservedWords, sign } from '../src/language/syntax/parse/tokens.ts';

/** One rule or a part of one, as chevrotain serializes it. */
export interface Production {
  readonly type: ISerializedGast['type'];
  readonly name?: string;
  readonly label?: string;
  readonly terminalLabel?: string;
  readonly nonTerminalName?: string;
  readonly definition?: readonly Production[];
  readonly separator?: Production;
  readonly idx?: number;
}

/** The rules in the order in which a reader meets them, from the whole file down. */
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

/** The name of the rule that a part of another one refers to. */
export function referredRule(production: Production): string {
  return production.nonTerminalName ?? production.name ?? '';
}

const spelling: ReadonlyMap<string, string> = new Map([
  ...[...reservedWords, ...contextualWords].map((text) => [tokenName(text), text] as const),
  ...Object.values(sign).map((type) => [type.name, String(type.PATTERN)] as const),
]);

function tokenName(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What a token says where it says but one thing, else null. */
export function spelledToken({ name = '' }: Production): string | null {
  return spelling.get(name) ?? null;
}

// ---- EBNF

/** What a rule may consist of, each alternative in EBNF. */
export function alternativesOf(rule: Production): readonly string[] {
  const [only, ...more] = rule.definition ?? [];
  if (only?.type === 'Alternation' && more.length === 0) {
    return (only.definition ?? []).map((alternative) => sequence(alternative));
  }
  return [sequence(rule)];
}

function sequence(production: Production): string {
  return (production.definition ?? []).map(term).join(' ');
}

function term(production: Production): string {
  switch (production.type) {
    case 'Terminal':
      return terminal(production);
    case 'NonTerminal':
      return referredRule(production);
    case 'Option':
      return `[ ${sequence(production)} ]`;
    case 'Repetition':
      return `{ ${sequence(production)} }`;
    case 'RepetitionMandatory':
      return `${sequence(production)} { ${sequence(production)} }`;
    case 'RepetitionMandatoryWithSeparator':
      return `${sequence(production)} { ${separator(production)} ${sequence(production)} }`;
    case 'RepetitionWithSeparator':
      return `[ ${sequence(production)} { ${separator(production)} ${sequence(production)} } ]`;
    case 'Alternation':
      return `( ${(production.definition ?? []).map(sequence).join(' | ')} )`;
    case 'Alternative':
    case 'Rule':
      return sequence(production);
  }
}

function separator(production: Production): string {
  return production.separator === undefined ? '' : terminal(production.separator);
}

function terminal(production: Production): string {
  const text = spelledToken(production);
  return text === null ? (production.name ?? '') : `'${text}'`;
}
