import { expect, test } from 'vitest';
import { shellCommands, whyCommandsUnknown } from '../../../src/language/value/shell/commands.ts';
import { runningArguments } from '../../../src/language/value/shell/runners.ts';
import { shellLineLengthMax } from '../../../src/language/value/shell/tokens.ts';

/** Each command as its words in brackets. */
function told(line: string): string {
  const commands = shellCommands(line);
  if (commands === null) return 'unknown';
  return commands.map(({ program, args }) => `[${[program, ...args].join('|')}]`).join('');
}

test.each([
  ['', ''],
  [' # nothing', ''],
  ['ls -la src', '[ls|-la|src]'],
  [`git log --format='%h %s' "a b" c\\ d`, '[git|log|--format=%h %s|a b|c d]'],
  [`'l's "-l"a ''`, '[ls|-la|]'],
  ['cat a | sort -u && ls || pwd; id &', '[cat|a][sort|-u][ls][pwd][id]'],
  ['cd src\nls # list', '[cd|src][ls]'],
  ['(cd src; ls) >out 2>&1', '[cd|src][ls][>|out]'],
  ['{ ls; } >>out 2>/dev/null', '[ls][>>|out]'],
  ['sort <in >|out 2<>both', '[<|in][>|out][<>|both][sort]'],
  ['A=1 B="x y" ls', '[=|A=1][=|B=x y][ls]'],
  ['if test -f a; then ls; elif id; then cat a; else pwd; fi', '[test|-f|a][ls][id][cat|a][pwd]'],
  ['for i in a b; do ls; done', '[=|i=a][=|i=b][ls]'],
  ['while ls; do id; done', '[ls][id]'],
  ['case a in a|*.c) ls;; (*) id; esac', '[ls][id]'],
  ['! ls', '[ls]'],
  ["cat <<'E' | sort\n$x `id`\nE\nls", '[cat][sort][ls]'],
  ['cat <<-E\n\ta\n\tE\n', '[cat]'],
  ['/usr/bin/ls /bin/ls', '[ls|/bin/ls]'],
  ['./ls', '[./ls]'],
  [
    'env A=1 nice -n 5 timeout 9s ls a',
    '[env|A=1|nice|-n|5|timeout|9s|ls|a][=|A=1][nice|-n|5|timeout|9s|ls|a][timeout|9s|ls|a][ls|a]',
  ],
  [`sh -c 'ls; "$0"'`, 'unknown'],
  [`sh -c "sh -c 'ls a'"`, "[sh|-c|sh -c 'ls a'][sh|-c|ls a][ls|a]"],
  ['find . -name x -print', '[find|.|-name|x|-print]'],
  ['git --no-pager -C src log', '[git|--no-pager|-C|src|log]'],
  ['git submodule --quiet status', '[git|submodule|--quiet|status]'],
  ['git rebase --autostash main', '[git|rebase|--autostash|main]'],
  ['git push -u origin x', '[git|push|-u|origin|x]'],
  ['git log --oneline -x --exclude=a', '[git|log|--oneline|-x|--exclude=a]'],
  ['git grep -n foreach', '[git|grep|-n|foreach]'],
  ['echo \'$(rm x)\' \\$x "\\`"', '[echo|$(rm x)|$x|`]'],
])('%j is known', (line, commands) => {
  expect(told(line)).toBe(commands);
});

