// JSON for the editor, token by token and line by line.

import { StreamLanguage } from '@codemirror/language';
import { policyTags } from './policy-language.ts';

export const jsonLanguage = StreamLanguage.define<{ depth: number }>({
  name: 'json',
  startState: () => ({ depth: 0 }),
  copyState: ({ depth }) => ({ depth }),
  token(stream, state) {
    if (stream.eatSpace()) return null;
    if (stream.match(/^"(?:[^"\\]|\\.)*"?/)) return stream.match(/^\s*:/, false) ? 'declaration' : 'text';
    if (stream.match(/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/)) return 'number';
    if (stream.match(/^(?:true|false|null)\b/)) return 'constant';
    const character = stream.next();
    if (character === '{' || character === '[') state.depth += 1;
    if (character === '}' || character === ']') state.depth = Math.max(0, state.depth - 1);
    return 'sign';
  },
  indent: ({ depth }, textAfter, { unit }) =>
    Math.max(0, depth - (/^\s*[}\]]/.test(textAfter) ? 1 : 0)) * unit,
  languageData: { closeBrackets: { brackets: ['[', '{', '"'] } },
  tokenTable: policyTags,
});
