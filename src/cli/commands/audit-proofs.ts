// `writ audit prove` and `writ audit consistency`: proofs from the transparency log of a store, for people who have no
// access to it. INVARIANT: only proofs that verify are printed.

import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import type { Store } from '../../service/store/contract/store.ts';
import {
  checkpointNoteText,
  type ReadCheckpoint,
  readCheckpointNote,
} from '../../service/transparency-log/checkpoint-note.ts';
import { logStateOf } from '../../service/transparency-log/log-state.ts';
import {
  type InclusionProof,
  type ProofProblem,
  proofText,
  proveConsistency,
  proveRecord,
} from '../../service/transparency-log/prove.ts';
import { leadsTo } from '../../service/transparency-log/transparency-log.ts';
import { type DataOption, withDataOption, withStore } from '../client/with-store.ts';
import { fileError } from '../output/file-error.ts';
import { type ExitCode, exitCodes, print, printError, printJson, UsageError } from '../output/output.ts';

type Finish = (code: ExitCode) => void;

interface ProveOptions extends DataOption {
  readonly sequence?: string;
  readonly text?: boolean;
}

export function defineProve(command: Command, finish: Finish): void {
  withDataOption(command.command('prove'))
    .description('prove that the records of a request are in the transparency log')
    .argument('[request]', 'a request id')
    .option('--sequence <number>', 'one record, by its number')
    .option('--text', 'print C2SP tlog-proof text, without the record; for one record')
    .action(async (id: string | undefined, options: ProveOptions) => {
      if ((id === undefined) === (options.sequence === undefined))
        throw new UsageError('name a request id, or use --sequence');
      if (options.text === true && options.sequence === undefined)
        throw new UsageError('--text needs --sequence, since it holds one proof');
      finish(await withStore(options, (store) => prove(store, id ?? null, options)));
    });
}

const idForm = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

async function prove(store: Store, id: string | null, { sequence, text }: ProveOptions): Promise<ExitCode> {
  const sequences = id === null ? [readNumber(String(sequence))] : await sequencesOf(store, id.toLowerCase());
  if (sequences.length === 0) return wrong(`there is no request \`${id}\`, or its records were deleted`);
  const checkpoint = await publishedIn(store);
  if (checkpoint === null) return wrong(unpublished);
  const proofs: InclusionProof[] = [];
  for (const one of sequences) {
    const proof = await proveRecord(store, one, checkpoint);
    if (typeof proof === 'string') return wrong(problemText(proof, one));
    proofs.push(proof);
  }
  if (text === true) print(proofs.map(proofText).join(''));
  else printJson({ items: proofs });
  return exitCodes.ok;
}

async function sequencesOf({ chain }: Store, id: string): Promise<readonly number[]> {
  return idForm.test(id) ? await chain.sequencesOf(id) : [];
}

function readNumber(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new UsageError('--sequence must be a whole number');
}

const unpublished =
  'the transparency log has no published checkpoint: the service makes one within seconds of its start';

function problemText(problem: ProofProblem, sequence: number): string {
  switch (problem) {
    case 'absent':
      return `there is no record ${sequence}`;
    case 'pruned':
      return `record ${sequence} was deleted: the log keeps only its hash`;
    case 'later':
      return `the published checkpoint does not cover record ${sequence} yet: the running service makes the next one within seconds`;
    case 'changed':
      return `record ${sequence} or the hash tree was changed: run \`writ audit verify\``;
  }
}

export function defineConsistency(command: Command, finish: Finish): void {
  withDataOption(command.command('consistency'))
    .description('prove that a checkpoint of the transparency log continues an earlier one')
    .argument('<old>', 'the file of the earlier checkpoint')
    .argument('[new]', 'the file of the later one (default: the published checkpoint)')
    .action(async (old: string, later: string | undefined, options: DataOption) => {
      const files = [old, ...(later === undefined ? [] : [later])].map(readNoteFile);
      finish(await withStore(options, (store) => proveContinued(store, files)));
    });
}

function readNoteFile(path: string): ReadCheckpoint {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
  const checkpoint = readCheckpointNote(text);
  if (checkpoint === null) throw new UsageError(`${path} is not a checkpoint of a transparency log`);
  return checkpoint;
}

async function proveContinued(store: Store, [old, given]: readonly ReadCheckpoint[]): Promise<ExitCode> {
  const later = given ?? (await publishedIn(store));
  if (later === null || old === undefined) return wrong(unpublished);
  if (later.origin !== old.origin)
    return wrong(`the checkpoints are of two logs, ${old.origin} and ${later.origin}`);
  if (later.size < old.size) return wrong(`the checkpoint with ${old.size} records is the later one`);
  const proof = (await leadsTo(store, old)) ? await proveConsistency(store, old.size, later) : 'changed';
  if (proof === 'changed')
    return wrong('the log does not continue the earlier checkpoint: run `writ audit verify`');
  printJson({ ...proof, old_checkpoint: checkpointNoteText(old) });
  return exitCodes.ok;
}

async function publishedIn({ documents }: Store): Promise<ReadCheckpoint | null> {
  const text = (await logStateOf(documents).find('log'))?.value.published ?? null;
  return text === null ? null : readCheckpointNote(text);
}

function wrong(message: string): ExitCode {
  printError(`error: ${message}\n`);
  return exitCodes.wrong;
}
