// Runs the verifier on what auditors are given: many at once in one program, since most of the time goes into starting
// Python and loading policies.

import { execFile } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { temporaryFolder } from '../../../service/store/rows.ts';
import { python, sources } from '../python.ts';
import { logKeys, type VerifierInput, type World } from './given.ts';

export interface Result {
  readonly ok: boolean;
  readonly records: number;
  readonly problems: {
    readonly counts: Readonly<Record<string, number>>;
    readonly first: readonly { readonly code: string; readonly message: string }[];
  };
  readonly checked: Readonly<Record<string, number>>;
  readonly not_checked: Readonly<Record<string, number>>;
}

const program = `
import functools, json, sys
import writ_verify as verifier
verifier.read_policy_set = functools.lru_cache(verifier.read_policy_set)
for line in sys.stdin:
    try:
        print(json.dumps(verifier.verify(verifier._arguments(json.loads(line)))))
    except verifier.UsageError as reason:
        print(json.dumps({'error': str(reason)}))
`;

/** Writes the files; returns the arguments of the command. */
export function argumentsFor(
  { lines, sets, evidence, keys, options = [] }: VerifierInput,
  { month, logKey }: Pick<World, 'month' | 'logKey'>,
) {
  const folder = temporaryFolder();
  const put = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  mkdirSync(join(folder, 'sets'));
  for (const [digest, text] of sets) put(`sets/${digest}.json`, text);
  const files = Object.entries(evidence).map(([name, text]) => put(name, text));
  return [
    ...[put('export.jsonl', lines.join('')), '--policies', join(folder, 'sets')],
    ...['--key', ...keys, put('jwks.json', month.jwks), put('log-keys.json', logKeys(month, logKey))],
    ...(files.length === 0 ? [] : ['--evidence', ...files]),
    ...options,
  ];
}

export async function runVerifier(given: readonly VerifierInput[], world: World): Promise<readonly Result[]> {
  const options = { env: { ...process.env, PYTHONPATH: sources }, maxBuffer: 2 ** 26 };
  const running = promisify(execFile)(python, ['-B', '-c', program], options);
  for (const one of given) running.child.stdin?.write(`${JSON.stringify(argumentsFor(one, world))}\n`);
  running.child.stdin?.end();
  const { stdout } = await running;
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Result);
}
