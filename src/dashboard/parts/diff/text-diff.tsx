// The removed and added lines of a text. They are a region of their own that scrolls, because lines may be
// long.

import { PlainPieces } from '../text/plain-text.tsx';
import { type DiffLine, diffLines, hunksOf } from './line-diff.ts';
import './text-diff.css';

interface TextDiffProps {
  readonly before: string;
  readonly after: string;
  readonly label: string;
}

export function TextDiff({ before, after, label }: TextDiffProps) {
  const hunks = hunksOf(diffLines(before, after));
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="text-diff" aria-label={`Changes of ${label}`} tabIndex={0}>
      {hunks.map((hunk, index) => (
        <ol key={index} class="text-diff-hunk">
          {hunk.map(({ kind, text, line }) => (
            <li key={`${kind} ${line}`} class={`text-diff-${kind}`}>
              <span class="text-diff-number" aria-hidden="true">
                {line}
              </span>
              <span class="text-diff-sign" aria-hidden="true">
                {words[kind][0]}
              </span>
              <code>
                <span class="visually-hidden">{words[kind][1]}</span>
                <PlainPieces text={text} />
              </code>
            </li>
          ))}
        </ol>
      ))}
    </section>
  );
}

const words: Readonly<Record<DiffLine['kind'], readonly [sign: string, word: string]>> = {
  kept: [' ', ''],
  gone: ['−', 'removed: '],
  new: ['+', 'added: '],
};
