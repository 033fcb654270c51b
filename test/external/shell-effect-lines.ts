// Random command lines of one program: options that exist and options that do not, alone, bundled, joined and apart from values
// that programs could take for scripts, formats, files or other options.

import type { RandomSource } from '../../src/language/value/random.ts';

const letters = 'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.';
const names =
  `all almost-all archive author bytes brief canonicalize characters check color compress-program count context decode
  delimiter diff-program exclude exec expression ext-diff extended-regexp field-separator fields file files0-from follow format
  glob hidden human-readable ignore-case include in-place inodes lines line-number max-count max-depth mime name-only
  new-file no-index numeric-sort oneline output output-delimiter patch porcelain pre pretty quiet random-source raw-output
  recursive reference regexp reverse script set show-signature sort stat stdin temporary-directory textconv
  to-command unified unique untracked use-compress-program version word-diff words zero contains merged list
  short verbose graph decorate numstat all-match since batch textconv filters show-toplevel abbrev-ref long tags always`.split(
    /\s+/,
  );
const values = [
  '1',
  '2',
  '-1',
  'a',
  'b.txt',
  '.env',
  'src',
  '.',
  'HEAD',
  'x',
  '1,2',
  '+%H',
  'auto',
  ',',
  ':',
  '',
];
const texts = [
  "'s/a/b/'",
  "'s/a/b/w out'",
  "'1e touch out'",
  "'s/a/touch out/e'",
  "'1,2p'",
  "'$!N;P;D'",
  "':a;N;$!ba;s/\\n/ /g'",
  "'r .env'",
  "'w out'",
  "'/a/,/b/d'",
  "'s|a|b|g;p'",
  "'y/ab/cd/'",
  "'1!G;h;$!d'",
  "'{p;p}'",
  "'2q'",
  "'/[/]w out'",
  "'s/[/]/b/w out/'",
  "'{print $1}'",
  '\'{print > "out"}\'',
  '\'BEGIN{system("touch out")}\'',
  "'$1 > 1'",
  "'NR==1'",
  "'/a|b/'",
  "'{ print $1 / 2 }'",
  '\'BEGIN { while ((getline l < ".env") > 0) print l }\'',
  "'{ s += $1 } END { print s / NR }'",
  '\'{print | "sh"}\'',
  '\'BEGIN { if (1) /"/; system("touch out") #"\'',
  "'{ a[$1]++ } END { for (k in a) print k, a[k] }'",
  "'/\"/ { print }'",
  '.name',
  "'keys'",
  "'env'",
  "'$ENV'",
  "'.[]'",
  "'.a.env'",
  "'input_filename'",
  "'[inputs]'",
  '\'import "a" as a; .\'',
  "'--format=%h %s'",
  "'--format=%GS'",
  "'--format=%-GS'",
  "'--pretty=%(trailers)'",
  "'--format=%(signature)'",
  "'--format=%(refname)'",
  'HEAD',
  'HEAD:a',
  'HEAD:.env',
  '--',
  '-1',
  '-3',
  '--sort=signature',
  '--sort=-creatordate',
  'main',
  'new',
  'HEAD~1..HEAD',
  "'*.txt'",
  "'.e*'",
  "'%s\\n'",
  "'%n'",
  "'%c'",
  'user.name',
  'core.pager',
  '--get',
  'list',
  'show',
  '-name',
  '-type',
  'f',
  '-print',
  '-newer',
  '-delete',
  '-fprint',
  'out',
  '-size',
  '+1',
  '-printf',
  "'%p\\n'",
  '-maxdepth',
  '-ls',
  '-o',
  'data.json',
  'arc.tar',
  'a.gz',
  'aux',
  'ef',
  '-ef',
  'tf',
  '-tzf',
  'a-z',
  'A-Z',
] as const;
const files = [
  'a',
  'b.txt',
  '.env',
  'src',
  'src/x.ts',
  'src/.hid',
  'words',
  'data.json',
  'a.gz',
  'arc.tar',
  '.',
  '-',
  'missing',
];

/** A random line of the program, which may be followed by a subcommand. */
export function effectLine(random: RandomSource, program: string): string {
  const parts: string[] = [program];
  const isFirst = /^(?:sed|awk|mawk|jq|yq|grep|rg|tr|expr|printf|find|date|ps|tar)/.test(program);
  for (let options = random.below(3); options > 0; options -= 1) parts.push(randomOption(random));
  if (isFirst || random.chance(0.3)) parts.push(random.pick(texts));
  for (let operands = random.below(3); operands > 0; operands -= 1) parts.push(random.pick(files));
  if (random.chance(0.1)) parts.push(randomOption(random));
  const line = parts.join(' ');
  return random.chance(0.1) ? `${line} | sort` : line;
}

function randomOption(random: RandomSource): string {
  const letter = () => letters[random.below(letters.length)]!;
  if (random.chance(0.35)) {
    const name = random.pick(names);
    const cut = random.chance(0.15) ? name.slice(0, 1 + random.below(name.length)) : name;
    return random.chance(0.3) ? `--${cut}=${random.pick(values)}` : `--${cut}`;
  }
  const bundle = Array.from({ length: 1 + random.below(3) }, letter).join('');
  const text = random.chance(0.8) ? `-${bundle}` : `-${letter()}${random.pick(values)}`;
  return random.chance(0.2) ? `${text} ${random.pick(values) || "''"}` : text;
}
