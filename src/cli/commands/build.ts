// `writ build`: compiles policies into one bundle file, signed when a key is given.

import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Command } from 'commander';
import { hasErrors } from '../../language/diagnostic/diagnostic.ts';
import { countRules } from '../../language/model/policy.ts';
import { bundleContents } from '../../service/policies/bundles/bundle-contents.ts';
import { type BundleSigner, writeBundle } from '../../service/policies/compiled/bundle.ts';
import { commitOf } from '../../service/policies/git-commit.ts';
import { fileError } from '../output/file-error.ts';
import { many } from '../output/many.ts';
import { type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import { defaultPath, loadPacked, showErrors } from '../support/load-policies.ts';

export function defineBuild(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('[path]', 'a policy directory, or one file (default: ./policies, else the current directory)')
    .requiredOption('-o, --output <file>', 'the bundle file to write')
    .option('--sign <key>', 'sign with the private Ed25519 key in this PEM file')
    .option('--json', 'print facts about the bundle as JSON')
    .addHelpText('after', examples)
    .action(async (path: string | undefined, options: Options) => {
      finish(await build(path ?? defaultPath(), options));
    });
}

const examples = `
Examples:
  writ build policies -o policies.writ
  openssl genpkey -algorithm ed25519 -out bundle.pem
  writ build policies -o policies.writ --sign bundle.pem
`;

interface Options {
  readonly output: string;
  readonly sign?: string;
  readonly json?: boolean;
}

async function build(path: string, { output, sign: keyFile, json }: Options): Promise<ExitCode> {
  const signer = keyFile === undefined ? null : await signerOf(keyFile);
  const loaded = await loadPacked(path);
  const contents = hasErrors(loaded.diagnostics) ? null : bundleContents(loaded.read, loaded.compiled);
  if (contents === null) {
    showErrors(loaded);
    return exitCodes.wrong;
  }
  const commit = await commitOf(loaded.read.root ?? dirname(path));
  const bytes = await writeBundle({ madeMs: Date.now(), commit, ...contents }, signer);
  await writeFile(output, bytes).catch((error: unknown) => {
    throw new UsageError(`cannot write ${output}: ${fileError(error)}`);
  });
  const rules = countRules(loaded.compiled.set?.policies ?? []);
  const made = { file: output, bytes: bytes.length, rules, key: signer?.key ?? null };
  if (json === true) printJson(made);
  else print(`${output}: ${many(rules, 'rule')}, ${many(made.bytes, 'byte')}, ${signedText(made.key)}\n`);
  return exitCodes.ok;
}

/** Names the signer of a bundle for people; a null key is an unsigned bundle. */
export function signedText(key: string | null): string {
  return key === null ? 'not signed' : `signed by ${key}`;
}

async function signerOf(path: string): Promise<BundleSigner> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  });
  const privateKey = privateKeyOf(text);
  if (privateKey?.asymmetricKeyType !== 'ed25519')
    throw new UsageError(
      `${path} is not a private Ed25519 key in PEM format: openssl genpkey -algorithm ed25519`,
    );
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' });
  return { key: x, sign: (bytes) => sign(null, bytes, privateKey) };
}

function privateKeyOf(text: string): KeyObject | null {
  try {
    return createPrivateKey(text);
  } catch {
    return null;
  }
}
