// THE DOOR: the text of one policy file → its tree and everything that is wrong with how it is written. Never throws,
// whatever the text: limits are checked before anything recurses, and a broken file yields what of it is whole.

import { tokenize } from '../../grammar/tokens.ts';
import { type Diagnostic, sortDiagnostics } from '../diagnostic/diagnostic.ts';
import type { SourceText } from '../diagnostic/span.ts';
import { build } from './build.ts';
import { type BuildContext, makeSpan, syntaxError } from './build-context.ts';
import { refusedCharacters } from './characters.ts';
import { buildComment, documentationBefore } from './comments.ts';
import { readFile } from './concrete.ts';
import { readSound } from './swift-file.ts';
import type { PolicyFile } from './tree.ts';

/** Size of a policy file in bytes of UTF-8. */
export const fileBytesMax = 1_048_576;

/** Diagnostics of one file; the rest is not listed. */
const problemsMax = 200;

export interface ParsedFile {
  readonly file: PolicyFile;
  /** Sorted by place. */
  readonly diagnostics: readonly Diagnostic[];
}

export function parse(source: SourceText): ParsedFile {
  if (isTooLarge(source.text)) return refuseSize(source);
  const sound = readSound(source);
  if (sound === null) return parseByGrammar(source);
  return { file: sound.file, diagnostics: limited(sortDiagnostics(sound.warnings), source) };
}

/** The slow twin, by the grammar itself: the only one that says what is wrong, and the meaning of the quick one. */
export function parseByGrammar(source: SourceText): ParsedFile {
  const diagnostics: Diagnostic[] = [...refusedCharacters(source)];
  const report = (diagnostic: Diagnostic): void => void diagnostics.push(diagnostic);
  const lexed = tokenize(source.text);
  const comments = lexed.comments.map(({ startOffset, image }) =>
    buildComment(startOffset, startOffset + image.length, source),
  );
  const strays = lexed.strays.map(({ offset, length }) => makeSpan({ source }, offset, offset + length));
  const end = (lexed.tokens.at(-1)?.endOffset ?? -1) + 1;
  const run = { tokens: lexed.tokens, strays, end, endName: 'the end of the file' } as const;
  const tree = readFile(run, { source, report });
  const docBefore = documentationBefore(comments, source);
  const ctx: BuildContext = { source, report, docBefore, textMode: 'plain' };
  const span = makeSpan({ source }, 0, source.text.length);
  const file: PolicyFile = { kind: 'file', declarations: build(tree, ctx), comments, span };
  return { file, diagnostics: limited(sortDiagnostics(diagnostics), source) };
}

function isTooLarge(text: string): boolean {
  if (text.length > fileBytesMax) return true;
  return text.length * 3 > fileBytesMax && new TextEncoder().encode(text).length > fileBytesMax;
}

function refuseSize(source: SourceText): ParsedFile {
  const span = makeSpan({ source }, 0, 0);
  const file: PolicyFile = { kind: 'file', declarations: [], comments: [], span };
  const message = `\`${source.path}\` is larger than 1 MiB`;
  const help = 'split it into several files: all files of a directory are one policy set';
  return { file, diagnostics: [syntaxError('file-too-large', span, message, help)] };
}

function limited(diagnostics: readonly Diagnostic[], source: SourceText): readonly Diagnostic[] {
  const next = diagnostics[problemsMax];
  if (next === undefined) return diagnostics;
  const message = `\`${source.path}\` has more than ${problemsMax} problems and the rest is not listed`;
  return [...diagnostics.slice(0, problemsMax), syntaxError('too-many-problems', next.span, message)];
}