test.each(
  [
    ...[
      'ls $x',
      'ls "$x"',
      'ls `id`',
      'ls "$(id)"',
      'ls $((1))',
      'ls ~',
      'ls ~root',
      'A=~ ls',
      'ls *.c',
      'ls a?',
    ],
    ...['ls [ab]', 'ls {a,b}', "ls $'a'", 'l$@s', 'cat$IFS/etc/passwd', `cat\${IFS}a`, '$0', 'ls a\\\nb'],
    ...[
      'ls (',
      ')',
      'ls;;',
      'ls &&',
      '| ls',
      "ls 'a",
      'ls "a',
      'ls \\',
      '{ ls',
      'if ls; fi',
      'ls }; }',
      'fi',
    ],
    ...[
      'f() { ls; }',
      'f () { ls; }',
      'function f { ls; }',
      '[[ -f a ]]',
      '((1))',
      'cat <<<a',
      'cat <(ls)',
      'ls &>a',
    ],
    ...[
      'ls >&a',
      'ls >$x',
      'ls >*',
      'ls 12>a',
      'ls {n}>a',
      'cat <<E\n$x\nE',
      'cat <<E\na',
      'a=(b)',
      'a[0]=b',
      'a+=b',
    ],
    ...[
      'eval ls',
      '. ./a',
      'source a',
      'trap ls 0',
      'alias ls=rm',
      'exec -a b ls',
      'xargs ls',
      'sudo -u a ls',
    ],
    ...[
      'env -S ls',
      'env -C / ls',
      'env ]=a ls',
      'sh a',
      'sh -c ls a',
      'bash -lc ls',
      'zsh -c ls',
      './sh -c ls',
    ],
    ...[
      '/opt/bin/xargs ls',
      'find . -exec ls {} +',
      'find . -okdir ls',
      'git -c core.pager=ls log',
      'ssh a ls',
    ],
    ...[
      'git bisect run ls',
      'git submodule --quiet foreach ls',
      'git submodule foreach --recursive ls',
      'git rebase -x ls main',
      'git rebase -ix ls main',
      'git rebase --exec=ls main',
      'git rebase --exe ls main',
      'git grep -Ols a',
      'git grep --open-files-in-pager=ls a',
      'git clone -u ls a:b',
      'git clone -c core.sshCommand=ls a:b',
      'git fetch --upload-pack=ls a:b',
      'git ls-remote --upload ls a:b',
      'git push --receive-pack=ls a:b',
      'git archive --remote=a:b --exec=ls HEAD',
      "git fetch 'ext::ls a'",
      'git difftool',
      'git filter-branch --tree-filter ls',
      'git send-email --smtp-server=/bin/ls a',
      'set a b',
      'set -o posix',
      "test -v 'a[$(ls)]'",
      "printf -v 'a[$(ls)]' b",
      'declare -i a=b',
    ],
    ...[
      'ls\r',
      'ls \u0000',
      'ls \u00a0a',
      'ls \ud800',
      '(ls; time)',
      'ls<#a',
      'ls > #a',
      'ls <1>a',
      'ls 1<12>a',
      'time -o a ls',
      'env '.repeat(9),
      "'>' a",
      "'A=b' c && '='",
    ],
  ].map((line) => [line]),
)('%j is unknown', (line) => {
  expect(told(line)).toBe('unknown');
});

