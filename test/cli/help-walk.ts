// Walks through the help of every command, as an installation shows it.

import type { RunWrit } from './writ.ts';

interface HelpWalk {
  readonly count: number;
  /** The commands whose help fails or lacks something, with what is wrong. */
  readonly faults: readonly string[];
}

export async function walkHelp(run: RunWrit): Promise<HelpWalk> {
  const { stdout, code } = await run(['completion', 'bash']);
  if (code !== 0) return { count: 0, faults: ['completion'] };
  const paths = commandPaths(stdout);
  const faults: string[] = [];
  for (const path of paths) {
    const [, ...words] = path.split(' ');
    const shown = await run([...words, '--help']);
    const fault = faultOf(shown);
    if (fault !== null) faults.push(`${path}: ${fault}`);
  }
  return { count: paths.length, faults };
}

/** The words that the script offers after each path of commands, or after the path and an option. */
export function completionTable(script: string, name: string): ReadonlyMap<string, readonly string[]> {
  const [, body = ''] = script.split(`${name}() {`);
  const rows = body.slice(0, body.indexOf('esac')).matchAll(/'(writ[^']*)'\) echo '([^']*)'/g);
  return new Map([...rows].map(([, path = '', words = '']) => [path, words.split(' ')]));
}

/** Every command by its words, such as `writ agent add`. */
function commandPaths(script: string): readonly string[] {
  const below = completionTable(script, '_writ_commands');
  const paths = [...below].flatMap(([path, words]) => words.map((word) => `${path} ${word}`));
  return ['writ', ...paths.filter((path) => !/ help( |$)/.test(path))];
}

function faultOf({ code, stdout, stderr }: Awaited<ReturnType<RunWrit>>): string | null {
  if (code !== 0 || stderr !== '') return `exit code ${code}: ${stderr}`;
  const [, usage = ''] = /^Usage: (writ .*)/.exec(stdout) ?? [];
  if (!usage.startsWith('writ')) return 'no usage';
  const takesArguments = /[<[](?!options\]|command\])/.test(usage);
  return takesArguments && !/^Examples?:\n {2}.*\bwrit /m.test(stdout) ? `no example: ${usage}` : null;
}
