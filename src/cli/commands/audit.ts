// `writ audit`: verifies the store, exports the records, signs checkpoints, deletes old records, and replays
// decisions. The command works on the data directory of the service, whether the service runs or not.

import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { Command } from 'commander';
import { Option } from 'commander';
import {
  approvalNames,
  approvalPages,
  approvalRow,
  type ListedApproval,
} from '../../service/audit/approvals.ts';
import { checkpointText, createCheckpointSigner, readCheckpoint } from '../../service/audit/checkpoint.ts';
import { pruneRecords } from '../../service/audit/prune.ts';
import type { ChainBreak, Verification, WholeChain } from '../../service/audit/verify.ts';
import { isWhole, type StoreVerification, verifyStore } from '../../service/audit/verify-store.ts';
import type { TreeBreak, TreeVerification } from '../../service/audit/verify-tree.ts';
import { nameOfDifference, type StateDifference } from '../../service/store/contract/state.ts';
import type { SignedCheckpoint, Store } from '../../service/store/contract/store.ts';
import {
  type ReadCheckpoint as LogCheckpoint,
  readCheckpointNote,
} from '../../service/transparency-log/checkpoint-note.ts';
import { type DataOption, withDataOption, withStore } from '../client/with-store.ts';
import { fileError } from '../output/file-error.ts';
import { localTime } from '../output/local-time.ts';
import { many } from '../output/many.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output/output.ts';
import { createTable, markForeignLetters } from '../output/table.ts';
import { addExamples } from '../support/help-layout.ts';
import { readMoment } from '../support/parse-time.ts';
import { defineExport } from './audit-export.ts';
import { defineConsistency, defineProve } from './audit-proofs.ts';
import { defineReplay } from './audit-replay.ts';
import { defineWitness } from './audit-witness.ts';

type Finish = (code: ExitCode) => void;

export function defineAudit(command: Command, finish: Finish): void {
  addExamples(command, examples);
  defineVerify(command, finish);
  defineExport(command, finish);
  defineApprovals(command, finish);
  defineCheckpoint(command, finish);
  definePrune(command, finish);
  defineAccept(command, finish);
  defineProve(command, finish);
  defineConsistency(command, finish);
  defineWitness(command, finish);
  defineReplay(command, finish);
}

const examples = `
Examples:
  writ audit verify
  writ audit checkpoint > /elsewhere/writ-checkpoint.json
  writ audit verify --checkpoint /elsewhere/writ-checkpoint.json
  writ audit export --since 2026-03-01 --format csv > march.csv
  writ audit export --since 2026-03-01 --until 2026-04-01 --policies sets > march.jsonl
  writ audit approvals --since 2026-03-01 --until 2026-04-01 --csv > march.csv
  writ audit prune --before 2025-01-01
  writ audit accept
  writ audit prove 0195a3f0-0000-7000-8000-000000000000 > proofs.json
  writ audit consistency march.note april.note
  writ audit witness --name witness.example.com --log $KEY
  writ audit replay --all --policies policies`;

interface VerifyCommandOptions extends DataOption {
  readonly checkpoint: readonly string[];
  readonly json?: boolean;
}

function defineVerify(command: Command, finish: Finish): void {
  withDataOption(command.command('verify'))
    .description('verify that only the service has changed the store, and name other changes')
    .option('--checkpoint <file...>', 'compare with checkpoints that you kept elsewhere', [])
    .option('--json', 'print the result as JSON')
    .action(async (options: VerifyCommandOptions) => {
      const kept = options.checkpoint.map(readCheckpointFile);
      finish(await withStore(options, (store) => verify(store, kept, options)));
    });
}

/** A checkpoint of the records, or one of the transparency log. */
type KeptCheckpoint =
  | { readonly kind: 'records'; readonly checkpoint: SignedCheckpoint }
  | { readonly kind: 'log'; readonly checkpoint: LogCheckpoint };

function readCheckpointFile(path: string): KeptCheckpoint {
  const text = readFile(path);
  const note = readCheckpointNote(text);
  if (note !== null) return { kind: 'log', checkpoint: note };
  const checkpoint = readCheckpoint(text);
  if (checkpoint === null) throw new UsageError(`${path} is not a checkpoint`);
  return { kind: 'records', checkpoint };
}

function readFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new UsageError(`cannot read ${path}: ${fileError(error)}`);
  }
}

