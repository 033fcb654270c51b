// The rules of the code base as tests: which folders may import which, which are pure, how functions and names
// look. The table of folders is read from docs/ARCHITECTURE.md. The rules may only get stricter.

import { globSync, readFileSync } from 'node:fs';
import { describe, expect, it, test } from 'vitest';
import { betweenFolders, circleIn, codeOf, files, imports, inside, textOf } from './support/sources.ts';

const architecture = readFileSync('docs/ARCHITECTURE.md', 'utf8');

/** The rows of the table that follows a head of columns. */
function table(head: string): readonly (readonly string[])[] {
  const [, after = ''] = architecture.split(`${head}\n`);
  return after
    .split('\n\n')[0]!
    .split('\n')
    .slice(1)
    .map((row) => row.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim()));
}

/** For each folder, the other folders that it may import. */
const mayImport: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  table('| folder | what it does | may import |').map(([folder = '', , others = '']) => [
    folder.replaceAll('`', ''),
    others.split(', ').filter((other) => other !== ''),
  ]),
);

/** For each package, the folders that may import it; other packages may not be imported at all. */
const mayKnow: readonly (readonly [packages: readonly string[], folders: readonly string[]])[] = table(
  '| package | what it replaces | may be imported by |',
).map(([packages = '', , folders = '']) => [packages.split(', '), folders.split(', ')]);

/** Parts of `src` whose folders each have a row. */
const wings = ['language', 'reasoning', 'service', 'packaging', 'site'];
const longFunctionsMax = 12;

/** Words of the glossary, each with other words for the same thing. */
const otherWords: readonly (readonly [word: string, others: RegExp])[] = [
  ['active policies', /\bin(to)?\s(\W*\s)?force\b|in-force|inForce|\b(current|live|enforced) policies\b/i],
  ['approval group', /approver groups?\b|groups? of approvers/i],
  ['enforcement point', /\bPEP\b|\benforcers?\b/],
];

/** Names of types that end like participles and are nouns. */
const nounsLikeParticiples = ['Feed', 'Finding', 'Heading', 'Metering', 'Renaming', 'Setting', 'Token'];

/** Irregular participles, adverbs, adjectives and verbs that were names of types; the rule adds -ed, -ing, -en. */
const notNouns = (
  'About Above Accepts Again Ahead Any Apart Around Asks At Away Bare Begun Beside Between Binary Both By ' +
  'Contextual Drawn Eager Earlier Else Extra First Found From Get Got Has Heard Held Here How Invalid Kept ' +
  'Known Left Like Live Longest Loose Lost Made Maybe Meant Meanwhile More Most Must Next Now Numeric Open ' +
  'Optional Other Over Own Plain Put Ran Random Reachable Readable Right Runnable Said Say Seen Sent Shorter ' +
  'Shown Slow Sought Spent Stateless Together Told Unary Understood Unknown Unreachable Whole Why Wrong'
).split(' ');

/** The folder of a file, such as `service/store`; files directly in `src` stand for themselves. */
function folderOf(file: string): string {
  const [top = '', wing = '', folder = ''] = file.split('/');
  if (top === 'grammar') return 'grammar';
  return wings.includes(wing) ? `${wing}/${folder.replace(/\.ts$/, '')}` : wing.replace(/\.ts$/, '');
}

function isPure(file: string): boolean {
  const isOfWing = /^src\/(language|reasoning|service\/meters|analysis\/(?:replay\/engine|infer))\//.test(
    file,
  );
  return isOfWing || file === 'src/pipeline.ts';
}

/** The platform functions that the pure folders use: SHA-256, and whether bytes are UTF-8. */
const ofPlatform = ['src/pipeline.ts node:crypto', 'src/language/json/read-json.ts node:buffer'];

