// Says what git starts because of its arguments, and which of its commands only read. The configuration of a
// repository names programs, too (a pager, a file system monitor, a driver of diffs); that is not seen here.

import { type Arguments, type ArgumentTable, argumentReader, hasOption } from './options.ts';
import { foldersRead } from './plain-programs.ts';

/** Commands that git brings. Any other word is an alias, or a program `git-word`. */
const ownCommands: ReadonlySet<string> = new Set(
  `add am annotate apply archive backfill bisect blame branch bugreport bundle cat-file check-attr check-ignore
  check-mailmap check-ref-format checkout checkout-index cherry cherry-pick clean clone column commit commit-graph
  commit-tree config count-objects describe diagnose diff diff-files diff-index diff-tree fast-export fast-import fetch
  fetch-pack fmt-merge-msg for-each-ref format-patch fsck gc get-tar-commit-id grep hash-object help index-pack init
  init-db log ls-files ls-remote ls-tree mailinfo mailsplit maintenance merge merge-base merge-file merge-index
  merge-tree mktag mktree multi-pack-index mv name-rev notes pack-objects pack-redundant pack-refs patch-id prune
  prune-packed pull push range-diff read-tree rebase reflog refs remote repack replace request-pull rerere reset restore
  rev-list rev-parse revert rm send-pack shortlog show show-branch show-index show-ref sparse-checkout stage stash status
  stripspace submodule switch symbolic-ref tag unpack-file unpack-objects update-index update-ref update-server-info
  upload-pack var verify-commit verify-pack verify-tag version whatchanged worktree write-tree`.split(/\s+/),
);

/** Arguments with which a command runs a program that they name. */
const runningArguments: Readonly<Record<string, RegExp>> = {
  bisect: /^run$/,
  clone: /^-\w*[cu]|^--(?:conf|te)/,
  grep: /^-\w*O/,
  init: /^--te/,
  'init-db': /^--te/,
  'merge-index': /^/,
  rebase: /^-\w*x/,
  submodule: /^foreach$/,
  'upload-pack': /^/,
};

/** Long options that take a command, of several commands of git. */
const commandOptions = ['exec', 'upload-pack', 'receive-pack', 'open-files-in-pager', 'upload-archive'];
const strategies = /^(?:ours|recursive|resolve|octopus|subtree|ort)$/;
/** Commands that take a strategy by `-s`, and those that take it by `--strategy` alone. */
const merging: ReadonlySet<string> = new Set(['merge', 'pull', 'rebase']);
const picking: ReadonlySet<string> = new Set(['cherry-pick', 'revert']);

/** Whether a command of git runs a program that stands in its arguments. */
function commandRunsOthers([command = '', ...args]: readonly string[]): boolean {
  if (command !== '' && !command.startsWith('-') && !ownCommands.has(command)) return true;
  const runs = Object.hasOwn(runningArguments, command) ? runningArguments[command]! : null;
  if ((merging.has(command) || picking.has(command)) && runsStrategy(args, merging.has(command))) return true;
  // The empty argument stands for the command alone.
  return ['', ...args].some((arg) => {
    if (runs?.test(arg) === true || /(?:^|=)ext::/.test(arg)) return true;
    // Git takes the beginning of a long option for the option.
    const [option = ''] = arg.split('=');
    return /^--\w/.test(option) && commandOptions.some((name) => name.startsWith(option.slice(2)));
  });
}

/** Whether a strategy is named that git does not bring: it is a program `git-merge-NAME`. */
function runsStrategy(args: readonly string[], hasShort: boolean): boolean {
  const [joined, separate] = hasShort
    ? [/^(?:-(?!X)[a-z]*?s|--st\w*=)(.+)$/s, /^(?:-(?!X)[a-z]*s|--str\w*)$/]
    : [/^--st\w*=(.+)$/s, /^--str\w*$/];
  return args.some((arg, at) => {
    const named = joined.exec(arg)?.[1] ?? (separate.test(arg) ? args[at + 1] : undefined);
    return named !== undefined && !strategies.test(named);
  });
}

type GitReader = (args: readonly string[]) => readonly string[] | null;

interface GitArguments extends ArgumentTable {
  /** The first operands are texts and no files; -1 stands for all. */
  readonly texts?: number;
  readonly operandsMin?: number;
  readonly reads?: (args: Arguments) => readonly string[];
}

