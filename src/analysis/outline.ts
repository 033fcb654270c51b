// Turns the text of a policy file into its policies and rules with their lines. A file with mistakes gets an
// outline of the parts that can be read.

import { parse } from '../language/syntax/parse.ts';
import type { PolicyOutline, TextFile } from './playground-questions.ts';

export function outlineOf(file: TextFile): readonly PolicyOutline[] {
  const lineOf = createLines(file.text);
  return parse(file).file.declarations.flatMap((declaration): readonly PolicyOutline[] => {
    if (declaration.kind !== 'policy') return [];
    const { name, doc, span, rules } = declaration;
    return [
      {
        name: name.text,
        line: lineOf(span.start),
        doc,
        rules: rules.map((rule) => ({
          id: `${name.text}/${rule.name.text}`,
          line: lineOf(rule.span.start),
          end_line: lineOf(rule.span.end),
        })),
      },
    ];
  });
}

/** Returns a function from an offset to its line, counted from 1; the text is searched only once. */
export function createLines(text: string): (offset: number) => number {
  const breaks: number[] = [];
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) breaks.push(at);
  return (offset) => {
    let low = 0;
    let high = breaks.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (breaks[middle]! < offset) low = middle + 1;
      else high = middle;
    }
    return low + 1;
  };
}
