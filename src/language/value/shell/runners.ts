// Which programs start what their arguments name, and by which arguments: a table that can be read, completed
// and tried line by line. INVARIANT: arguments that are listed here make a line unknown, however they are
// abbreviated, bundled or joined with their value.

/** Programs and shell builtins that run their arguments or their input, or change what later words mean. */
const always: ReadonlySet<string> = new Set(
  `. alias bind builtin complete compgen coproc declare enable eval fc hash let local mapfile readarray shopt source trap
  typeset unalias
  aa-exec agetty apptainer arch-chroot at autossh batch bunx busybox bwrap caffeinate capsh catchsegv ccache cgexec chpst
  choom chronic chroot chrt cpulimit csh daemonize dbus-launch dbus-run-session debconf dialog distcc doas dotenv dtach
  dumb-init eatmydata ed elvish emacs entr envdir ex expect faketime fakechroot fakeroot firejail fish flock fzf gdb
  gdbserver gosu hyperfine ifne ionice irb jshell keychain ksh ksu ldd ld.so lldb linux32 linux64 logsave ltrace lxc-attach
  lxc-execute machinectl mksh mosh nc ncat netcat newgrp nix-shell nodemon nsenter nu numactl overmind parallel pdsh perf
  pkexec pnpx posh powershell prlimit proot proxychains proxychains4 pry pssh pwsh rbash rc reptyr rexec rlogin rlwrap rsh
  run-mailcap run-one run-parts runcon runuser schroot screen script setarch setlock setpriv setuidgid sg singularity
  socat softlimit ssh ssh-agent sshpass start-stop-daemon stap strace su su-exec sudoedit systemd-inhibit systemd-nspawn
  systemd-run taskset tclsh tcsh telnet tini tmux torify torsocks toybox trickle tsocks tsp unbuffer unshare uvx valgrind
  vigr vipw visudo watch watchexec wish x-terminal-emulator xargs xinit xonsh xterm xvfb-run yash zellij zsh npx pipx
  ld-linux.so.2 ld-linux-x86-64.so.2 ld-linux-aarch64.so.1`.split(/\s+/),
);

/**
 * Options and subcommands that name what is run, hold the text of a program, or name a file that can. `-x` stands
 * for the letter, alone, bundled or with its value; `-word` for that word; `--name` for the option and each
 * beginning of it; `key=` for arguments that begin so; another word for itself as any argument.
 */