const placeholder =
  /%(?:[-+ ]?(?:[HhTtPpdDSesfbBNm]|[ac][nNeElLdDrtiIsSh]|g[DdsnNeE]|\(trailers(?::[^()]*)?\)|\(decorate\))|n|%|x[0-9a-fA-F]{2}|C(?:red|green|blue|yellow|magenta|cyan|reset|\([a-z0-9 ,#]*\))|w\([\d,]*\)|<\|?\([\w, ]*\)|>>?[<|]?\([\w, ]*\))/g;
const prettyName = /^(?:oneline|short|medium|full|fuller|reference|email|raw|mboxrd)$/;
const refAtom =
  /%(?:%|[0-9a-fA-F]{2}|\(\*?(?:refname|objectname|objecttype|objectsize|HEAD|upstream|push|subject|body|contents:(?:subject|body|lines=\d+)|author|authorname|authoremail|authordate|committer|committername|committeremail|committerdate|creator|creatordate|tagger|taggername|taggeremail|taggerdate|symref|worktreepath|parent|numparent|tree|tag|type|object|color|align|end|if|then|else|ahead-behind)(?::[^()]*)?\))/g;
const sortKey =
  /^-?(?:(?:version|v):)?(?:refname|objectname|objecttype|objectsize|authorname|authordate|committername|committerdate|creator|creatordate|taggername|taggerdate|subject|upstream|HEAD|numparent)(?::[a-z]+)?$/;

/** Formats and orders may have signatures checked, which starts another program. */
function isPlainOption(name: string, value: string | null): boolean {
  if (name === 'sort') return sortKey.test(value ?? '');
  if (name === 'format' && value?.includes('%(') === true)
    return !value.replaceAll(refAtom, '').includes('%');
  if (name !== 'format' && name !== 'pretty') return true;
  if (value === null || prettyName.test(value)) return true;
  return /%|^t?format:/.test(value) && !value.replaceAll(placeholder, '').includes('%');
}

function reading(table: GitArguments): GitReader {
  const read = argumentReader({ isJoined: true, ...table });
  return (args) => {
    const parsedArgs = read(args);
    if (parsedArgs === null) return null;
    const { operands, options, named } = parsedArgs;
    if (operands.length < (table.operandsMin ?? 0)) return null;
    if (!options.every(({ name, value }) => isPlainOption(name, value))) return null;
    const texts = table.texts ?? 0;
    const files = texts < 0 ? [] : operands.slice(texts);
    return [...files, ...named, ...(table.reads?.(parsedArgs) ?? [])].flatMap(placesOf);
  };
}

/** `REV:path`, `:(magic)path` and `:function:path` name a path as well. */
function placesOf(text: string): readonly string[] {
  const behind = text.split(':').slice(1);
  const paths = behind.map((_, at) =>
    behind
      .slice(at)
      .join(':')
      .replace(/^(?:\([^)]*\)|[!^/]+)/, ''),
  );
  return [text, ...paths.filter((path) => path !== '')];
}

const diffLong = `patch no-patch stat:: numstat shortstat dirstat:: summary name-only name-status raw color:: no-color
  color-words:: word-diff:: word-diff-regex: unified: check full-index binary abbrev:: find-renames:: find-copies::
  no-renames break-rewrites:: diff-filter: pickaxe-all pickaxe-regex ignore-all-space ignore-space-change
  ignore-space-at-eol ignore-cr-at-eol ignore-blank-lines ignore-matching-lines: inter-hunk-context: function-context
  exit-code quiet no-ext-diff no-textconv ignore-submodules:: minimal patience histogram diff-algorithm: text
  no-prefix src-prefix: dst-prefix: relative:: compact-summary cc combined-all-paths patch-with-stat color-moved::
  rename-empty no-rename-empty indent-heuristic no-indent-heuristic find-copies-harder irreversible-delete
  cached staged merge-base cumulative`;
const logLong = `oneline graph all decorate:: no-decorate decorate-refs: follow merges no-merges first-parent reverse
  abbrev-commit no-abbrev-commit date: relative-date since: until: after: before: author: committer: grep: all-match
  invert-grep regexp-ignore-case extended-regexp fixed-strings perl-regexp max-count: skip: min-parents: max-parents:
  branches:: tags:: remotes:: glob: exclude: topo-order date-order author-date-order simplify-by-decoration full-history
  ancestry-path:: left-right left-only right-only cherry cherry-mark cherry-pick walk-reflogs boundary source
  pretty:: format: count no-walk:: parents children root notes:: no-notes mailmap no-mailmap use-mailmap
  show-pulls sparse dense simplify-merges encoding: log-size no-commit-id full-diff timestamp objects header
  no-color-moved show-linear-break:: expand-tabs:: no-expand-tabs date-order`;
const history: GitArguments = {
  short: 'pusabwRzcmrtgiEFPM::C::B::U::S:G:L:n:W',
  long: `${diffLong} ${logLong}`,
  also: /^-\d+$/,
  files: 'L',
};

const listing = `list contains:: no-contains:: merged:: no-merged:: points-at:: sort: format: color:: no-color column::
  no-column ignore-case abbrev:: no-abbrev`;

/** A list of references: an operand without one of these options would make a reference. */
function listsReferences(args: Arguments, ...short: readonly string[]): boolean {
  const lists = hasOption(
    args,
    'list',
    'contains',
    'no-contains',
    'merged',
    'no-merged',
    'points-at',
    ...short,
  );
  return args.operands.length === 0 || lists;
}

/** Keys of the configuration that hold neither secrets nor programs. */
const shownKey =
  /^(?:user\.(?:name|email)|init\.defaultbranch|core\.(?:autocrlf|bare|editor|eol|filemode|hookspath|ignorecase|pager|quotepath)|branch\.[\w./-]+\.(?:remote|merge)|pull\.rebase|push\.default)$/i;

const blame = reading({
  short: 'befnstwpclL:M::C::',
  long: `porcelain line-porcelain incremental show-name show-number show-email date: abbrev: root color-lines
    color-by-age first-parent reverse since: minimal`,
});

const readings: Readonly<Record<string, GitReader>> = {
  log: reading(history),
  show: reading(history),
  diff: reading({
    ...history,
    long: `${history.long} no-index`,
    reads: (args) => (hasOption(args, 'no-index') ? foldersRead(args.operands, true) : []),
  }),
  whatchanged: reading(history),
  'rev-list': reading(history),
  'diff-tree': reading(history),
  'diff-index': reading(history),
  'diff-files': reading(history),
  'range-diff': reading({ ...history, long: `${history.long} creation-factor: no-dual-color` }),
  shortlog: reading({ short: 'snecw::', long: `numbered summary email group: committer: ${logLong}` }),
  status: reading({
    short: 'sbvzu::',
    long: `short branch porcelain:: long verbose untracked-files:: ignored:: ignore-submodules:: column:: no-column
      ahead-behind no-ahead-behind show-stash renames no-renames find-renames::`,
  }),
  blame,
  annotate: blame,
  'ls-files': reading({
    short: 'cdmoisuktvfzrx:',
    long: `cached deleted modified others ignored stage unmerged killed directory no-empty-directory exclude:
      exclude-standard full-name error-unmatch abbrev:: eol deduplicate format:`,
    holds: ({ options }) => !options.some(({ name }) => name === 'format'),
  }),
  'ls-tree': reading({
    short: 'drtlz',
    long: 'long name-only name-status full-name full-tree abbrev:: object-only',
  }),
  'rev-parse': reading({
    short: 'q',
    long: `short:: verify quiet abbrev-ref:: symbolic-full-name symbolic show-toplevel show-prefix show-cdup git-dir
      absolute-git-dir git-common-dir is-inside-work-tree is-inside-git-dir is-bare-repository
      is-shallow-repository all branches:: tags:: remotes:: revs-only no-revs flags no-flags show-superproject-working-tree
      show-object-format:: git-path: path-format: since: until: disambiguate:`,
  }),
  describe: reading({
    long: 'all tags always dirty:: exact-match long abbrev: match: exclude: candidates: first-parent contains debug',
  }),
  'cat-file': reading({ short: 'ptse' }),
  'name-rev': reading({ long: 'tags name-only refs: exclude: all no-undefined always' }),
  'count-objects': reading({ short: 'vH', long: 'verbose human-readable', operandsMax: 0 }),
  grep: reading({
    short: 'niIwvhHEGPFlLcoqpWare:A:B:C:m:z',
    long: `line-number ignore-case word-regexp invert-match extended-regexp basic-regexp perl-regexp fixed-strings
      files-with-matches name-only files-without-match count only-matching quiet show-function function-context
      heading break color:: no-color column and or not all-match cached untracked no-index full-name max-depth:
      after-context: before-context: context: max-count: text null`,
    also: /^-\d+$/,
    texts: -1,
    reads: (args) => {
      const places = args.operands.slice(hasOption(args, 'e') ? 0 : 1);
      const isWalk = hasOption(args, 'untracked', 'no-index');
      return isWalk ? [...places, ...foldersRead(places, true)] : places;
    },
  }),
  'show-ref': reading({
    short: 'dqs::',
    long: 'head heads branches tags dereference hash:: verify abbrev:: quiet exists',
    texts: -1,
  }),
  'for-each-ref': reading({ long: `count: exclude: ${listing}`, texts: -1 }),
  'merge-base': reading({ short: 'a', long: 'all octopus independent is-ancestor fork-point', texts: -1 }),
  cherry: reading({ short: 'v', long: 'abbrev::', texts: -1 }),
  'check-ignore': reading({ short: 'qvn', long: 'quiet verbose non-matching no-index' }),
  'check-attr': reading({ short: 'a', long: 'all cached' }),
  'symbolic-ref': reading({ short: 'q', long: 'short quiet', texts: -1, operandsMin: 1, operandsMax: 1 }),
  'ls-remote': () => null,
  branch: reading({
    short: 'avriq',
    long: `all remotes verbose show-current ${listing}`,
    texts: -1,
    holds: (args) => listsReferences(args),
  }),
  tag: reading({ short: 'ln::i', long: listing, texts: -1, holds: (args) => listsReferences(args, 'l') }),
  // With their addresses, remotes tell what stands in them, which may be a token.
  remote: (args) => (args.length === 0 ? [] : null),
  reflog: (args) => {
    const [first = 'show', ...rest] = args;
    if (/^(?:show|list)$/.test(first)) return reading(history)(rest);
    return /^-|^HEAD|^[\w/-]+@\{/.test(first) ? reading(history)(args) : null;
  },
  stash: ([what = '', ...rest]) =>
    what === 'list' || what === 'show'
      ? reading({ ...history, long: `${history.long} include-untracked` })(rest)
      : null,
  worktree: ([what, ...rest]) =>
    what === 'list' ? reading({ short: 'vz', long: 'verbose porcelain', operandsMax: 0 })(rest) : null,
  config: (args) => {
    const rest = args.filter((arg) => !/^--(?:local|global|system)$/.test(arg));
    const isGet = rest[0] === '--get' || rest[0] === 'get';
    return isGet && rest.length === 2 && shownKey.test(rest[1]!) ? [] : null;
  },
  version: (args) => (args.every((arg) => arg === '--build-options') ? [] : null),
};

/** Options before the command of git that name no program, with the number of words that follow. */
const globalOptions: Readonly<Record<string, number>> = {
  '-C': 1,
  '--no-pager': 0,
  '-P': 0,
  '--no-optional-locks': 0,
};

/** The position of the command among the arguments of git; null where another option stands before it. */
export function gitCommandAt(args: readonly string[]): number | null {
  let at = 0;
  while (args[at]?.startsWith('-') === true) {
    if (!Object.hasOwn(globalOptions, args[at]!)) return null;
    at += 1 + globalOptions[args[at]!]!;
  }
  return at > args.length ? null : at;
}

/** Whether git runs a program that its arguments name, or may do so. */
export function gitRunsOthers(args: readonly string[]): boolean {
  if (tellsItself(args)) return false;
  const at = gitCommandAt(args);
  return at === null || commandRunsOthers(args.slice(at));
}

function tellsItself(args: readonly string[]): boolean {
  return args.length === 1 && /^--(?:version|help)$/.test(args[0]!);
}

/** Returns the files that git reads, as `filesReadBy` does. */
export function filesReadByGit(args: readonly string[]): readonly string[] | null {
  if (tellsItself(args)) return [];
  const at = gitCommandAt(args) ?? args.length;
  const command = args[at] ?? '';
  const files = Object.hasOwn(readings, command) ? readings[command]!(args.slice(at + 1)) : null;
  const folders = args.slice(0, at).filter((_, before) => args[before - 1] === '-C');
  return files === null ? null : [...folders, ...files];
}

/** The commands of git that are known to only read, for those who try them. */
export const plainGitCommands: readonly string[] = Object.keys(readings);