test.each(
  [
    ["rg --pre 'sh -c id' x", 'rg --pre=./x y', 'rg --hostname-bin=./x y', 'rg x --pr ./y'],
    [
      "tar --to-command='sh' -xf a",
      'tar --to-comm=sh -xf a',
      'tar -xIsh -f a',
      'tar xIf sh a',
      'tar -I sh -xf a',
    ],
    ['tar --checkpoint=1 --checkpoint-action=exec=sh -cf a b', 'tar -cf a --use-compress-prog=sh b'],
    ['rsync -e sh a b:', 'rsync -avze sh a b:', "rsync --rsh='sh -c id' a b:", 'rsync --rsync-p x a b:'],
    [
      'git hook run pre-commit',
      'git lfs ls-files',
      'git st',
      'git merge -s evil x',
      'git pull --strategy=evil',
    ],
    ['git --exec-path=/tmp log', 'git -p log', 'git --config-env=core.pager=X log', 'git --git-dir=x log'],
    ['git init --template=x', 'git clone --template x a', 'git for-each-repo --config=x git', 'git p4 sync'],
    ['nix-shell --run id', 'nix run x', 'npx x', 'npm exec x', 'npm x y', 'npm --script-shell=sh run a'],
    [
      'sort --compress-program=sh a',
      'sort --compress-prog sh a',
      'split --filter=sh a',
      'fd -x sh',
      'fd --exec-b sh',
    ],
    [
      "sed '1e id' a",
      "sed 's/a/id/e' a",
      "sed 's/a/b/w out' a",
      "sed 'w out' a",
      "sed 'r .env' a",
      "sed '$!{e id' a",
    ],
    [
      `awk 'BEGIN { system("id") }'`,
      `awk '{ print > "f" }' a`,
      `awk '{ print | "sh" }' a`,
      `awk 'BEGIN{"id"|getline}'`,
    ],
    [`awk 'BEGIN { print ENVIRON["A"] }'`, 'awk -f a b', `awk 'BEGIN { if (1) /"/; system("id") #"'`],
    [
      "python3 -c 'x'",
      "python3.12 -Ic 'x'",
      "perl -ne 'x' a",
      "node -e 'x'",
      'node --req ./x y',
      "ruby -e 'x'",
    ],
    [
      "php -r 'x'",
      'vim -c !sh a',
      'vim +!sh a',
      'less +!sh a',
      'man -P sh ls',
      'man -Psh ls',
      'zip -T -TT sh a b',
    ],
    [
      'docker exec a sh',
      'docker run a',
      'kubectl exec a -- sh',
      'wget --use-askpass=sh a',
      'gdb a',
      'strace ls',
    ],
    [
      'go test -exec sh',
      'go build -toolexec sh',
      'cargo --config x build',
      'make --eval=x',
      'make SHELL=./x',
    ],
    [
      'scp -S sh a b:',
      'scp -oProxyCommand=sh a b:',
      'script -c id',
      'flock a id',
      'watch id',
      'env -Sid',
      'ldd ./a',
    ],
    ['mysql -e x', 'busybox ls', 'zip a b -TT sh', '/opt/bin/rg --pre=x y'],
  ]
    .flat()
    .map((line) => [line]),
)('%j runs what it names, and is unknown', (line) => {
  expect(told(line)).toBe('unknown');
});

test.each([
  ['npm install x', ['npm install x']],
  ['npm run exec', ['npm run exec']],
  ['npm in create', ['npm in create']],
  ['pnpm add dlx', ['pnpm add dlx']],
  ['yarn add exec', ['yarn add exec']],
  ['npm x y', null],
  ['npm exe y', null],
  ['npm --silent exec y', null],
  ['npm -w app x y', null],
  ['npm install --script-shell=x y', null],
  ['pnpm m exec y', null],
  ['yarn workspace app exec y', null],
])('%j: only the first operand of a package manager is its verb', (line, expected) => {
  const commands = shellCommands(line)?.map(({ program, args }) => [program, ...args].join(' '));
  expect(commands ?? null).toEqual(expected);
});

test.each([
  ['npm x y', '`npm x y` may start a command that the line does not name'],
  ['sudo npx y', '`sudo npx y` may start a command that the line does not name'],
  ['sh -c "eval x"', '`eval x` may start a command that the line does not name'],
  ['ls $HOME', 'the line has text that a shell replaces, such as `$name`, `~` or `*`, or is not readable'],
  ['ls *.ts', 'the line has text that a shell replaces, such as `$name`, `~` or `*`, or is not readable'],
  ['if ls', 'the line is not complete, or shells read it differently'],
  ['ls -l', null],
])('says why the commands of %j are unknown', (line, why) => {
  expect(whyCommandsUnknown(line)).toBe(why);
});

