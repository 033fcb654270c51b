// The programs that are known to only read, each with the options with which that is so: they write no file,
// start no program, send nothing and tell nothing of the environment. The options are those of the programs of
// Debian; what other systems mean by the same letter is left out where it differs in effect. INVARIANT: an
// option that is not in a table is not known.

import { isPlainAwk, isPlainJq, isPlainSed, isPlainYq } from './filters.ts';
import { type Arguments, type ArgumentTable, argumentReader, hasOption } from './options.ts';

/**
 * Returns the files that are named to be read, as written; null when the arguments are not known to only read.
 * A folder whose files are read stands with `/**` behind it, and with `/**` `/.*` where hidden ones are.
 */
export type PlainReader = (args: readonly string[]) => readonly string[] | null;

interface PlainProgram extends ArgumentTable {
  /** What the operands are: files, texts that name none, or as many texts as the number and then files. */
  readonly operands?: 'files' | 'texts' | 'none' | number;
  /** Operands have this form. */
  readonly operandForm?: RegExp;
  /** What else is read, given the operands that are files. */
  readonly reads?: (args: Arguments, files: readonly string[]) => readonly string[];
}

function plain(table: PlainProgram): PlainReader {
  const read = argumentReader(table);
  return (args) => {
    const parsedArgs = read(args);
    if (parsedArgs === null) return null;
    const { operands, named } = parsedArgs;
    const form = table.operandForm;
    if (form !== undefined && !operands.every((operand) => form.test(operand))) return null;
    const files = filesAmong(operands, table.operands ?? 'files');
    if (files === null) return null;
    return [...files, ...named, ...(table.reads?.(parsedArgs, files) ?? [])];
  };
}

function filesAmong(
  operands: readonly string[],
  kind: NonNullable<PlainProgram['operands']>,
): readonly string[] | null {
  if (kind === 'none' && operands.length > 0) return null;
  if (kind === 'none' || kind === 'texts') return [];
  return operands.slice(kind === 'files' ? 0 : kind).filter((operand) => operand !== '-');
}

/** All arguments have this form, and none names a file. */
function only(form: RegExp): PlainReader {
  return (args) => (args.every((arg) => form.test(arg)) ? [] : null);
}

const nothing: PlainReader = () => [];

/** What a walk through folders reads: every file, or only those that are not hidden. */
export function foldersRead(folders: readonly string[], isHiddenRead: boolean): readonly string[] {
  const from = folders.length === 0 ? ['.'] : folders;
  return from.flatMap((folder) => {
    const path = folder.replace(/\/+$/, '');
    return isHiddenRead ? [`${path}/**`, `${path}/**/.*`] : [`${path}/**`];
  });
}

function walkedIfAny(folders: readonly string[]): readonly string[] {
  return folders.length === 0 ? [] : foldersRead(folders, true);
}

/** Options of grep; `-r` walks through hidden files as well. */
const grep = plain({
  short: 'EFGPiynvwxclLqsbHhoaIUzTrRe:m:A:B:C:f:d:D:',
  long: `extended-regexp fixed-strings basic-regexp perl-regexp ignore-case no-ignore-case line-number invert-match
    word-regexp line-regexp count files-with-matches files-without-match quiet silent no-messages byte-offset
    with-filename no-filename only-matching text null null-data initial-tab recursive dereference-recursive
    line-buffered color:: colour:: regexp: max-count: after-context: before-context: context: include: exclude:
    exclude-dir: file: version help`,
  also: /^-\d+$/,
  files: 'f file include',
  operands: 'texts',
  holds: (args) => patternsOf(args) <= args.operands.length && !hasOption(args, 'd', 'D'),
  reads: (args) => {
    const files = args.operands.slice(patternsOf(args)).filter((file) => file !== '-');
    const isWalk = hasOption(args, 'r', 'R', 'recursive', 'dereference-recursive');
    return isWalk ? [...files, ...foldersRead(files, true)] : files;
  },
});

/** How many of the operands of grep are patterns. */
function patternsOf(args: Arguments): number {
  return hasOption(args, 'e', 'f', 'regexp', 'file', 'version', 'help', 'V') ? 0 : 1;
}

