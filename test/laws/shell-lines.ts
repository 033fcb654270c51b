// Random shell lines: constructs that a shell reads, expansions, and lines that it refuses. INVARIANT: no
// line names a file outside of the folder it runs in, except `/dev/null`.

import type { RandomSource } from '../../src/language/value/random.ts';

export interface RandomLine {
  readonly text: string;
  /** Each command of the line runs once, whatever the other commands do. */
  readonly isStraight: boolean;
}

/** Programs that only trace their calls; those whose names begin with `no` fail. */
export const tracedPrograms = [
  'ls',
  'cat',
  'git',
  'no',
  'nope',
  'x-1',
  'a.b',
  '50%',
  'b@c',
  'é',
  ':x',
] as const;

/** Variables and files of each run, so that each expansion differs from the text of the line. */
export const lineVariables = { x: '-rf "q w" *', y: '', IFSX: ' ' } as const;
export const lineFiles = ['a1', '-x', 'ls.c', 'b c', '1', 'src'] as const;

const plainWords = [
  'a',
  'b1',
  'src',
  '--all',
  '-la',
  'k=v',
  'a=b=c',
  'HEAD~1',
  'stash@{0}',
  '@{u}',
  'x^',
  'a:b',
  'a,b',
  '+x',
  ']',
  '}',
  '{}',
  '!',
  'a#b',
  '1',
  '22',
  '-',
  '--',
  '.',
  '%s',
  'in',
  'do',
  'fi',
  'if',
  'then',
  '{',
  'a{b',
  '[',
  'x$',
  '$',
  '$/',
  '$.',
];
const quotedWords = [
  "''",
  '""',
  "'a b'",
  '"a b"',
  "'$x'",
  '"\\$x"',
  "'`no`'",
  '"\\`no\\`"',
  '"a$"',
  '"$"',
  '"\\\\"',
  '"a\\b"',
  "'\\'",
  '\\$x',
  '\\*',
  "'*'",
  '"*"',
  '\\~',
  "'~'",
  "a'b'c",
  'a"b c"d',
  '\\ ',
  '\\;',
  "';'",
  '"|"',
  '\\#',
  "'#'",
  "'\n'",
  '"\n"',
  '"a\\\nb"',
  "'é'",
  '"Á€"',
  "'\t'",
  '"!"',
  "\\'",
  '\\"',
  "'\"'",
  '"\'"',
  '-"n"',
  "'-n'",
  '\\-n',
  "'{a,b}'",
  '"$/"',
  "'Ё'",
  '\\\\',
  "'a'\\''b'",
];
const doubtfulWords = [
  '$x',
  `\${x}`,
  '"$x"',
  '$(no z)',
  '`no z`',
  '$((1+1))',
  '~',
  '~root',
  'a=~',
  '*',
  '*.c',
  'a?',
  '[ab]1',
  '{a,b}',
  '{1..3}',
  "$'a'",
  '$"a"',
  '$@',
  '"$@"',
  '$#',
  '$?',
  '$$',
  '$1',
  `\${y:-z}`,
  '"$(no z)"',
  '$y',
  'a$x',
  '"`no z`"',
  '[a-',
  'a[1]',
  'é',
  ...['<(no)', '@(a|b)', '!(a)', '$[1+1]', 'a\\\nb', '\\\na'],
];

const scraps = [
  "'",
  '"',
  '\\',
  '$',
  '`',
  '(',
  ')',
  '{',
  '}',
  '|',
  '&',
  ';',
  '<',
  '>',
  '*',
  '?',
  '[',
  ']',
  '~',
  '#',
  '!',
  '=',
  '\n',
  ' ',
  '\t',
  '\\\n',
  '$x',
  '$(no z)',
  '<<E',
  '<<<',
  '>&',
  '&>',
  '|&',
  ';;',
  '((',
  '))',
  '[[',
  ' if ',
  ' then ',
  ' fi',
  ' time ',
  ' in ',
  '()',
  '1',
  '12',
  'E',
];

/** A random shell line. */
export function randomLine(random: RandomSource): RandomLine {
  const line = randomList(random, 2);
  if (line.text.includes('/') || random.chance(0.6)) return line;
  let { text } = line;
  for (let rounds = 1 + random.below(3); rounds > 0; rounds -= 1) {
    const at = random.below(text.length + 1);
    const cut = random.chance(0.5) ? 1 : 0;
    text = `${text.slice(0, at)}${random.chance(0.7) ? random.pick(scraps) : ''}${text.slice(at + cut)}`;
  }
  return { text, isStraight: false };
}

function randomList(random: RandomSource, depth: number): RandomLine {
  let { text, isStraight } = randomItem(random, depth);
  while (random.chance(0.35)) {
    const sign = random.pick(['; ', ';', ' | ', '|', '\n', ' & ', ' && ', ' || ', '&&\n', ' |\n']);
    const next = randomItem(random, depth);
    text = `${text}${sign}${next.text}`;
    isStraight = isStraight && next.isStraight && !/&&|\|\|/.test(sign);
  }
  return { text: `${text}${random.pick(['', '', '', ';', '\n', ' # $x no', ' ', ' \\\n'])}`, isStraight };
}

