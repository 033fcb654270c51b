/**
 * A pattern of `matches` into a test of whole texts, in the RE2 dialect: always linear in the text, without
 * look-around and back-references. The dot matches line ends.
 */

import { RE2JS } from 're2js';
import { BoundedMap, memo } from './memo.ts';

/** The test whether a whole text matches, or why the source is no pattern. */
export function compileRegex(source: string): CompiledRegex {
  return memo(compiled, source, newRegex);
}

type CompiledRegex = ((text: string) => boolean) | { readonly error: string };

const compiled = new BoundedMap<string, CompiledRegex>(500);

function newRegex(source: string): CompiledRegex {
  try {
    const pattern = RE2JS.compile(source, RE2JS.DOTALL);
    return (text) => pattern.testExact(text);
  } catch (error) {
    // Whatever a pattern makes the library throw, its author has to correct the pattern.
    return { error: explain(error instanceof Error ? error.message : String(error)) };
  }
}

/** The library's message without its preamble, and without the flag that stands before the source. */
function explain(message: string): string {
  return message.replace(/^error parsing regexp: /, '').replace('`(?s)', '`');
}
