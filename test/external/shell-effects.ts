// Runs a line under strace in a folder of its own, and tells what it started, changed and opened.

import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';

/** What a line has done. */
export interface Effects {
  readonly isDone: boolean;
  /** Names of the programs that were started, the shell itself left out. */
  readonly started: readonly string[];
  /** System calls that changed something, as strace tells them. */
  readonly changed: readonly string[];
  /** Names of files that were opened to be read. */
  readonly opened: readonly string[];
}

/** Names of files in the folder, `src` included. */
export const seeds: readonly string[] = [
  'a',
  'b.txt',
  '.env',
  'x.ts',
  '.hid',
  'words',
  'data.json',
  'a.gz',
  'arc.tar',
];

export function hasProgram(name: string): boolean {
  return (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, name)));
}

/** A folder with files, and a repository in it. */
export function makeFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'writ-effects-'));
  mkdirSync(join(path, 'src'));
  for (const name of seeds) {
    const isInner = name === 'x.ts' || name === '.hid';
    writeFileSync(join(path, isInner ? 'src' : '.', name), `${name} content\nb 2\na 1\n`);
  }
  writeFileSync(join(path, 'data.json'), '{"name": "x", "a": {"env": 1}}\n');
  const make = `tar -cf arc.tar a b.txt; gzip -c a >a.gz; git init -q -b main; git config user.name ann
    git config user.email ann@example.com; git add a b.txt src/x.ts words data.json; git commit -qm one; git tag one
    echo more >>a; git commit -qam two; echo again >>b.txt`;
  spawnSync('sh', ['-c', make], { cwd: path, env: environment(path), stdio: 'ignore' });
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

function environment(path: string): Record<string, string> {
  return {
    PATH: process.env.PATH ?? '',
    HOME: join(path, '..'),
    LANG: 'C.UTF-8',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
  };
}

const calls =
  `execve,openat,open,creat,unlink,unlinkat,rename,renameat,renameat2,mkdir,mkdirat,rmdir,connect,truncate,ftruncate,link,
  linkat,symlink,symlinkat,chmod,fchmodat,chown,fchownat,utimensat,mknod,mknodat,setxattr,kill,settimeofday,clock_settime,sethostname`.replace(
    /\s+/g,
    '',
  );
const changing =
  /^(?:creat|unlink|rename|mkdir|rmdir|truncate|link|symlink|chmod|fchmod|chown|fchown|utimensat|mknod|setxattr|kill|settimeofday|clock_settime|sethostname)/;
/** Git keeps what it learned of the working tree in its index; some programs use temporary files of their own. */
const harmless = /\.git\/index|"\/dev\/(?:null|tty|pts)|"\/tmp\/(?:sort|tac)/;

export function traceEffects(folder: string, line: string): Effects {
  const trace = join(folder, '..', `${basename(folder)}.trace`);
  const result = spawnSync(
    'strace',
    ['-f', '-qq', '-s', '200', '-o', trace, '-e', `trace=${calls}`, 'sh', '-c', line],
    {
      cwd: folder,
      env: environment(folder),
      stdio: ['ignore', 'ignore', 'ignore'],
      timeout: 5_000,
      killSignal: 'SIGKILL',
    },
  );
  const told = readFileSync(trace, 'utf8').split('\n');
  rmSync(trace, { force: true });
  const done = told.map((text) => text.replace(/^\d+ +/, '')).filter((text) => /\) += \d/.test(text));
  const started = done
    .flatMap((text) => /^execve\("([^"]*)"/.exec(text)?.[1] ?? [])
    .map((path) => basename(path));
  const opens = done.filter((text) => /^open(?:at)?\(/.test(text));
  const writes = opens.filter((text) => /O_WRONLY|O_RDWR|O_CREAT|O_TRUNC/.test(text));
  return {
    isDone: result.status === 0,
    started: started.slice(1),
    changed: [
      ...done.filter((text) => changing.test(text) || /^connect\(.*AF_INET/.test(text)),
      ...writes,
    ].filter((text) => !harmless.test(text)),
    opened: opens
      .filter((text) => !/O_DIRECTORY|O_PATH/.test(text))
      .flatMap((text) => /"([^"]*)"/.exec(text)?.[1] ?? [])
      .map((path) => basename(path)),
  };
}