/** A glob that could choose hidden files, which are left out otherwise. */
const hiddenGlob = /(?:^|[/,{[])\.|^[[*?{]/;

const ripgrep = plain({
  short: 'acFHiIlLnNopqsSUvwxPuh.0V_e:f:A:B:C:m:g:t:T:d:r:j:M:E:',
  long: `files hidden no-hidden no-ignore no-ignore-vcs no-ignore-parent no-ignore-global no-ignore-dot line-number
    no-line-number count count-matches json stats multiline multiline-dotall fixed-strings ignore-case smart-case
    case-sensitive word-regexp line-regexp files-with-matches files-without-match no-heading heading vimgrep
    type-list only-matching invert-match with-filename no-filename pcre2 text quiet trim passthru column no-column
    null null-data unrestricted follow one-file-system no-messages no-config pretty crlf sort: sortr: color: colors:
    type: type-not: glob: iglob: max-count: max-depth: context: after-context: before-context: regexp: file:
    max-columns: max-filesize: replace: threads: encoding: engine: context-separator: version help`,
  files: 'f file g glob iglob',
  operands: 'texts',
  reads: (args) => {
    const patterns = hasOption(args, 'e', 'f', 'regexp', 'file', 'files', 'type-list', 'version', 'V')
      ? 0
      : 1;
    const files = args.operands.slice(patterns).filter((file) => file !== '-');
    const isHiddenRead =
      hasOption(args, 'hidden', '.', 'u', 'unrestricted') ||
      args.options.some(({ name, value }) => /^(?:g|i?glob)$/.test(name) && hiddenGlob.test(value ?? '.'));
    return hasOption(args, 'files', 'type-list') ? files : [...files, ...foldersRead(files, isHiddenRead)];
  },
});

const findWord =
  /^-(?:i?name|i?path|i?wholename|i?regex|regextype|x?type|maxdepth|mindepth|size|[acm]time|[acm]min|a?newer|cnewer|newer[aBcm][aBcmt]|not|or?|a|and|print0?|printf|ls|prune|empty|perm|user|group|uid|gid|nouser|nogroup|readable|writable|executable|depth|d|xdev|mount|daystart|true|false|quit|links|inum|samefile|follow|noleaf|used|i?lname|[HLP])$/;
const findSign = /^(?:[()!,]|[-+]?\d+[bcwkMG]?)$/;

/** find names files and reads none; its arguments are tests, all of them known. */
function find(args: readonly string[]): readonly string[] | null {
  const at = args.findIndex((arg) => (arg.startsWith('-') && !/^-[HLP]$/.test(arg)) || /^[()!,]$/.test(arg));
  const isKnown = args
    .slice(at < 0 ? args.length : at)
    .every((arg) => !arg.startsWith('-') || findWord.test(arg) || findSign.test(arg));
  if (args.length === 1 && /^-{1,2}(?:version|help)$/.test(args[0]!)) return [];
  return isKnown ? args.slice(0, at < 0 ? args.length : at).filter((arg) => !arg.startsWith('-')) : null;
}

/** sed with scripts that only edit; options stand before the script, as every sed has it. */
const sed = plain({
  short: 'nEruszle:',
  long: 'quiet silent regexp-extended separate unbuffered null-data expression: sandbox posix debug version help',
  isLeading: true,
  operands: 'texts',
  holds: (args) => sedScripts(args).every(isPlainSed) && !hasOption(args, 'l'),
  reads: (args) => args.operands.slice(hasOption(args, 'e', 'expression', 'version', 'help') ? 0 : 1),
});

function sedScripts({ options, operands }: Arguments): readonly string[] {
  const written = options.flatMap(({ name, value }) => (/^e(?:xpression)?$/.test(name) ? [value ?? ''] : []));
  return written.length > 0 ? written : operands.slice(0, 1);
}

const awk = plain({
  short: 'F:v:',
  isLeading: true,
  operands: 'texts',
  holds: ({ options, operands }) =>
    operands.length > 0 &&
    isPlainAwk(operands[0]!) &&
    options.every(({ name, value }) => name !== 'v' || /^[a-z_]\w*=[^\\]*$/i.test(value ?? '')),
  reads: ({ operands }) => operands.slice(1).filter((operand) => operand !== '-'),
});

const jqWithoutVariables = plain({
  short: 'rcsenSMCajR',
  long: `raw-output compact-output slurp exit-status null-input sort-keys monochrome-output color-output ascii-output
    join-output raw-input tab stream seq version help`,
  operands: 1,
  holds: ({ operands }) => operands.slice(0, 1).every(isPlainJq),
});

/** `--arg name value` takes two words, whatever they are. */
function jq(args: readonly string[]): readonly string[] | null {
  const rest: string[] = [];
  for (let at = 0; at < args.length; at += 1) {
    if (args[at] === '--') return null;
    if (!/^--arg(?:json)?$/.test(args[at]!)) rest.push(args[at]!);
    else if (at + 2 < args.length && /^\w+$/.test(args[at + 1]!)) at += 2;
    else return null;
  }
  return jqWithoutVariables(rest);
}

const yq = plain({
  short: 'rMC',
  long: 'unwrapScalar no-colors version help',
  isLeading: true,
  operands: 1,
  holds: ({ operands }) => operands.slice(0, 1).every(isPlainYq),
});

/** `ps` shows environments with a letter `e` without a dash, and with columns of that name. */
function ps(args: readonly string[]): readonly string[] | null {
  for (let at = 0; at < args.length; at += 1) {
    const arg = args[at]!;
    if (psWithValue.test(arg)) {
      at += 1;
      if (!/^[\w%][\w,%.:=+-]*$/.test(args[at] ?? '') || /env/i.test(args[at] ?? '')) return null;
    } else if (!psWord.test(arg)) return null;
  }
  return [];
}

const psWithValue = /^(?:-(?:e|ef|A|f|a|l)?[opuCg]|a?x?o|a?xo|axwwo)$/;
const psWord =
  /^(?:-(?:e|A|ef|eF|el|elf|efl|efH|efww|efwww|eLf|eH|[AfFlHTLwjNd]+)|[aufxwjlsvhnrSTLH]+|\d+|-{2}(?:forest|no-headers|headers|sort=[\w,%+-]+|ppid=?\d*|version))$/;

/** `tar` lists; a name with a colon is on another machine. */
function tar(args: readonly string[]): readonly string[] | null {
  if (args.length === 1 && args[0] === '--version') return [];
  const [what = '', archive = '', ...members] = args;
  if (!/^-?(?:tv{0,2}[zjJ]?v?f|[zjJ]tv?f)$/.test(what) || !/^[^-:][^:]*$/.test(archive)) return null;
  return members.every((member) => !member.startsWith('-')) ? [archive] : null;
}

/** Programs of binutils take options from a file that is named behind an `@`. */
function binutils(table: PlainProgram): PlainReader {
  const reader = plain(table);
  return (args) => (args.some((arg) => arg.startsWith('@')) ? null : reader(args));
}

/** The first words choose what a program does; options and operands behind them have this form. */
function words(choices: Readonly<Record<string, RegExp>>): PlainReader {
  return (args) => {
    for (const [choice, form] of Object.entries(choices)) {
      const chosen = choice.split(' ');
      if (!chosen.every((word, at) => args[at] === word)) continue;
      return args.slice(chosen.length).every((arg) => form.test(arg)) ? [] : null;
    }
    return null;
  };
}

/** Programs that tell their version or their options and exit, whatever lies in the folder. */
const versioned: readonly string[] =
  `clang cmake curl docker gcc java javac make node npm npx perl php pip pip3 python python3 ruby sqlite3
  tsc gawk make rsync ssh psql g++ cc ld`.split(/\s+/);

const npmOption =
  /^(?:--(?:depth(?:=\d+)?|json|all|prod|production|dev|long|parseable|global|omit=[a-z]+)|-[alg]|@?[a-z0-9][\w./@-]*|\d+)$/i;

const tables = {
  'ls dir vdir': plain({
    short: '1AaBbCcdFfGghHiklLmNnopqQrRSstTuUvxXZI:w:',
    long: `all almost-all author escape classify:: directory dired file-type full-time group-directories-first
      no-group human-readable si inode kibibytes dereference numeric-uid-gid literal indicator-style: hide: ignore:
      quote-name quoting-style: reverse recursive size sort: time: time-style: color:: hyperlink:: zero context
      width: version help`,
  }),
  cat: plain({
    short: 'AbEensTtuv',
    long: 'number number-nonblank show-all show-ends show-tabs show-nonprinting squeeze-blank version help',
  }),
  tac: plain({ long: 'version help' }),
  nl: plain({ short: 'b:h:f:w:d:i:l:n:s:v:p', long: 'body-numbering: version help' }),
  'head tail': plain({
    short: 'n:c:qvz',
    long: 'lines: bytes: quiet silent verbose zero-terminated version help',
    also: /^-\d+[ck]?$/,
  }),
  wc: plain({ short: 'clmwL', long: 'bytes chars lines words max-line-length total: version help' }),
  sort: plain({
    short: 'bdfghiMnRrsuVzcCmk:t:S:',
    long: `reverse unique numeric-sort human-numeric-sort version-sort ignore-case ignore-leading-blanks
      dictionary-order general-numeric-sort month-sort stable zero-terminated check:: merge key: field-separator: sort:
      debug version help`,
  }),
  uniq: plain({
    short: 'cdDiuzf:s:w:',
    long: 'count repeated unique ignore-case all-repeated:: skip-fields: skip-chars: check-chars: zero-terminated version help',
    isLeading: true,
    operandsMax: 1,
  }),
  cut: plain({
    short: 'b:c:d:f:ns',
    long: 'bytes: characters: fields: delimiter: output-delimiter: complement only-delimited version help',
  }),
  tr: plain({
    short: 'cCdst',
    long: 'complement delete squeeze-repeats truncate-set1 version help',
    operands: 'texts',
    isLeading: true,
  }),
  paste: plain({ short: 'd:sz', long: 'delimiters: serial zero-terminated version help' }),
  'fold fmt': plain({
    short: 'bsctuw:',
    long: 'bytes spaces width: uniform-spacing version help',
    also: /^-\d+$/,
  }),
  pr: plain({
    short: 'adFfmnrTtvl:w:W:h:',
    long: 'omit-header length: width: header: version help',
    also: /^[-+]\d+$/,
  }),
  comm: plain({ short: '123z', long: 'output-delimiter: total check-order nocheck-order version help' }),
  join: plain({
    short: 'a:e:ij:o:t:v:1:2:z',
    long: 'ignore-case header check-order nocheck-order version help',
  }),
  'expand unexpand': plain({ short: 'it:a', long: 'initial tabs: all first-only version help' }),
  column: plain({
    short: 'tnxJes:o:c:N:R:H:W:E:T:',
    long: 'table separator: output-separator: json table-columns: table-right: table-hide: version help',
  }),
  'od hexdump hd': plain({
    short: 'abcCdovxsA:t:j:N:w::n:',
    long: 'address-radix: format: skip-bytes: read-bytes: canonical output-duplicates version help',
    holds: ({ options }) => !options.some(({ name }) => name === 'format'),
  }),
  xxd: plain({ also: /^-(?:[abeiuCp]|[lscg]\d+)$/, isLeading: true, operandsMax: 1 }),
  'md5sum sha1sum sha224sum sha256sum sha384sum sha512sum b2sum cksum sum': plain({
    short: 'btzrsl:',
    long: 'binary text tag zero algorithm: length: version help',
  }),
  'base64 base32': plain({ short: 'diw:', long: 'decode ignore-garbage wrap: version help', operandsMax: 1 }),
  basename: plain({ short: 'as:z', long: 'multiple suffix: zero version help', operands: 'texts' }),
  dirname: plain({ short: 'z', long: 'zero version help', operands: 'texts' }),
  'realpath readlink': plain({
    short: 'efmnqsvzLPs',
    long: `canonicalize canonicalize-existing canonicalize-missing no-newline relative-to: relative-base: strip
      no-symlinks quiet zero version help`,
    files: 'relative-to relative-base',
  }),
  stat: plain({ short: 'Lftc:', long: 'format: printf: dereference file-system terse version help' }),
  'du df': plain({
    short: 'achHiklmPsSTxd:t:B:',
    long: `all total human-readable si inodes summarize apparent-size max-depth: threshold: block-size: exclude:
      one-file-system dereference separate-dirs time:: local type: exclude-type: print-type portability output:: version
      help`,
  }),
  date: plain({
    short: 'uRI::d:r:',
    long: 'utc universal rfc-email iso-8601:: rfc-3339: date: reference: version help',
    files: 'r reference',
    operands: 'texts',
    operandForm: /^\+/,
    operandsMax: 1,
  }),
  uname: plain({
    short: 'asnrvmpio',
    long: 'all kernel-name kernel-release machine version help',
    operands: 'none',
  }),
  hostname: plain({ short: 'fsIiAd', long: 'fqdn short all-ip-addresses version help', operands: 'none' }),
  'id groups': plain({
    short: 'ugnGrz',
    long: 'user group groups name real version help',
    operands: 'texts',
  }),
  'who w users uptime': plain({
    short: 'abHhlmqrsuTtp',
    long: 'all heading count pretty since short no-header version help',
    operands: 'none',
  }),
  free: plain({
    short: 'bkmghtwlv',
    long: 'bytes kibi mebi gibi human total wide si version help',
    operands: 'none',
  }),
  'whoami tty pwd logname hostid arch': plain({
    short: 'sLP',
    long: 'silent quiet logical physical version help',
    operands: 'none',
  }),
  'lscpu lsblk lsmod locale nproc cal ncal': plain({
    short: 'aeJpfmlSnoytw1',
    long: 'all json fs output-all extended:: ignore: version help',
    operands: 'texts',
    operandsMax: 2,
    operandForm: /^[A-Za-z0-9_]+$/,
  }),
  'echo expr factor false true : seq sleep break continue exit return wait jobs shift': nothing,
  // Some shells set a variable for `%n`.
  printf: only(/^(?:[^-%]|%(?![^%a-zA-Z]*n)|-\d)(?:[^%]|%(?![^%a-zA-Z]*n))*$|^$/),
  'test [': only(/^(?!-)|^-(?:[a-zA-Z]|eq|ne|lt|le|gt|ge|nt|ot|ef|\d+)?$/),
  umask: plain({ short: 'S', operands: 'none' }),
  ulimit: only(/^-[HS]?[acdflmnpstuv]$/),
  numfmt: plain({
    short: 'd:z',
    long: 'from: to: from-unit: to-unit: padding: field: header:: suffix: format: round: grouping delimiter: version help',
    operands: 'texts',
  }),
  tsort: plain({ long: 'version help' }),
  'rev look': plain({ long: 'version help' }),
  shuf: plain({
    short: 'ezn:i:r',
    long: 'echo head-count: input-range: repeat zero-terminated version help',
  }),
  tree: plain({
    short: 'aAdDfFghiIlnNpqrsStuUvxCL:P:I:',
    long: `dirsfirst gitignore noreport prune matchdirs ignore-case du si sort: sort:: filelimit: timefmt: inodes
      device charset: metafirst version help`,
    also: /^-L\d+$/,
    isLeading: false,
  }),
  file: plain({
    short: 'biLhkrN0',
    long: 'brief mime mime-type mime-encoding extension dereference no-dereference keep-going raw no-pad version help',
  }),
  'which type': plain({ short: 'apPft', long: 'all', operands: 'texts' }),
  cmp: plain({
    short: 'bli:n:s',
    long: 'print-bytes verbose quiet silent ignore-initial: bytes: version help',
  }),
  diff: plain({
    short: 'abBdEiNpqrsTtuwyZeU::C::x:I:F:W:c',
    long: `brief recursive side-by-side unified:: context:: color:: ignore-case ignore-all-space ignore-space-change
      ignore-blank-lines ignore-trailing-space ignore-tab-expansion ignore-matching-lines: exclude: new-file text
      report-identical-files suppress-common-lines minimal expand-tabs width: strip-trailing-cr no-dereference
      show-c-function left-column speed-large-files version help`,
    // Without `-r`, the files right within two folders are compared as well.
    reads: (args, files) => {
      const isWalk = hasOption(args, 'r', 'recursive', 'N', 'new-file');
      return walkedIfAny(isWalk ? files : files.filter((file) => !/\.[^./]+$/.test(file)));
    },
  }),
  'grep egrep fgrep': grep,
  rg: ripgrep,
  'fd fdfind': plain({
    short: 'HIFgipa0sLu1d:e:t:E:S:',
    long: `hidden no-ignore no-ignore-vcs glob full-path case-sensitive ignore-case fixed-strings absolute-path follow
      print0 unrestricted type: extension: max-depth: min-depth: exact-depth: exclude: size: changed-within:
      changed-before: max-results: color: regex and: version help`,
    operands: 1,
  }),
  find,
  sed,
  'awk gawk mawk nawk': awk,
  jq,
  yq,
  ps,
  pgrep: plain({
    short: 'aflxnocviu:U:P:g:t:d:',
    long: 'list-name list-full full exact newest oldest count',
    operands: 'texts',
  }),
  pidof: plain({ short: 'scqx', operands: 'texts' }),
  ss: plain({ short: 'tulnpas46', operands: 'none' }),
  netstat: plain({ short: 'tulnpares', operands: 'none' }),
  ip: only(
    /^(?:a|addr|address|r|route|l|link|n|neigh|show|list|ls|dev|lo|eth\d|-(?:br|brief|[46cos]|j|json|c|color))$/,
  ),
  tar,
  strings: binutils({
    short: 'afn:t:e:wd',
    long: 'all bytes: radix: encoding: print-file-name version help',
    also: /^-\d+$/,
  }),
  nm: binutils({
    short: 'aACDgnoprSuv',
    long: 'debug-syms print-file-name demangle dynamic extern-only numeric-sort defined-only undefined-only size-sort print-size version help',
  }),
  objdump: binutils({
    short: 'adfhpxtTCj:M:rRs',
    long: 'archive-headers disassemble disassemble-all file-headers section-headers headers all-headers syms dynamic-syms demangle reloc full-contents version help',
  }),
  readelf: binutils({
    short: 'aehlSsgtndVArdW',
    long: 'all file-header program-headers sections section-headers segments symbols syms dyn-syms notes relocs dynamic wide version help',
  }),
  size: binutils({ short: 'ABdoxt', long: 'format: totals version help' }),
  'zcat bzcat xzcat zstdcat': plain({ long: 'version help' }),
  'gzip bzip2 xz zstd': plain({
    short: 'dcltvkqf',
    long: 'decompress stdout to-stdout list test verbose keep quiet version help',
    holds: (args) =>
      // Where several say what to do, the last one counts for some of them.
      hasOption(args, 'd', 'decompress')
        ? hasOption(args, 'c', 'stdout', 'to-stdout')
        : hasOption(args, 'l', 'list', 't', 'test', 'version', 'help'),
  }),
  zipinfo: plain({ short: '1slmhtT' }),
  unzip: plain({ short: 'lvqZ1', holds: (args) => hasOption(args, 'l', 'Z'), isLeading: true }),
  npm: words({
    ls: npmOption,
    list: npmOption,
    ll: npmOption,
    la: npmOption,
    prefix: npmOption,
    root: npmOption,
    why: npmOption,
    explain: npmOption,
    'pkg get': npmOption,
    '--version': /^$/,
    '-v': /^$/,
  }),
  'pip pip3': words({
    list: /^--(?:format=[a-z]+|local|user|not-required)$/,
    show: /^(?!-)|^-f$|^--files$/,
    '--version': /^$/,
    '-V': /^$/,
  }),
  docker: words({
    ps: /^(?:-[anqsl]+|--(?:all|no-trunc|quiet|latest|size|format(?:=.*)?|filter=.*)|[a-z]+|\{\{.*)$/,
    images: /^(?:-[aq]+|--(?:all|no-trunc|quiet|digests|format(?:=.*)?|filter=.*)|[a-z0-9][\w./:-]*|\{\{.*)$/,
    version: /^--format(?:=.*)?$/,
    '--version': /^$/,
    '-v': /^$/,
  }),
} satisfies Record<string, PlainReader>;

const readers: ReadonlyMap<string, PlainReader> = new Map(
  Object.entries<PlainReader>(tables).flatMap(([names, reader]) =>
    names.split(' ').map((name): [string, PlainReader] => [name, reader]),
  ),
);

/** Ways to ask for the version, of programs that do nothing else then. */
const versionWays: Readonly<Record<string, readonly string[]>> = {
  java: ['-version', '--version'],
  node: ['--version', '-v'],
  perl: ['-v', '--version'],
  php: ['-v', '--version'],
  ruby: ['-v', '--version'],
  ssh: ['-V'],
  tsc: ['--version', '-v'],
  python: ['--version', '-V'],
  python3: ['--version', '-V'],
  make: ['--version', '-v'],
};

/**
 * Returns the files that a program reads; null when it is not known to only read. For git, see git.ts; for
 * programs that start others, wrappers.ts.
 */
export function filesReadBy(program: string, args: readonly string[]): readonly string[] | null {
  if (args.length === 1 && versioned.includes(program)) {
    const ways = versionWays[program] ?? ['--version'];
    if (ways.includes(args[0]!)) return [];
  }
  return readers.get(program)?.(args) ?? null;
}

/** The programs that are known to only read, for those who try them. */
export const plainPrograms: readonly string[] = [...readers.keys()];