describe('the house', () => {
  it('has no folder that the table does not name, and none that is not there', () => {
    expect(Object.keys(mayImport).toSorted()).toEqual([...new Set(files.map(folderOf))].toSorted());
  });

  it('imports only as the table says', () => {
    const strangers = inside
      .map(({ from, to }) => ({ from, folder: folderOf(from), to: folderOf(to) }))
      .filter(({ folder, to }) => folder !== to && mayImport[folder]?.join() !== 'any')
      .filter(({ folder, to }) => !mayImport[folder]?.includes(to));
    expect(strangers).toEqual([]);
  });

  it('says of no folder that it may import what it does not', () => {
    const used = new Set(inside.map(({ from, to }) => `${folderOf(from)} ${folderOf(to)}`));
    const idle = Object.entries(mayImport).flatMap(([folder, others]) =>
      others
        .filter((other) => other !== 'any' && !used.has(`${folder} ${other}`))
        .map((other) => [folder, other]),
    );
    expect(idle).toEqual([]);
  });

  it('imports only from folders above in the table', () => {
    const order = Object.keys(mayImport);
    const below = Object.entries(mayImport).flatMap(([folder, others]) =>
      others.filter((other) => order.indexOf(other) > order.indexOf(folder)).map((other) => [folder, other]),
    );
    expect(below).toEqual([]);
  });

  it('lets each package be known where the table says', () => {
    const strangers = imports
      .filter(({ to, isPackage }) => isPackage && !to.startsWith('node:'))
      .filter(({ from, to }) => {
        const row = mayKnow.find(([packages]) => packages.some((one) => isOf(packageOf(to), one)));
        return row?.[1].includes(folderOf(from)) !== true;
      });
    expect(strangers).toEqual([]);
  });

  it('keeps language and reasoning pure', () => {
    const impure = imports.filter(
      ({ from, to }) => isPure(from) && to.startsWith('node:') && !ofPlatform.includes(`${from} ${to}`),
    );
    expect(impure).toEqual([]);
    const ambient = /\b(Date\.now|Math\.random|process\.|new Date\(\))/;
    expect(files.filter((file) => isPure(file) && ambient.test(textOf(file)))).toEqual([]);
  });

  it('makes functions from text in one file', () => {
    expect(files.filter((file) => /new Function|\beval\(/.test(codeOf(file)))).toEqual([
      'src/language/emit/run.ts',
    ]);
  });

  it('has no file that needs itself', () => {
    const values = inside.filter(({ isType, isLater }) => !isType && !isLater);
    expect(circleIn(values.map(({ from, to }) => [from, to] as const))).toBeNull();
  });

  it('has no two folders that need each other, be it for types', () => {
    expect(circleIn(betweenFolders(inside.filter(({ isLater }) => !isLater)))).toBeNull();
  });

  it('finds circles', () => {
    const edges = ['ab', 'bc', 'cb'].map(([from = '', to = '']) => [from, to] as const);
    expect(circleIn(edges)).toEqual(['b', 'c', 'b']);
    expect(inside.length).toBeGreaterThan(2_000);
  });

  it('writes fields out where they are, and spreads no literal', () => {
    const all = [...files, ...globSync('{test,bench}/**/*.{ts,tsx}', { exclude: ['**/node_modules/**'] })];
    expect(all.filter((file) => readFileSync(file, 'utf8').includes(`...${'{'}`))).toEqual([]);
  });

  it(`has at most ${longFunctionsMax} functions over 80 lines, each with its reason`, () => {
    const rule = 'biome-ignore lint/complexity/noExcessiveLinesPerFunction';
    const long = files.flatMap((file) =>
      textOf(file)
        .split('\n')
        .filter((line) => line.includes(rule)),
    );
    expect(long.length).toBeLessThanOrEqual(longFunctionsMax);
    expect(long.filter((line) => !/: .{20,}$/.test(line))).toEqual([]);
  });

  it('opens each file with what it is', () => {
    expect(files.filter((file) => !/^(#!.*\n)?\s*(\/\/|\/\*\*)/.test(textOf(file)))).toEqual([]);
  });

  it('names no folder after nothing', () => {
    expect(files.filter((file) => /\/(utils?|common|helpers?|types|misc)\//.test(file))).toEqual([]);
  });

  it('spreads no sentence over two declarations', () => {
    const isPart = /^\s*\/\*\* (?:and|or|but|nor|unless|of which|against which)\b|[,;] \*\/$/m;
    expect(files.filter((file) => isPart.test(textOf(file)))).toEqual([]);
  });

  it.each(otherWords)('says %s, and no other word for it', (_, others) => {
    const pages = globSync(['README.md', 'docs/**/*.md']).map((file) => [file, readFileSync(file, 'utf8')]);
    const all = [...files.map((file) => [file, textOf(file)]), ...pages];
    expect(all.flatMap(([file, text = '']) => (others.test(text) ? [file] : []))).toEqual([]);
  });

  it('names types with nouns', () => {
    const sources = [...files, ...globSync('integrations/**/*.ts', { exclude: ['**/node_modules/**'] })];
    const form = /^export (?:declare )?(?:abstract )?(?:interface|type|class) ([A-Z][a-z0-9]*)\b/gm;
    const names = sources.flatMap((file) =>
      [...readFileSync(file, 'utf8').matchAll(form)].map(([, name = '']) => [file, name] as const),
    );
    const isNoun = (name: string): boolean =>
      nounsLikeParticiples.includes(name) || !(/(?:ed|ing|en)$/.test(name) || notNouns.includes(name));
    expect(names.length).toBeGreaterThan(300);
    expect(names.filter(([, name]) => !isNoun(name))).toEqual([]);
  });

  it('exports through one barrel', () => {
    expect(files.filter((file) => file.endsWith('/index.ts'))).toEqual(['src/embedded/index.ts']);
  });
});

/** The paths that docs/ARCHITECTURE.md lists file by file, after the sentence that introduces them. */
function pathAfter(sentence: string): readonly string[] {
  const [, after = ''] = architecture.split(sentence);
  const drawn = /```text\n([^`]*)```/.exec(after)?.[1] ?? '';
  return drawn
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [, before = '', names = '', rest = ''] = /^(.*?)\{?([^/{}]*?)\}?(\.ts)$/.exec(line) ?? [];
      return names.split(',').map((name) => `src/${before}${name}${rest}`);
    });
}

const requestPath = 'To follow a request from socket to disk to reply, open these files';

/** The entry opens the store and hands it to the app; the store starts its writer as a thread. */
const started = ['http/main', 'store/open', 'store/sqlite/writer'].map((name) => `src/service/${name}.ts`);

test.each([
  ['To follow one policy from text to function, open these files', 32, []],
  [requestPath, 24, []],
  // The connection and the writer of an approval are those of a request.
  ['An approval comes over the same connection', 16, pathAfter(requestPath)],
])('%s: few, and each is imported by one before it', (sentence, most, known) => {
  const path = pathAfter(sentence);
  expect(path.length).toBeGreaterThan(3);
  expect(path.length).toBeLessThanOrEqual(most);
  const strangers = path.slice(1).filter((file, at) => {
    const before = new Set([...started, ...known, ...path.slice(0, at + 1)]);
    const isImported = inside.some(({ from, to, isType }) => !isType && to === file && before.has(from));
    return !isImported && !started.includes(file);
  });
  expect(strangers).toEqual([]);
});

test('files that comments and the architecture page name exist', () => {
  const known = globSync('{src,test,grammar,integrations,bench}/**/*.{ts,tsx,sql}', {
    exclude: ['**/node_modules/**'],
  });
  const isThere = (name: string): boolean => known.some((file) => `/${file}`.endsWith(`/${name}`));
  const comments = files.flatMap((file) =>
    [...readFileSync(file, 'utf8').matchAll(/^\s*(?:\/\/|\*|\/\*\*) .*$/gm)].map(
      ([line]) => [file, line] as const,
    ),
  );
  const page = architecture
    .split('\n')
    .filter((line) => !line.includes('NAME'))
    .flatMap((line) =>
      [...line.matchAll(/`([^`]*)`/g)].map(([, name = '']) => ['ARCHITECTURE.md', name] as const),
    );
  const missing = [...comments, ...page].flatMap(([where, text]) =>
    [...text.matchAll(/(?<![\w/*.-])((?:[\w-]+\/)*)(?:\{([\w,-]+)\}|([\w-]+))(\.(?:tsx?|sql))\b/g)]
      .flatMap(([, folder = '', several, one, end = '']) =>
        (several ?? one ?? '').split(',').map((name) => `${folder}${name}${end}`),
      )
      .filter((name) => !isThere(name))
      .map((name) => `${where}: ${name}`),
  );
  expect(missing).toEqual([]);
});

/** The name of a package, its scope included, without a path inside it. */
function packageOf(target: string): string {
  return target
    .split('/')
    .slice(0, target.startsWith('@') ? 2 : 1)
    .join('/');
}

/** Whether the package fits the pattern; `@scope/*` stands for all packages of a scope. */
function isOf(name: string, pattern: string): boolean {
  return pattern.endsWith('/*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern;
}
