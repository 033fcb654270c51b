// Makes from the grammar an EBNF page, railroad diagrams, editor colours and the table of the parser's
// choices. `npm run grammar` writes these files, and tests hold the committed files equal to what it makes.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInNewContext } from 'node:vm';
import { PolicyParser } from '../src/language/syntax/parse/parser.ts';
import {
  contextualWords,
  createLexer,
  literal,
  reservedWords,
  ruleNameWords,
} from '../src/language/syntax/parse/tokens.ts';
import { declarationVocabulary, effectVocabulary } from '../src/language/syntax/repair/vocabulary.ts';
import { lookaheadTable } from './lookahead.ts';
import { alternativesOf, fromTheTop, type Production } from './productions.ts';
import { type RailroadShapes, railroadPage } from './railroad.ts';

/** The text of every file of `generated/`, by file name. */
export function generate(): Readonly<Record<string, string>> {
  const sorted = productions();
  return {
    'grammar.ebnf': ebnf(sorted),
    'railroad.html': railroadPage(sorted, railroadShapes()),
    'policy.tmLanguage.json': `${JSON.stringify(textMateGrammar(), null, 2)}\n`,
  };
}

/**
 * The rules of the grammar in the order in which a reader meets them, from the whole file down. Throws if two
 * alternatives, or two tokens, cannot be told apart.
 */
export function productions(): readonly Production[] {
  createLexer(false);
  return fromTheTop(
    new PolicyParser({ skipValidations: false }).getSerializedGastProductions() as readonly Production[],
  );
}

function ebnf(rules: readonly Production[]): string {
  const lines = rules.map((rule) => `${rule.name} =\n    ${alternativesOf(rule).join('\n  | ')} ;\n`);
  return `${[ebnfHeader, ...lines, ebnfTokens()].join('\n')}`;
}

const ebnfHeader = `(* The grammar of policy files, made from src/language/syntax/parse by \`npm run grammar\`.
   'text' stands for itself; Words_with_a_capital are tokens, described at the end; everything else is a rule. *)
`;

function ebnfTokens(): string {
  const patterns = Object.values(literal).map((type) => `   ${type.name}: ${String(type.PATTERN)}`);
  return `(* Tokens
   Word: [A-Za-z_][A-Za-z0-9_]* but for the reserved words; beside a dot, before ':' or '?:' and after 'has' any word;
   as the name of a policy, rule or guarantee also ${[...ruleNameWords].join(' ')}
   Currency: three capitals
   Weekday: mon tue wed thu fri sat sun
   Text: QuotedText or RawText
${patterns.join('\n')}

   Reserved: ${reservedWords.join(' ')} *)
`;
}

/**
 * The functions that draw the diagrams. They come from a script of the parser library that is made for
 * browsers and sets a global.
 */
function railroadShapes(): RailroadShapes {
  const library = createRequire(import.meta.url).resolve('chevrotain');
  const script = join(dirname(library), '../../diagrams/vendor/railroad-diagrams.js');
  const globals: { railroad?: RailroadShapes } = {};
  runInNewContext(readFileSync(script, 'utf8'), globals);
  if (globals.railroad === undefined) throw new Error(`${script} draws nothing`);
  return globals.railroad;
}

/** TextMate grammar of `.policy` files: https://macromates.com/manual/en/language_grammars */
function textMateGrammar(): object {
  const source = (pattern: unknown) => (pattern instanceof RegExp ? pattern.source : '');
  const word = (words: readonly string[]) => `(?<![.\\w])(?:${words.join('|')})\\b(?!\\s*\\??:)`;
  const effects = [...Object.keys(effectVocabulary.words), 'never', 'always', 'shadow'];
  const declarations = Object.keys(declarationVocabulary.words);
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
  const table = new URL('../src/language/syntax/parse/lookahead.json', import.meta.url);
  writeFileSync(table, JSON.stringify(lookaheadTable()));
}