async function verify(
  store: Store,
  kept: readonly KeptCheckpoint[],
  { json }: VerifyCommandOptions,
): Promise<ExitCode> {
  const result = await verifyWithProgress(store, kept);
  const { chain, tree, differences } = result;
  if (json === true)
    printJson({ ok: isWhole(result), ...chainJson(chain), transparency_log: treeJson(tree), differences });
  else if (!isWhole(result)) printFaults(result);
  else if (chain.kind === 'whole' && tree.kind === 'whole')
    print(`${createMarks().good('✓')} ${describe(chain, tree)}\n`);
  return isWhole(result) ? exitCodes.ok : exitCodes.wrong;
}

function chainJson(chain: Verification) {
  if (chain.kind === 'broken') return { break: chain.break };
  const { firstSequence, end, checkpointCount } = chain;
  return { first: firstSequence, last: end.sequence, hash: end.hash, checkpoints: checkpointCount };
}

function treeJson(tree: TreeVerification) {
  return tree.kind === 'broken'
    ? { break: tree.break }
    : { size: tree.size, checkpoints: tree.checkpointCount };
}

function verifyWithProgress(store: Store, kept: readonly KeptCheckpoint[] = []) {
  const progress = createProgress();
  return verifyStore(store, {
    checkpoints: kept.flatMap((one) => (one.kind === 'records' ? [one.checkpoint] : [])),
    notes: kept.flatMap((one) => (one.kind === 'log' ? [one.checkpoint] : [])),
    onHashes: (hashes) => progress.show(`${count(hashes)} hashes of the transparency log`),
    onChecked: (sequence, last) => progress.show(`record ${count(sequence)} of ${count(last)}`),
    onRows: (rows) => progress.show(`${count(rows)} rows outside the records`),
  }).finally(progress.clear);
}

function describe({ firstSequence, end, ...chain }: WholeChain, tree: WholeTree): string {
  const checkpointCount = chain.checkpointCount + tree.checkpointCount;
  const compared =
    checkpointCount === 0 ? '' : `; ${many(checkpointCount, 'checkpoint matches', 'checkpoints match')}`;
  if (end.sequence < firstSequence) return `there are no records${compared}`;
  const range = `records ${count(firstSequence)} to ${count(end.sequence)} are unchanged`;
  return `${range}${compared}\n  the last has hash ${end.hash}\n  everything else is as the service left it`;
}

function printFaults({ chain, tree, differences }: StoreVerification): void {
  if (chain.kind === 'broken') printBreak(chain.break);
  else if (tree.kind === 'broken') printTreeBreak(tree.break);
  for (const difference of differences) printDifference(difference);
}

function printDifference(difference: StateDifference): void {
  const mark = createMarks(process.stderr).bad('✗');
  printError(`${mark} ${nameOfDifference(difference)}: ${difference.message}\n`);
}

function printBreak({ sequence, name, message }: ChainBreak): void {
  const subject = `record ${count(sequence)}${name === null ? '' : ` (${name})`}`;
  printError(`${createMarks(process.stderr).bad('✗')} ${subject}: ${message}\n`);
}

function printTreeBreak({ sequence, message }: TreeBreak): void {
  const subject = sequence === null ? 'transparency log' : `record ${count(sequence)}`;
  printError(`${createMarks(process.stderr).bad('✗')} ${subject}: ${message}\n`);
}

