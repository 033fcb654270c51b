// The text of a policy as in its file: numbered, coloured, with notes on its lines. INVARIANT: the text reads
// the same as for the compiler: invisible characters are shown as their code points.

import type { ComponentChildren } from 'preact';
import { Icon } from '../layout/icon.tsx';
import '../text/plain-text.css';
import './policy-source.css';
import { type Piece, piecesOf } from '../../../language/assist/policy-words.ts';
import { textPieces } from '../../../language/value/text-pieces.ts';
import { cutPieces } from './source-marks.ts';

export interface SourceMark {
  readonly tone: 'here' | 'error' | 'warning';
  readonly line: number;
  /** The last line; by default the first one. */
  readonly endLine?: number;
  /**
   * The column at which the mark begins in the first line, from 1, in code points. When absent, whole lines
   * are marked.
   */
  readonly column?: number;
  /** One past the mark's last character in the last line. */
  readonly endColumn?: number;
  /** Shown below the last line. */
  readonly note?: ComponentChildren;
}

interface PolicySourceProps {
  readonly text: string;
  /** Number of the text's first line in its file; 1 by default. */
  readonly firstLine?: number;
  readonly marks?: readonly SourceMark[];
  /** Names the text for a screen reader. */
  readonly label: string;
  /** Whether the text is not coloured: a list has no words of the language. */
  readonly isPlain?: boolean;
  /** Returns the link of a line's number; a line with a link has an id such as `L12`. */
  readonly lineHref?: (line: number) => string;
}

export function PolicySource({
  text,
  firstLine = 1,
  marks = [],
  label,
  isPlain = false,
  lineHref,
}: PolicySourceProps) {
  const lines = text.replace(/\r?\n$/, '').split(/\r?\n/);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keyboard.
    <section class="policy-source" aria-label={label} tabIndex={0}>
      <div class="policy-source-lines">
        {lines.map((line, index) => {
          const number = firstLine + index;
          const own = marks.filter((mark) => mark.line <= number && number <= (mark.endLine ?? mark.line));
          const pieces: readonly Piece[] = isPlain ? [{ text: line, kind: 'other' }] : piecesOf(line);
          return (
            <Line
              key={number}
              number={number}
              line={line}
              pieces={pieces}
              marks={own}
              href={lineHref?.(number) ?? null}
            />
          );
        })}
      </div>
    </section>
  );
}

interface LineProps {
  readonly number: number;
  readonly line: string;
  readonly pieces: readonly Piece[];
  readonly marks: readonly SourceMark[];
  readonly href: string | null;
}

function Line({ number, line, pieces, marks, href }: LineProps) {
  const tones = new Set(marks.map(({ tone }) => tone));
  const tone = tones.has('error')
    ? 'error'
    : tones.has('warning')
      ? 'warning'
      : tones.has('here')
        ? 'here'
        : '';
  const notes = marks.filter((mark) => mark.note !== undefined && number === (mark.endLine ?? mark.line));
  const spans = marks.flatMap((mark) => {
    if (mark.column === undefined) return [];
    const from = number === mark.line ? mark.column : 1;
    const to =
      number === (mark.endLine ?? mark.line) ? (mark.endColumn ?? from + 1) : Number.POSITIVE_INFINITY;
    return [{ from, to, tone: mark.tone }];
  });
  return (
    <>
      <div
        class={tone === '' ? 'policy-source-line' : `policy-source-line policy-source-${tone}`}
        id={href === null ? undefined : `L${number}`}
      >
        {href === null ? (
          <span class="policy-source-at" aria-hidden="true">
            {number}
          </span>
        ) : (
          <a class="policy-source-at" href={href} aria-label={`Line ${number}`}>
            {number}
          </a>
        )}
        <code>
          {cutPieces(pieces, line, spans).map(({ text, kind, tone: mark }, index) => (
            <span
              key={index}
              class={`token-${kind}${mark === null ? '' : ` policy-source-mark-${mark}`}`}
              data-word={kind === 'outcome' ? text : undefined}
            >
              <Visible text={text} />
            </span>
          ))}
        </code>
      </div>
      {notes.map(({ tone: noteTone, note }, index) => (
        <div key={index} class={`policy-source-note policy-source-note-${noteTone}`}>
          {noteTone !== 'here' && <Icon name={noteTone === 'error' ? 'deny' : 'warning'} />}
          <div>{note}</div>
        </div>
      ))}
    </>
  );
}

function Visible({ text }: { readonly text: string }) {
  return (
    <>
      {textPieces(text).map(({ text: piece, codePoint }, index) =>
        codePoint === null || piece === '\t' ? (
          piece
        ) : (
          <mark key={index} title={`an invisible character, ${codePoint}`}>
            {codePoint}
          </mark>
        ),
      )}
    </>
  );
}