test('each argument of the table makes a line unknown, shortened, joined and in a bundle as well', () => {
  expect(runningArguments.length).toBeGreaterThan(400);
  const known = runningArguments.flatMap(([program, argument]) => {
    const spellings = [argument, `${argument}=x`];
    if (/^--/.test(argument)) spellings.push(argument.slice(0, -1));
    if (/^-[A-Za-z]$/.test(argument)) spellings.push(`${argument}x`, `-z${argument.slice(1)}`);
    const isWord = !argument.startsWith('-');
    const written = argument === '*' ? [''] : isWord ? [argument] : spellings;
    const isVerb = isWord && /^(?:c?npm|bun|deno|pnpm|yarn)$/.test(program);
    const behind = isVerb ? `${program} -w a ${argument}` : null;
    const lines = written.flatMap((text) => [`${program} ${text} b`, behind ?? `${program} a ${text}`]);
    return lines.filter((line) => !/^\w+ -\w+=x/.test(line) && told(line) !== 'unknown');
  });
  expect(known).toEqual([]);
});

test.each([
  ['rg -n foo src', ['src', 'src/**']],
  ['rg foo', ['./**']],
  ["rg -g '.e*' foo", ['.e*', './**', './**/.*']],
  ['grep -rn foo src', ['src', 'src/**', 'src/**/.*']],
  ['grep -f words a', ['a', 'words']],
  ['cat README.md | head -20', ['README.md']],
  ["sed -n '1,20p' f", ['f']],
  ["sed ':a;N;$!ba;s/\\n/ /g' f", ['f']],
  ["sed -e 's|a|b|' -e '/x/,/y/d' f", ['f']],
  ["awk -F: '$3 > 5 { print $1, $NF }' f", ['f']],
  ["jq -r '.name' package.json", ['package.json']],
  ["jq --arg a env '.a' f", ['f']],
  ['git show HEAD:.env', ['HEAD:.env', '.env']],
  ['git -C sub log -L1,5:a.ts', ['sub', '1,5:a.ts', 'a.ts']],
  ["git log --format='%h %an %<(20)%s' -5", []],
  ["git for-each-ref --format='%(refname)' --sort=-committerdate", []],
  ["find . -name '*.ts' -newer a -type f", ['.']],
  ['cd src && LC_ALL=C ls -la 2>/dev/null', ['src']],
  ['timeout 5 env TZ=UTC date -u +%H', []],
  ['ps aux', []],
  ['tar -tzf a.tgz', ['a.tgz']],
  ['sort <in', ['in']],
  ['diff -r a b.d', ['a', 'b.d', 'a/**', 'a/**/.*', 'b.d/**', 'b.d/**/.*']],
])('%j is known to only read', (line, files) => {
  const commands = shellCommands(line) ?? [];
  expect(commands.length).toBeGreaterThan(0);
  expect(commands.filter((command) => !command.only_reads)).toEqual([]);
  expect(commands.flatMap((command) => command.files).toSorted()).toEqual(files.toSorted());
});