interface ApprovalsCommandOptions extends DataOption {
  readonly since: number;
  readonly until?: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

function defineApprovals(command: Command, finish: Finish): void {
  withDataOption(command.command('approvals'))
    .description('print who approved or rejected what, newest first')
    .requiredOption('--since <time>', 'votes since this time', readMoment)
    .option('--until <time>', 'votes before this time', readMoment)
    .addOption(new Option('--json', 'print one JSON object per line').conflicts('csv'))
    .option('--csv', 'print a table for spreadsheets')
    .action(async (options: ApprovalsCommandOptions) => {
      finish(await withStore(options, (store) => printApprovals(store, options)));
    });
}

async function printApprovals(
  store: Store,
  { since, until = Number.MAX_SAFE_INTEGER, json = false, csv = false }: ApprovalsCommandOptions,
): Promise<ExitCode> {
  const render = createTable(['at', 'person', 'vote', 'for', 'request', 'agent', 'comment']);
  let isEmpty = true;
  if (csv) print(approvalNames);
  for await (const page of approvalPages(store, { sinceMs: since, untilMs: until })) {
    isEmpty = false;
    const text = json
      ? page.map((one) => `${JSON.stringify(one)}\n`).join('')
      : csv
        ? page.map(approvalRow).join('')
        : render(page.map(approvalCells));
    // With a slow reader, lines must not pile up in memory.
    if (!process.stdout.write(text)) await once(process.stdout, 'drain');
  }
  if (isEmpty && !json && !csv) print('no votes in this period\n');
  return exitCodes.ok;
}

function approvalCells({
  at,
  person,
  vote,
  group,
  title,
  action_key: action,
  agent,
  comment,
}: ListedApproval) {
  return [
    localTime(at),
    person.name === '' ? person.email : `${person.name} <${person.email}>`,
    vote.replace('_', ' '),
    group ?? 'control owner',
    markForeignLetters(title === '' ? action : title),
    agent.name,
    comment,
  ];
}

function defineCheckpoint(command: Command, finish: Finish): void {
  withDataOption(command.command('checkpoint'))
    .description('sign the end of the records and print it; a copy kept elsewhere detects a truncation')
    .action(async (options: DataOption) => {
      finish(await withStore(options, checkpoint));
    });
}

/** Signs a checkpoint, but only of records that verify. */
async function checkpoint(store: Store): Promise<ExitCode> {
  const result = await verifyWithProgress(store);
  const { chain } = result;
  if (chain.kind === 'broken' || !isWhole(result)) {
    printFaults(result);
    return exitCodes.wrong;
  }
  const signer = createCheckpointSigner(store.masterKey);
  const signed = signer.sign(chain.end, 'end', Date.now());
  await store.chain.addCheckpoint(signed);
  print(checkpointText(signed, signer));
  return exitCodes.ok;
}

type WholeTree = Extract<TreeVerification, { readonly kind: 'whole' }>;

interface PruneCommandOptions extends DataOption {
  readonly before: number;
  readonly json?: boolean;
}

function definePrune(command: Command, finish: Finish): void {
  withDataOption(command.command('prune'))
    .description('delete the records before a time, up to the first that is still in use')
    .requiredOption('--before <time>', 'keep the records since this time', readMoment)
    .option('--json', 'print the result as JSON')
    .action(async (options: PruneCommandOptions) => {
      finish(await withStore(options, (store) => prune(store, options)));
    });
}

async function prune(store: Store, { before, json }: PruneCommandOptions): Promise<ExitCode> {
  const progress = createProgress();
  const result = await pruneRecords(store, {
    beforeMs: before,
    nowMs: Date.now(),
    onProgress: (deleted) => progress.show(`${count(deleted)} records deleted`),
  }).finally(progress.clear);
  if (json === true) printJson({ deleted: result.deletedCount, kept: result.kept, break: result.break });
  else print(`${count(result.deletedCount)} records deleted${why[result.kept?.because ?? 'date']}\n`);
  if (result.break === null) return exitCodes.ok;
  if (json !== true) printBreak(result.break);
  return exitCodes.wrong;
}

interface AcceptCommandOptions extends DataOption {
  readonly yes?: boolean;
}

function defineAccept(command: Command, finish: Finish): void {
  withDataOption(command.command('accept'))
    .description('accept manual changes outside the records')
    .option('--yes', 'accept and record it; otherwise only list the differences')
    .action(async (options: AcceptCommandOptions) => {
      finish(await withStore(options, (store) => accept(store, options)));
    });
}

/**
 * Accepts changes that were made beside the records. The records stay the same: `verify` still finds a
 * changed record afterwards.
 */
async function accept(store: Store, { yes }: AcceptCommandOptions): Promise<ExitCode> {
  const differences = await store.state.differences({ isQuick: false });
  if (differences.length === 0) {
    print('the store is as the service left it: nothing to accept\n');
    return exitCodes.ok;
  }
  for (const difference of differences) printDifference(difference);
  if (yes !== true) {
    printError('nothing was accepted: restore a backup, or run this again with --yes\n');
    return exitCodes.wrong;
  }
  await store.state.accept({ atMs: Date.now(), differences });
  const left = await store.state.differences({ isQuick: false });
  if (left.length === 0) {
    print('accepted and recorded\n');
    return exitCodes.ok;
  }
  for (const difference of left) printDifference(difference);
  printError(
    'the rest was accepted; changes of requests cannot be accepted: undo them, or restore a backup\n',
  );
  return exitCodes.wrong;
}

const why = {
  date: '',
  'still-counts': '; an older one is still in use and stays, with all later ones',
} as const;

function count(number: number): string {
  return number.toLocaleString('en');
}

/**
 * Shows progress as one line on a terminal, in which each text replaces the last. Shows nothing for pipes and
 * files.
 */
function createProgress(): { readonly show: (text: string) => void; readonly clear: () => void } {
  const stream = process.stderr;
  const intervalMs = 100;
  let shownAt = 0;
  return {
    show(text) {
      const now = performance.now();
      if (!stream.isTTY || now - shownAt < intervalMs) return;
      shownAt = now;
      stream.write(`\r\x1b[K${text}`);
    },
    clear() {
      if (shownAt > 0) stream.write('\r\x1b[K');
    },
  };
}
