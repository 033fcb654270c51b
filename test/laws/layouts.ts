// Policy files with a mangled layout: blanks, line ends and comments between tokens, wherever the same tree
// is still read. The formatted file has the same tree and every comment, and formats to itself.

import { isDeepStrictEqual } from 'node:util';
import { hasErrors } from '../../src/language/diagnostic/diagnostic.ts';
import { tokenEnd, tokenize } from '../../src/language/syntax/parse/tokens.ts';
import { parse } from '../../src/language/syntax/parse.ts';
import { printFile } from '../../src/language/syntax/print/print.ts';
import type { PolicyFile } from '../../src/language/syntax/tree/tree.ts';
import { createRandom, type RandomSource } from '../../src/language/value/random.ts';
import { withoutPlaces } from '../language/syntax/nodes.ts';
import type { Case } from './cases.ts';
import { corpus } from './corpus.ts';
import { writtenConstructs } from './required.ts';
import { syntaxFeatures } from './syntax-features.ts';

export interface LayoutRun {
  readonly layouts: number;
  /** Mangled texts that have errors, such as when a blank splits a word. */
  readonly refused: number;
  readonly comments: number;
  /** The constructs in the layouts that are read. */
  readonly features: ReadonlySet<string>;
  readonly findings: readonly Case[];
}

/**
 * Each space between tokens is changed with one of these chances, so that some layouts are mangled a little
 * and some wholly.
 */
const chances = [0.05, 0.3, 0.9] as const;
/** How often a file is mangled until a construct in it is read. */
const attemptsMax = 100;

/** Tries `count` layouts of the corpus in turn, then layouts of the files with constructs that none of them has. */
export function layoutsKeepTrees(count: number, seed: number): LayoutRun {
  const random = createRandom(seed);
  const sources = soundSources();
  const findings: Case[] = [];
  const features = new Set<string>();
  const run = { layouts: 0, refused: 0, comments: 0 };
  const attempt = (source: Source, chance: number): void => {
    const text = mangled(source.text, chance, random);
    const { file, diagnostics } = read(text);
    if (hasErrors(diagnostics)) {
      run.refused++;
      return;
    }
    run.layouts++;
    run.comments += file.comments.length;
    for (const feature of syntaxFeatures(file)) features.add(feature);
    const isSame = isDeepStrictEqual(undocumented(file), undocumented(source.file));
    const problem = isSame ? layoutProblem(file) : 'is read as another tree';
    if (problem === null) return;
    findings.push({ files: [{ path: 'mangled.policy', text }], lists: {}, problem, facts: null });
  };
  for (let tried = 0; run.layouts < count && tried < 20 * count; tried++)
    attempt(sources[tried % sources.length]!, random.pick(chances));
  for (const construct of writtenConstructs) {
    const having = sources.filter((source) => source.features.has(construct));
    for (let tried = 0; !features.has(construct) && having.length > 0 && tried < attemptsMax; tried++)
      attempt(having[tried % having.length]!, chances[0]);
  }
  return { ...run, features, findings };
}

interface Source {
  readonly text: string;
  readonly file: PolicyFile;
  readonly features: ReadonlySet<string>;
}

/** The policy files of the corpus that have no errors and are not long. */
function soundSources(): readonly Source[] {
  return corpus().flatMap(({ files }) => {
    const { text } = files[0]!;
    if (text.length >= 20_000) return [];
    const { file, diagnostics } = read(text);
    return hasErrors(diagnostics) ? [] : [{ text, file, features: new Set(syntaxFeatures(file)) }];
  });
}

function read(text: string): ReturnType<typeof parse> {
  return parse({ path: 'mangled.policy', text });
}

/** What is wrong with how a file is formatted; null for nothing. */
export function layoutProblem(file: PolicyFile): string | null {
  const printed = printFile(file);
  const again = read(printed);
  if (hasErrors(again.diagnostics)) return 'what is printed has errors';
  if (!isDeepStrictEqual(withoutPlaces(again.file.declarations), withoutPlaces(file.declarations)))
    return 'is printed to another tree';
  if (!isDeepStrictEqual(commentsOf(again.file), commentsOf(file))) return 'loses or reorders a comment';
  return printFile(again.file) === printed ? null : 'is printed otherwise when printed again';
}

function commentsOf({ comments }: PolicyFile): readonly string[] {
  return comments.map(({ text }) => text);
}

/** The tree without documentation comments, because the layout decides which comments are documentation. */
function undocumented(file: PolicyFile): unknown {
  return JSON.parse(JSON.stringify(withoutPlaces(file.declarations)), (key, value: unknown) =>
    key === 'doc' ? null : value,
  );
}

/** The same tokens and comments, with other blanks, line ends and more comments between them. */
export function mangled(text: string, chance: number, random: RandomSource): string {
  const { tokens, comments } = tokenize(text);
  const parts = [...tokens, ...comments].toSorted((a, b) => a.startOffset - b.startOffset);
  const written = new Set(comments);
  let result = '';
  let end = 0;
  let isBehindComment = false;
  for (const part of parts) {
    const gap = text.slice(end, part.startOffset);
    result += random.chance(chance) ? otherGap(gap, isBehindComment, random) : gap;
    result += text.slice(part.startOffset, tokenEnd(part));
    end = tokenEnd(part);
    isBehindComment = written.has(part);
  }
  return result + text.slice(end);
}

function otherGap(gap: string, isBehindComment: boolean, random: RandomSource): string {
  const start = isBehindComment ? '\n' : '';
  switch (random.below(8)) {
    case 0:
      return isBehindComment ? start : gap === '' ? '' : ' ';
    case 1:
      return `${start} \t  `;
    case 2:
      return `${start}\n`;
    case 3:
      return `${start}\n\n\n  `;
    case 4:
      return `${start} # ${aWord(random)}\n`;
    case 5:
      return `${start}\n# ${aWord(random)}\n    # ${aWord(random)}\n`;
    case 6:
      return `${start}\n\n# ${aWord(random)}\n\n`;
    default:
      return `${start} #${aWord(random)}\n\n#\n`;
  }
}

function aWord(random: RandomSource): string {
  return random.pick(['one', 'two words', 'payload.count > 3', '"a"', '}', 'and', 'déjà vu']);
}