test.each(
  [
    [
      'rm a',
      'touch a',
      'tee a',
      'ls >a',
      'ls --unknown',
      'ls --al',
      'cat --number=x a',
      'uniq a b',
      'uniq a -c',
    ],
    [
      'sort -o a b',
      'sort -uoa b',
      'sort --output=a b',
      'sort --outp a',
      'sort --files0-from=a',
      'sort -T . a',
    ],
    [
      'xxd a b',
      'xxd a -b',
      'xxd -r a',
      'tree -o a',
      'tree -R -H x -L 1',
      'date -s x',
      'date 01010101',
      'date -f a',
    ],
    [
      'file -C -m a',
      'file -f a',
      'file -z a',
      'wc --files0-from=a',
      'du --files0-from=a',
      'hostname x',
      'diff -l a b',
    ],
    [
      "git log --format='%GS'",
      "git log --format='%-GS'",
      'git log --pretty=tformat:%+GG',
      'git log --pretty=mine',
    ],
    ['git log --show-signature', 'git log --output=a', 'git diff --ext-diff', 'git show --textconv'],
    [
      'git branch x',
      'git branch -v x',
      'git branch -D x',
      'git tag x',
      'git tag -v x',
      'git tag --sort=signature',
    ],
    [
      "git branch --format='%(signature)'",
      'git reflog expire --all',
      'git stash',
      'git stash drop',
      'git config a b',
    ],
    [
      'git config --get http.extraheader',
      'git remote -v',
      'git blame --contents /etc/passwd a',
      'git log --outp=a',
    ],
    [
      'git grep -f a',
      'git ls-files -X a',
      'git fetch',
      'git help log',
      'git archive HEAD',
      'git cat-file --batch',
    ],
    [
      'ps auxe',
      'ps eww',
      'ps -auxe',
      'ps -eo environ',
      'ps -C info e',
      'env',
      'env A=b',
      'env -u A',
      'printenv',
      'set',
    ],
    ['jq env', "jq -n '$ENV.A'", "jq '.a | env.B' f", 'jq -L. . f', 'jq -f a b', `jq 'import "a" as a; .' f`],
    [
      'find . -delete',
      'find . -fprint a',
      'find . -fls a',
      'find -files0-from a',
      'sed -i s/a/b/ f',
      'sed -f a b',
    ],
    [
      'tar -xf a',
      'tar -tf a:b',
      'tar -cf a b',
      'bzip2 -t -d a',
      'zstd -l -d a',
      'gzip a',
      'unzip a',
      'strings @a',
    ],
    ['LD_PRELOAD=x ls', 'PAGER=x git log', 'GIT_SSH_COMMAND=x git status', 'TZ=/etc/x date', 'PATH=x ls'],
    [
      'cat </dev/tcp/a/1',
      'cd',
      'cd -',
      'nohup ls',
      'sudo -n ls',
      "printf '%n' PATH",
      "printf '%5n' PATH",
      './ls',
    ],
    [
      'curl a',
      'npm run a',
      'npm install',
      'make',
      'cargo --version',
      'python3 a.py',
      'docker inspect a',
      'tail -f a',
    ],
    [
      'ls -l; rm a',
      'ls & touch a',
      'if ls; then rm a; fi',
      "sh -c 'ls; rm a'",
      'timeout 5 rm a',
      'ss -K',
      'ip netns',
    ],
  ]
    .flat()
    .map((line) => [line]),
)('%j is not known to only read', (line) => {
  const commands = shellCommands(line);
  expect(commands?.every((command) => command.only_reads) ?? false).toBe(false);
});

test('options and the subcommand are told apart', () => {
  expect(shellCommands('git log -p a --stat - --')).toEqual([
    {
      program: 'git',
      args: ['log', '-p', 'a', '--stat', '-', '--'],
      options: ['-p', '--stat', '--'],
      subcommand: 'log',
      words: ['log'],
      only_reads: true,
      files: ['a', '-'],
    },
  ]);
  expect(shellCommands('git -P -C src log')?.[0]?.subcommand).toBe('log');
  expect(shellCommands('ls -l log')?.[0]?.subcommand).toBe('');
  const wordsOf = (line: string) => shellCommands(line)?.[0]?.words;
  expect(wordsOf('npm run test -w app --silent')).toEqual(['run', 'test']);
  expect(wordsOf('npm run deploy test')).toEqual(['run', 'deploy', 'test']);
  expect(wordsOf('npm --prefix run test')).toEqual([]);
  expect(wordsOf('git -C src stash list')).toEqual(['stash', 'list']);
  expect(wordsOf('cat - a')).toEqual(['-', 'a']);
  expect(wordsOf('npm')).toEqual([]);
});

test.each([
  'a ',
  'env ',
  "'a'",
  '"a"',
  '(',
  '{ ',
  '<a ',
  'a;',
  'a|',
  '\\a',
  '$',
  'A=a ',
  '<<a ',
  'sh -c ',
  '#\n',
  'if ',
])('a line of %j again and again is read in linear time', (part) => {
  const line = part.repeat(shellLineLengthMax / part.length);
  const startedMs = performance.now();
  for (let rounds = 0; rounds < 10; rounds += 1) shellCommands(line);
  // Ten reads of 16 KiB take milliseconds; a quadratic one takes minutes.
  expect(performance.now() - startedMs).toBeLessThan(2_000);
  expect(shellCommands(`${line.padEnd(shellLineLengthMax)} `)).toBeNull();
});
