// Shows a text by somebody else as plain text. Characters that are invisible or change the direction of
// reading are shown as their code points, and a very long text is folded. INVARIANT: the text reads the same
// as for a policy and a program; no character of it is markup.

import { useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import './plain-text.css';
import { type CharacterMarks, cutText, textPieces } from '../../../language/value/text-pieces.ts';

const foldedLength = 400;

interface PlainTextProps {
  readonly text: string;
  /** Shows one line without a button to unfold, for lists. */
  readonly isShort?: boolean;
}

export function PlainText({ text, isShort = false }: PlainTextProps) {
  const [isWhole, setWhole] = useState(false);
  const lengthMax = isShort ? 120 : foldedLength;
  const isFolded = !isWhole && text.length > lengthMax;
  // Lists show hundreds of short texts, so these get no elements around them.
  if (isShort && !isFolded) return <PlainPieces text={text} />;
  return (
    <span class="plain-text">
      <PlainPieces text={isFolded ? cutText(text, lengthMax) : text} />
      {isFolded && '…'}
      {!isShort && text.length > foldedLength && (
        <Button variant="quiet" aria-expanded={isWhole} onClick={() => setWhole(!isWhole)}>
          {isWhole ? 'Show less' : `Show all ${text.length.toLocaleString()} characters`}
        </Button>
      )}
    </span>
  );
}

/** The whole text, unfolded. */
export function PlainPieces({
  text,
  marks = null,
}: {
  readonly text: string;
  readonly marks?: CharacterMarks | null;
}) {
  return (
    <bdi class="plain-text">
      {textPieces(text, marks).map(({ text: piece, codePoint, mark }, index) => {
        if (codePoint === null && mark === null) return piece;
        return codePoint === null ? (
          <mark key={index} class="plain-odd" title={mark ?? ''}>
            {piece}
          </mark>
        ) : (
          <mark key={index} title={`an invisible character, ${codePoint}`}>
            {codePoint}
          </mark>
        );
      })}
    </bdi>
  );
}