const rows = `
ack ag: --pager
aria2c: --on-bt-download-complete --on-download-complete --on-download-error --on-download-pause --on-download-start --on-download-stop --conf-path
apt apt-get aptitude: -o -c --option --config-file
asciidoctor: -r --require
bat batcat: --pager --lessopen
bazel bazelisk: --run_under --bazelrc --server_javabase
borg: --rsh --remote-path with-lock
bun: x exec -e -p -r --eval --print --preload
bundle bundler: exec console
brew: exec sh irb ruby
c++ cc g++ gcc clang clang++ gfortran: -wrapper -B -fplugin= -specs= --specs -Xclang -load
cargo: --config -Z
cmake: -P -E --build --open --workflow
conda mamba micromamba: run
cowsay cowthink: -f
crontab: -e
deno: eval run x
docker podman nerdctl docker-compose: run exec compose buildx create --config --host -H
find: -exec -execdir -ok -okdir
fd fdfind: -x -X --exec --exec-batch
ftp lftp sftp: -e -c -f -S -o -b -D
gawk awk mawk nawk original-awk: -f -e -i -l -E -W -D --file --source --include --load --exec --debug
gcloud: ssh
gem: exec open server
ghc ghci: -e -pgmF -pgmL -pgmP -pgmc -pgma -pgml -F
gh: alias extension codespace ssh
go: -exec -toolexec -vettool -modfile -overlay
gpg gpg2: --agent-program --dirmngr-program --photo-viewer --options --exec-path --homedir --pinentry-program
gradle gradlew: -I --init-script
hg: -c --config --config-file --ssh --remotecmd --cmdserver --editor extdiff
helm: --post-renderer plugin
ip bridge: netns vrf -b -batch -n -netns exec
java: -XX -agentlib -agentpath -javaagent
javac: -processorpath --processor-path -Xplugin -J
jest vitest mocha: --require --globalSetup --setupFiles --testRunner --runner --import --loader
julia: -e -E --eval --print
kubectl oc: exec debug run attach cp plugin --kubeconfig
latex pdflatex lualatex luatex tex xelatex pdftex xetex: -shell-escape --shell-escape -enable-write18 --enable-write18 --luaonly --lua
latexmk: -e -r -latex -pdflatex -xelatex
less more most pg: -k --lesskey-file --lesskey-src --lesskey-content +
lua luajit lua5.1 lua5.3 lua5.4: -e -l
make gmake bmake: --eval -E SHELL= MAKEFLAGS= .SHELLFLAGS=
mail mailx s-nail mutt neomutt: -E -S -e -A -F
man: -P -H -T -X -Z -p -C --pager --html --gxditview --ditroff --troff-device --preprocessor --config-file
mount umount: -t --types
mpv mplayer vlc: --script --scripts --lua
msgexec msgfilter: *
mvn mvnw: exec:exec exec:java -s --settings -gs --global-settings
mysql mariadb: -e --execute --pager --init-command --plugin-dir
nano rnano: -s --speller --rcfile
nix: run shell develop repl --run --command -c
nix-build nix-env nix-instantiate: --run --command
nmap: --script --datadir
node nodejs ts-node tsx: -e -p -r --eval --print --require --import --loader --experimental-loader --test-reporter --openssl-config --env-file
npm cnpm: exec x explore edit init innit create --script-shell --shell --node-options --editor --viewer --browser --git --userconfig --globalconfig
nvim vim vi view vimdiff rvim rview gvim: -c -S -s -u -U --cmd --listen +
openssl: -engine -provider-path engine
pandoc: -F -L --filter --lua-filter --pdf-engine --defaults
patch: -e --ed
perl: -e -E -M -m -d
php php-cgi: -r -B -R -E -F -d -z -c --run --define --zend-extension --php-ini --process-begin --process-code --process-end
pip pip3: --python --global-option --build-option --config-settings
pnpm yarn: exec x dlx create --script-shell
poetry pipenv pdm hatch rye uv: run shell tool
psql: -c -f -v --command --file --set --variable
pytest py.test: -p --pdbcls --override-ini -o
python python2 python3 pypy pypy3: -c
R Rscript: -e
racket: -e -f -r -l --eval --load --require
rake: -e -E -p --execute --execute-print --execute-continue
redis-cli: --eval
rg: --pre --hostname-bin --hyperlink-format
rpm rpmbuild rpmquery: --eval --define --pipe --load --macros --rcfile -E -D
rsync: -e -M --rsh --rsync-path --remote-option --config --daemon
ruby jruby: -e -r --require
rustc: -C -Z --codegen
rustup: run
scala: -e
scp: -S -o -F -D
sendmail exim: -be -C -D -bP
sort gsort: --compress-program
split gsplit: --filter
sqlite3 sqlite: -cmd -init
ssh-add: -s -S -e
ssh-copy-id: -o -F
ssh-keygen: -D -w
svn: --diff-cmd --diff3-cmd --editor-cmd --config-dir --config-option
systemctl: edit -H --host
tar gtar bsdtar: -I -F --use-compress-program --to-command --checkpoint-action --info-script --new-volume-script --rsh-command --rmt-command
tcpdump: -z
terraform tofu: console -chdir= -plugin-dir=
tsc: --plugins
vagrant: ssh
wasmtime wasmer: run
wget wget2: -e --use-askpass --execute --config
xdotool: exec
xmllint: --shell
xsltproc: --load-trace
yt-dlp youtube-dl: --exec --exec-before-download --downloader --external-downloader --netrc-cmd --config-locations --plugin-dirs --use-postprocessor
yum dnf: -c --config --setopt shell
zathura: -x -c --synctex-editor-command --config-dir
zip: -T --unzip-command --test
`;

interface Runs {
  readonly isAlways: boolean;
  readonly letters: string;
  readonly words: ReadonlySet<string>;
  /** Words with one dash. */
  readonly dashed: readonly string[];
  readonly names: readonly string[];
  readonly beginnings: readonly string[];
}

