// Turns a pattern of `matches` into a test of whole texts. A pattern means what RE2 says, with RE2's default
// flags: no look-around and no back-references, so the time is always linear in the text; the dot is any
// character but a line feed; `^` and `$` are the ends of the text, and no line feed may follow.

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
    const pattern = RE2JS.compile(source);
    return (text) => pattern.testExact(text);
  } catch (error) {
    // Whatever error a pattern causes in the library, the author has to correct the pattern.
    return { error: explain(error instanceof Error ? error.message : String(error)) };
  }
}

/** The library's message without its preamble. */
function explain(message: string): string {
  return message.replace(/^error parsing regexp: /, '');
}
