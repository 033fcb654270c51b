// A text by another person with any number of lines: some lines at first, the rest on demand, so that one
// text never pushes others off the screen.

import { useState } from 'preact/hooks';
import { Button } from '../layout/button.tsx';
import { useIsPrinting } from '../layout/printing.ts';
import { PlainText } from './plain-text.tsx';

const linesShown = 6;

export function CollapsibleText({ text }: { readonly text: string }) {
  const [isAskedWhole, setAskedWhole] = useState(false);
  const isWhole = useIsPrinting() || isAskedWhole;
  const lines = text.split('\n');
  if (lines.length <= linesShown) return <PlainText text={text} />;
  return (
    <div>
      <div>
        <PlainText text={isWhole ? text : lines.slice(0, linesShown).join('\n')} />
      </div>
      <Button variant="quiet" aria-expanded={isWhole} onClick={() => setAskedWhole(!isWhole)}>
        {isWhole ? 'Show less' : `Show all ${lines.length} lines`}
      </Button>
    </div>
  );
}
