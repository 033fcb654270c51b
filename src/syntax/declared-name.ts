// The name of a declaration, a rule or an element: must be snake_case and no word of the language. Reports what is not,
// and keeps the name, so that uses of it are not reported too.

import { isReservedWord, type Token } from '../../grammar/tokens.ts';
import { type BuildContext, plainName, syntaxError } from './build-context.ts';
import type { Name } from './tree.ts';

/** `what` is named with its article, such as `a list`; null where recovery found no name. */
export function declaredName(token: Token | undefined, what: string, ctx: BuildContext): Name | null {
  if (token === undefined) return null;
  const name = plainName(token, ctx);
  if (isReservedWord(name.text)) {
    const message = `\`${name.text}\` is a word of the language and cannot name ${what}`;
    const help = `choose another name, such as \`${name.text}_${what.split(' ').at(-1)}\``;
    ctx.report(syntaxError('reserved-word', name.span, message, help));
  } else if (!/^[a-z][a-z0-9_]*$/.test(name.text)) {
    reportStyle(name, ctx);
  }
  return name;
}

function reportStyle(name: Name, ctx: BuildContext): void {
  const better = snakeCase(name.text);
  const message = `\`${name.text}\` is not in snake_case`;
  const isUsable = /^[a-z]/.test(better) && !isReservedWord(better);
  if (!isUsable) {
    const help = 'names begin with a small letter and go on with small letters, digits and `_`';
    ctx.report(syntaxError('name-style', name.span, message, help));
    return;
  }
  ctx.report({
    ...syntaxError('name-style', name.span, message, `write \`${better}\``),
    fix: { title: `write \`${better}\``, edits: [{ span: name.span, text: better }] },
  });
}

function snakeCase(text: string): string {
  return text
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .replaceAll(/([A-Z])([A-Z][a-z])/g, '$1_$2')
    .toLowerCase()
    .replace(/^_+/, '');
}
