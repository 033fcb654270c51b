/**
 * Turns a pattern of `matches` into a test of whole texts. The dialect is RE2, without look-around and
 * back-references, so the time is always linear in the text. The dot matches line ends.
 */

import { RE2JS } from 're2js';
import { BoundedMap, memo } from './memo.ts';

/** Returns a test that is true when a whole text matches, or the reason why the source is not a pattern. */
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
    // Whatever error a pattern causes in the library, the author has to correct the pattern.
    return { error: explain(error instanceof Error ? error.message : String(error)) };
  }
}

/** The library's message without its preamble, and without the flag in front of the source. */
function explain(message: string): string {
  return message.replace(/^error parsing regexp: /, '').replace('`(?s)', '`');
}
