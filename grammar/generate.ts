// The grammar → what is made from it: types of the concrete tree, an EBNF page, railroad diagrams and editor colours.
// `npm run grammar` writes them to generated/, and a test holds the committed files equal to what `generate` returns.

import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { createSyntaxDiagramsCode, generateCstDts, type ISerializedGast } from 'chevrotain';
import { grammarRules } from './parser.ts';
import { contextualWords, literal, reservedWords, sign } from './tokens.ts';

/** File name → text, for every file of generated/. */
export function generate(): Readonly<Record<string, string>> {
  const { rules, serialized: unsorted } = grammarRules();
  const serialized = fromTheTop(unsorted as readonly Production[]) as ISerializedGast[];
  return {
    'cst.ts': treeTypes(generateCstDts(rules, { includeVisitorInterface: false })),
    'grammar.ebnf': ebnf(serialized),
    'railroad.html': railroad(serialized),
    'policy.tmLanguage.json': `${JSON.stringify(textMateGrammar(), null, 2)}\n`,
  };
}

// ---- types of the concrete tree

/** Chevrotain's types promise every child of a sound tree; after recovery any child may be absent. */
function treeTypes(declarations: string): string {
  const body = declarations
    .replace('import type { CstNode, ICstVisitor, IToken }', 'import type { CstNode, IToken }')
    .replaceAll('"', "'")
    .replaceAll(/^ {2}(name|children): /gm, '  readonly $1: ')
    .replaceAll(/^ {2}(\w+)\??: (.+)\[\];$/gm, '  $1?: $2[];');
  return `// Made from grammar/parser.ts by \`npm run grammar\`: the concrete tree, every child of which recovery may leave out.\n\n${body}`;
}

// ---- the rules as data

/** The rules in the order in which a reader meets them, from the whole file down. */
function fromTheTop(rules: readonly Production[]): readonly Production[] {
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

interface Production {
  readonly type: ISerializedGast['type'];
  readonly name?: string;
  readonly label?: string;
  readonly terminalLabel?: string;
  readonly nonTerminalName?: string;
  readonly definition?: readonly Production[];
  readonly separator?: Production;
  readonly idx?: number;
}

// ---- EBNF

function ebnf(rules: readonly ISerializedGast[]): string {
  const lines = (rules as readonly Production[]).map((rule) => {
    const alternatives = topAlternatives(rule);
    return `${rule.name} =\n    ${alternatives.join('\n  | ')} ;\n`;
  });
  return `${[ebnfHeader, ...lines, ebnfTokens()].join('\n')}`;
}

const ebnfHeader = `(* The grammar of policy files, made from grammar/parser.ts by \`npm run grammar\`.
   'text' stands for itself; Words_with_a_capital are tokens, described at the end; everything else is a rule. *)
`;

function topAlternatives(rule: Production): string[] {
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
      return production.nonTerminalName ?? production.name ?? '';
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

const spelling: ReadonlyMap<string, string> = new Map([
  ...[...reservedWords, ...contextualWords].map((text) => [tokenName(text), text] as const),
  ...Object.values(sign).map((type) => [type.name, String(type.PATTERN)] as const),
]);

function tokenName(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function terminal(production: Production): string {
  const name = production.name ?? '';
  const text = spelling.get(name);
  return text === undefined ? name : `'${text}'`;
}

function ebnfTokens(): string {
  const patterns = Object.values(literal).map((type) => `   ${type.name}: ${String(type.PATTERN)}`);
  return `(* Tokens
   Word: [A-Za-z_][A-Za-z0-9_]* but for the reserved words; beside a dot, before ':' or '?:' and after 'has' any word
   Currency: three capitals
   Weekday: mon tue wed thu fri sat sun
   Text: QuotedText or RawText
${patterns.join('\n')}

   Reserved: ${reservedWords.join(' ')} *)
`;
}

// ---- railroad diagrams

/** A page that draws the rules with the scripts of the installed parser library and asks no other machine. */
function railroad(rules: ISerializedGast[]): string {
  const base = '../../node_modules/chevrotain/diagrams/';
  const page = createSyntaxDiagramsCode(rules, { resourceBase: base, css: `${base}diagrams.css` });
  return `${page.trim().replaceAll(/[ \t]+$/gm, '')}\n`;
}

// ---- editor colours

/** TextMate grammar of `.policy` files: https://macromates.com/manual/en/language_grammars */
function textMateGrammar(): object {
  const source = (pattern: unknown) => (pattern instanceof RegExp ? pattern.source : '');
  const word = (words: readonly string[]) => `(?<![.\\w])(?:${words.join('|')})\\b(?!\\s*\\??:)`;
  const effects = ['allow', 'deny', 'escalate', 'reauth', 'risk', 'never', 'always', 'shadow'];
  const declarations = [
    ...['action', 'list', 'hours', 'let', 'meter', 'policy', 'guarantee', 'group', 'type', 'approvers'],
  ];
  const constants = ['true', 'false', 'null'];
  const special = new Set([...effects, ...declarations, ...constants]);
  const keywords = [...reservedWords, ...contextualWords].filter((text) => !special.has(text));
  return {
    name: 'Policy',
    scopeName: 'source.policy',
    fileTypes: ['policy'],
    patterns: [
      { name: 'comment.line.number-sign.policy', match: '#.*$' },
      {
        name: 'string.quoted.double.policy',
        begin: '"',
        end: '"|$',
        patterns: [
          { name: 'constant.character.escape.policy', match: '\\\\(?:["\\\\/bfnrt]|u[0-9A-Fa-f]{4})' },
          { name: 'variable.other.interpolated.policy', match: '\\{\\{|\\{[^"}]*\\}' },
        ],
      },
      { name: 'string.quoted.single.policy', match: source(literal.raw.PATTERN) },
      {
        name: 'constant.numeric.policy',
        match: [literal.instant, literal.date, literal.clock, literal.duration, literal.number]
          .map((type) => source(type.PATTERN))
          .join('|'),
      },
      { name: 'support.constant.currency.policy', match: '(?<=\\d )[A-Z]{3}\\b' },
      { name: 'storage.type.policy', match: word(declarations) },
      { name: 'keyword.control.policy', match: word(effects) },
      { name: 'constant.language.policy', match: word(constants) },
      { name: 'keyword.operator.word.policy', match: word(keywords) },
      { name: 'keyword.operator.policy', match: '==|!=|<=|>=|[<>=+*/|-]' },
      { name: 'variable.other.policy', match: '\\b[A-Za-z_]\\w*(?:\\.[A-Za-z_]\\w*)*' },
    ],
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [name, text] of Object.entries(generate())) {
    writeFileSync(new URL(`generated/${name}`, import.meta.url), text);
  }
}
