// Reads the name of a declaration, a rule or an element. The name must be snake_case and no word of the
// language. A name that is not is reported but kept, so that uses of the name are not reported too.

import type { Diagnostic } from '../../diagnostic/diagnostic.ts';
import type { NameNode } from '../tree/tree.ts';
import { plainName, type Reader, syntaxError, withFix } from './context.ts';
import { isReservedWord, ruleNameWords, type Token } from './tokens.ts';

/**
 * The declared name; null if recovery found none. `what` is the named thing with its article, such as `a
 * list`.
 */
export function declaredName(token: Token | undefined, noun: string, reader: Reader): NameNode | null {
  const name = plainName(token, reader);
  if (name === null) return null;
  if (isReservedWord(name.text) && !(namesNoValue.has(noun) && ruleNameWords.has(name.text)))
    reader.report(reservedName(name, noun));
  else if (!/^[a-z][a-z0-9_]*$/.test(name.text)) reportStyle(name, reader);
  return name;
}

/** What is named by a name that no condition reads. */
const namesNoValue: ReadonlySet<string> = new Set(['a policy', 'a rule', 'a guarantee']);

/** The error for a word of the language that stands in the place of a name. */
export function reservedName({ text, span }: Pick<NameNode, 'text' | 'span'>, noun: string): Diagnostic {
  const message = `\`${text}\` is a word of the language and cannot name ${noun}`;
  const help = `choose another name, such as \`${text}_${noun.split(' ').at(-1)}\``;
  return syntaxError('reserved-word', span, message, help);
}

function reportStyle(name: NameNode, reader: Reader): void {
  const better = snakeCase(name.text);
  const message = `\`${name.text}\` is not in snake_case`;
  const isUsable = /^[a-z]/.test(better) && !isReservedWord(better);
  const rule = 'names begin with a small letter and go on with small letters, digits and `_`';
  const title = `write \`${better}\``;
  const diagnostic = syntaxError('name-style', name.span, message, isUsable ? title : rule);
  reader.report(isUsable ? withFix(diagnostic, { title, text: better }) : diagnostic);
}

function snakeCase(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/^_+/, '');
}
