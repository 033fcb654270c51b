// A piece of a policy file with its line numbers and a link to the whole file.

import { PlainPieces } from '../text/plain-text.tsx';
import { PolicySource } from './policy-source.tsx';
import './source-text.css';
import { evenLines } from './source-lines.ts';

interface SourceTextProps {
  readonly file: string;
  /** Number of the first line. */
  readonly line: number;
  readonly text: string;
}

export function SourceText({ file, line, text }: SourceTextProps) {
  return (
    <div class="source-text">
      <a href={`/policies/file?${new URLSearchParams({ path: file })}#L${line}`}>
        <PlainPieces text={file} />:{line}
      </a>
      <PolicySource text={evenLines(text).join('\n')} firstLine={line} label={`${file}, from line ${line}`} />
    </div>
  );
}