function randomItem(random: RandomSource, depth: number): RandomLine {
  if (depth === 0 || random.chance(0.75)) return randomSimple(random);
  const inner = (): RandomLine => randomList(random, depth - 1);
  const body = (): string => `${inner().text}\n`;
  const branching = (text: string): RandomLine => ({ text, isStraight: false });
  switch (random.below(9)) {
    case 0:
    case 1: {
      const { text, isStraight } = inner();
      const around = random.chance(0.5) ? `( ${text}\n)` : `{ ${text}\n}`;
      return { text: `${around}${random.pick(['', '', ' >f', ' 2>&1'])}`, isStraight };
    }
    case 2:
      return branching(`if ${body()}then ${body()}${random.pick(['', `elif no\nthen ${body()}`])}fi`);
    case 3:
      return branching(`if no; then ${body()}else ${body()}fi ${random.pick(['', '>f', '<1'])}`);
    case 4:
      return branching(`while no; do ${body()}done`);
    case 5:
      return branching(`for i in ${random.pick(['a b', 'a', '', "'q r' s", '*', '$x'])}; do ${body()}done`);
    case 6:
      return branching(`case ${randomWord(random)} in a|b) ${body()};; (*) ${body()}esac`);
    case 7:
      return branching(`! ${randomSimple(random).text}`);
    default:
      return branching(
        `${random.pick(['f() { no; }', 'alias ls=no', 'eval', 'trap no 0', 'set -f', 'set -e'])}\n${body()}`,
      );
  }
}

function randomSimple(random: RandomSource): RandomLine {
  const before = random.chance(0.15)
    ? `${random.pick(['A=b', "A='q r'", 'A=', 'A=$x', 'A="b"c', 'A+=b', 'A=~'])} `
    : '';
  const wrapper = random.chance(0.12) ? `${random.pick(wrappers)} ` : '';
  const words = Array.from({ length: random.below(4) }, () => randomWord(random));
  const parts = [randomProgram(random), ...words];
  if (random.chance(0.2)) parts.splice(random.below(parts.length + 1), 0, randomRedirection(random));
  const text = `${before}${wrapper}${parts.join(random.pick([' ', ' ', ' ', '  ', '\t', ' \\\n']))}`;
  if (random.chance(0.04)) return randomDocument(random, text);
  if (random.chance(0.04)) return { text: `sh -c '${text.replaceAll("'", "'\\''")}'`, isStraight: false };
  return { text, isStraight: wrapper === '' && !/[<>]|export/.test(text) };
}

const wrappers = [
  'command',
  'exec',
  'env',
  'env -i',
  'env B=c',
  'env ]=c',
  'env env',
  './sh',
  'git -c a=b',
  'time',
  'command -v',
  'nice -n 1',
  'nohup',
  'timeout 9',
];

function randomDocument(random: RandomSource, text: string): RandomLine {
  const [sign, end] = random.pick([
    ['<<E', 'E'],
    ["<<'E'", 'E'],
    ['<<-\\E', '\tE'],
    ['<<"E F"', 'E F'],
  ] as const);
  return {
    text: `${text} ${sign}\n${random.pick(['a', '$x', '`no z`', '\\', "'", 'no; ls'])}\n${end}\n`,
    isStraight: false,
  };
}

function randomProgram(random: RandomSource): string {
  const program = random.pick(tracedPrograms);
  if (random.chance(0.7)) return program === 'é' ? "'é'" : program;
  if (random.chance(0.2))
    return random.pick(['echo', ':', 'true', 'cd', 'export A=b', 'if', 'missing', "'if'", '\\no', '$x']);
  const at = random.below(program.length);
  const [head, tail] = [program.slice(0, at), program.slice(at)];
  return random.pick([
    `'${program}'`,
    `"${program}"`,
    `${head}'${tail}'`,
    `'${head}'"${tail}"`,
    `${head}""'${tail}'`,
  ]);
}

function randomWord(random: RandomSource): string {
  const kind = random.next();
  if (kind < 0.04) return random.pick(doubtfulWords);
  const word = random.pick(kind < 0.5 ? plainWords : quotedWords);
  return random.chance(0.2) ? `${word}${random.pick(kind < 0.5 ? quotedWords : plainWords)}` : word;
}

function randomRedirection(random: RandomSource): string {
  const file = random.pick(['f', 'g', "'h i'", 'a1', '1', '"j"', '/dev/null', '$x', 'f*', '&1', '&-', '&2']);
  return `${random.pick(['', '', '2', '1', '12', '{n}'])}${random.pick(['>', '>>', '>|', '<', '<>', '> ', '>>'])}${file}`;
}