const runs: ReadonlyMap<string, Runs> = new Map(
  rows
    .trim()
    .split('\n')
    .flatMap((row) => {
      const [programs = '', described = ''] = row.split(': ');
      const entries = described.split(' ');
      const marked: Runs = {
        isAlways: entries.includes('*'),
        letters: entries.flatMap((entry) => /^-([A-Za-z])$/.exec(entry)?.[1] ?? []).join(''),
        words: new Set(entries.filter((entry) => /^[^-]/.test(entry) && !/^[A-Za-z]$|[=+]$/.test(entry))),
        dashed: entries
          .filter((entry) => /^-[^-]./.test(entry))
          .map((entry) => entry.slice(1).replace(/=$/, '')),
        names: entries.filter((entry) => entry.startsWith('--')).map((entry) => entry.slice(2)),
        beginnings: entries.filter((entry) => /[=+]$/.test(entry)),
      };
      return programs.split(' ').map((program): [string, Runs] => [program, marked]);
    }),
);

/** One-letter subcommands, such as `npm x`. */
const oneLetter: Readonly<Record<string, string>> = {
  npm: 'x',
  cnpm: 'x',
  bun: 'x',
  deno: 'x',
  pnpm: 'x',
  yarn: 'x',
};

/**
 * Programs whose first argument is the verb, unless it is an option, so that a later argument is none: `npm
 * install x`. The words behind a program have verbs of their own.
 */
const verbFirst: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries({
    npm: [],
    cnpm: [],
    bun: [],
    deno: [],
    pnpm: ['recursive', 'multi', 'm'],
    yarn: ['workspace', 'workspaces'],
  }),
);

/** Programs in versions of their own, such as `python3.12`. */
const version = /(?<=^(?:python|pypy|perl|ruby|php|lua|node|nodejs|pip)\d?)[\d.]+$/;

/** Whether the program, by its name without folder, runs what its arguments name. */
export function runsArguments(program: string, args: readonly string[]): boolean {
  if (always.has(program)) return true;
  const marked = runs.get(program) ?? runs.get(program.replace(version, ''));
  if (marked === undefined) return false;
  if (marked.isAlways) return true;
  const operands = hasVerbFirst(program, args) ? 1 : args.length;
  return args.some(
    (arg, at) =>
      isOptionThatRuns(marked, arg, at, program) || (at < operands && isVerb(marked, arg, program)),
  );
}

function hasVerbFirst(program: string, [first = '']: readonly string[]): boolean {
  const around = verbFirst.get(program);
  return around !== undefined && !first.startsWith('-') && !around.includes(first);
}

/** npm also accepts the beginning of a verb; `in` is its short form of `install`. */
function isVerb({ words }: Runs, arg: string, program: string): boolean {
  if (words.has(arg) || oneLetter[program] === arg) return true;
  const isShortened = program === 'npm' && arg.length > 1 && arg !== 'in';
  return isShortened && [...words].some((word) => word.startsWith(arg));
}

function isOptionThatRuns(marked: Runs, arg: string, at: number, program: string): boolean {
  if (marked.beginnings.some((beginning) => arg.startsWith(beginning))) return true;
  const [, option = ''] = /^--?([^=:]*)/.exec(arg) ?? [];
  if (option.length > 1 && marked.dashed.some((word) => isWord(word, option))) return true;
  if (arg.startsWith('--')) {
    return option !== '' && marked.names.some((name) => name.startsWith(option));
  }
  if (marked.letters === '') return false;
  // The first word of tar is a bundle of options even without a dash.
  const isBundle = arg.startsWith('-') || (at === 0 && program.endsWith('tar'));
  const [bundle = ''] = /^-?[A-Za-z0-9]*/.exec(arg)!;
  return isBundle && [...marked.letters].some((letter) => bundle.includes(letter));
}

/** Where a word with one dash is an option, it may be written with two, and some programs take its beginning. */
function isWord(word: string, option: string): boolean {
  return word === option || (option.length >= 4 && word.startsWith(option));
}

/** What the table holds, for those who try it: a program and an argument with which it runs others. */
export const runningArguments: readonly (readonly [program: string, argument: string])[] = rows
  .trim()
  .split('\n')
  .flatMap((row) => {
    const [programs = '', described = ''] = row.split(': ');
    return programs
      .split(' ')
      .flatMap((program) => described.split(' ').map((argument): [string, string] => [program, argument]));
  });
