// Warns of patterns of `matches` that treat a line feed otherwise than their author may think. In an `allow`,
// a part such as `(?s).` or `[^x]` also accepts a line feed, so one line is allowed and more may follow. In a
// guard, `.*` ends at a line feed, so a text with one passes the guard.

import type { Expression } from '../../../model/expression.ts';
import type { TextType } from '../../../model/type.ts';
import { type PatternPart, patternParts } from '../../../value/pattern-parts.ts';
import { warning } from '../../messages/problem.ts';
import { declaredField } from '../engine/declared-field.ts';
import { directionOf } from '../engine/direction.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function lineBreaks({ enforced, env, valueOfLet }: ConditionScope): void {
  for (const { rule, parts } of enforced) {
    for (const { node, polarity } of parts) {
      if (node.kind !== 'matches' || !mayHoldLineFeed(node.subject)) continue;
      const isStopping = directionOf(rule, polarity) === 'stops';
      // What a function finds in a text, such as an argument of a command, is one piece, whatever it holds.
      if (!isStopping && declaredField(node.subject, parts, valueOfLet) === null) continue;
      const part = patternParts(node.pattern).find(isStopping ? stopsAtLine : spansLines(node.subject));
      if (part === undefined) continue;
      const { text } = part;
      env.report(
        isStopping
          ? warning(
              'pattern-stops-at-line',
              node.span,
              `\`${text}\` stops at a line feed: a text with one passes this guard`,
              {
                help: 'write `(?s)` at the start of the pattern',
              },
            )
          : warning(
              'pattern-spans-lines',
              node.span,
              `\`${text}\` also accepts a line feed: this allows more than one line`,
              {
                help:
                  text === '.'
                    ? 'leave out `(?s)`'
                    : `name the characters that are fine, or write \`${withoutLineFeed(text)}\``,
              },
            ),
      );
    }
  }
}

/** Whether the part is meant for the rest of a line, and reads no line feed. */
function stopsAtLine(part: PatternPart): boolean {
  return part.text === '.' && part.isRepeated && !part.accepts('\n');
}

/** Whether the part accepts a line feed without naming it. A folder's name may hold one, so in a path only the dot counts. */
function spansLines({ type }: Expression): (part: PatternPart) => boolean {
  const isPath = type.kind === 'text' && type.of !== 'string';
  return (part) =>
    !part.isLiteral && (part.text === '.' || (!isPath && !namesLineFeed(part.text))) && part.accepts('\n');
}

function namesLineFeed(text: string): boolean {
  return /\n|\\n|\\x0a|\\x\{0*a\}|\\012/i.test(text);
}

function withoutLineFeed(text: string): string {
  if (text.startsWith('[^')) return `${text.slice(0, -1)}\\n]`;
  return text === '\\s' || text === '[[:space:]]' ? '[ \\t]' : `[^\\n]`;
}

/** Whether the text comes from a request and its type does not exclude a line feed. */
function mayHoldLineFeed(subject: Expression): boolean {
  if (subject.kind === 'call' && subject.builtin === 'fold') return false;
  if (subject.kind === 'fact' || subject.type.kind !== 'text') return false;
  const { of, values, patterns } = subject.type;
  const isFree = (of === 'string' || of.startsWith('path')) && values === null;
  return isFree && patterns.every(acceptsLineFeed);
}

function acceptsLineFeed(pattern: TextType['patterns'][number]): boolean {
  return patternParts(pattern).some((part) => part.accepts('\n'));
}
