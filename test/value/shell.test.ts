import { expect, test } from 'vitest';
import { shellCommands } from '../../src/language/value/shell/commands.ts';
import { shellLineLengthMax } from '../../src/language/value/shell/tokens.ts';

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

test('options and the subcommand are told apart', () => {
  expect(shellCommands('git log -p a --stat - --')).toEqual([
    {
      program: 'git',
      args: ['log', '-p', 'a', '--stat', '-', '--'],
      options: ['-p', '--stat', '--'],
      subcommand: 'log',
    },
  ]);
  expect(shellCommands('git -P log')?.[0]?.subcommand).toBe('');
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
