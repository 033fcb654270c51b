// `writ propose`: proposes a change of the active policies to a running service, and prints what the change means.
// INVARIANT: the command changes no file and no policy.

import { readFileSync } from 'node:fs';
import { text as readAll } from 'node:stream/consumers';
import type { Command } from 'commander';
import type { Operations, Reply } from '../../api/operations.ts';
import { checkSources } from '../../pipeline.ts';
import { readPolicies } from '../../service/policies/read-policies.ts';
import {
  type Api,
  type ApiOptions,
  apiHelp,
  refuse,
  serviceAddress,
  show,
  withApi,
  withApiOptions,
} from '../client/api-client.ts';
import { type ExitCode, print, UsageError } from '../output/output.ts';
import { printable } from '../output/table.ts';
import { defaultPath } from '../support/load-policies.ts';

type Change = Pick<Operations['proposePolicies']['body'], 'files' | 'patch'>;
type Proposal = Reply<'proposePolicies'>;

interface Options extends ApiOptions {
  readonly reason: string;
  readonly patch?: string;
  readonly request?: string;
}

export function definePropose(command: Command, finish: (code: ExitCode) => void): void {
  withApiOptions(
    command
      .argument('[path]', 'the changed policy directory (default: ./policies, else the current directory)')
      .requiredOption('--reason <text>', 'why, for the person who decides')
      .option('--patch <file>', 'a unified diff instead of a directory; - for standard input')
      .option('--request <id>', 'the request that the proposal is about'),
  )
    .addHelpText('after', examples + apiHelp)
    .action(async (path: string | undefined, options: Options) => {
      if (path !== undefined && options.patch !== undefined)
        throw new UsageError('name a directory or a --patch, not both');
      finish(await withApi(options, (api) => propose(api, path, options)));
    });
}

const examples = `
Examples:
  writ propose policies --reason "the new vendor is approved"
  writ suggest 019d2c5e-7a61-7c3e-9d8e-3f1a5b0c7d42 --patch | writ propose --patch - --reason "needed every week"

Sends the policy files and list files that differ from the active policies. Test files are sent with --patch only.
`;

async function propose(api: Api, path: string | undefined, options: Options): Promise<void> {
  const { reason, patch, request } = options;
  const { digest } = await api.get<Reply<'getPolicyState'>>('/v1/policies/state');
  const change =
    patch === undefined
      ? { files: await changedFiles(api, path ?? defaultPath()) }
      : { patch: await readPatch(patch) };
  const body = { active_digest: digest, reason, ...change, ...(request && { request_id: request }) };
  const made = await api.post<Proposal>('/v1/policies/proposals', body);
  show(options, made, (proposal) => print(proposalText(proposal, serviceAddress(options))));
}

async function readPatch(file: string): Promise<string> {
  if (file === '-') return await readAll(process.stdin);
  try {
    return readFileSync(file, 'utf8');
  } catch {
    throw new UsageError(`\`${file}\` cannot be read`);
  }
}

/** The files of the directory that differ from the active policies, and those that it lacks. */
async function changedFiles(api: Api, directory: string): Promise<NonNullable<Change['files']>> {
  const read = await readPolicies(directory);
  if (read.diagnostics.length > 0) refuse(read.diagnostics[0]!.message);
  const { sources } = read;
  const local = new Map(sources.files.map(({ path, text }) => [path, text]));
  for (const path of checkSources(sources).listFiles) {
    const list = sources.readListFile(path);
    if ('text' in list) local.set(path, list.text);
  }
  const { items } = await api.get<Reply<'listPolicyFiles'>>('/v1/policies/files');
  const active = new Map<string, string>();
  for (const { path } of items) {
    const file = await api.get<Reply<'getPolicyFile'>>('/v1/policies/file', { path });
    if (!file.is_complete) refuse(`\`${path}\` is too long to be compared: use --patch`);
    active.set(path, file.text);
  }
  const paths = [...new Set([...local.keys(), ...active.keys()])].toSorted();
  const changed = paths.filter((path) => local.get(path) !== active.get(path));
  if (changed.length === 0) refuse(`the files of ${directory} are the active policies: nothing to propose`);
  return changed.map((path) => ({ path, text: local.get(path) ?? null }));
}

function proposalText(proposal: Proposal, address: string): string {
  const { classification, loosened, stricter, undecided, broken_guarantees: broken, notes, tests } = proposal;
  const counted = tests === null ? 'no tests were run' : `${tests.passed} tests pass, ${tests.failed} fail`;
  return [
    `${proposal.status}: ${classification}`,
    `${loosened} loosened, ${stricter} stricter, ${undecided} undecided; ${counted}`,
    ...[...broken, ...notes].map((line) => `! ${printable(line)}`),
    `${address}/proposals/${proposal.id}`,
    '',
  ].join('\n');
}
