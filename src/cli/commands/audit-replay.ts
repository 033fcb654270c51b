// `writ audit replay`: decides recorded requests again, on their own facts and by the policies that decided them, and
// lists the differences.

import type { Command } from 'commander';
import {
  type ReplayableRecord,
  type ReplayDifference,
  type ReplayPolicies,
  type ReplayResult,
  replay,
} from '../../analysis/replay/replay-files.ts';
import { digest } from '../../service/policies/digest.ts';
import { decisionRecord } from '../../service/requests/record/record.ts';
import type { ChainEntry } from '../../service/store/contract/chain.ts';
import type { Store } from '../../service/store/contract/store.ts';
import { type DataOption, withDataOption, withStore } from '../client/with-store.ts';
import {
  createMarks,
  type ExitCode,
  exitCodes,
  print,
  printError,
  printJson,
  UsageError,
} from '../output/output.ts';
import { defaultPath, loadWorking } from '../support/load-policies.ts';

interface Options extends DataOption {
  readonly all?: boolean;
  readonly policies?: string;
  readonly json?: boolean;
}

export function defineReplay(command: Command, finish: (code: ExitCode) => void): void {
  withDataOption(command.command('replay'))
    .description('decide recorded requests again with the same policies, and list the differences')
    .argument('[request]', 'a request id')
    .option('--all', 'all requests that these policies decided')
    .option('--policies <path>', 'the policy directory (default: ./policies, else the current directory)')
    .option('--json', 'print the result as JSON')
    .action(async (id: string | undefined, options: Options) => {
      if ((id === undefined) === (options.all !== true))
        throw new UsageError('name a request id, or use --all');
      finish(await run(id ?? null, options));
    });
}

async function run(id: string | null, options: Options): Promise<ExitCode> {
  const policies = await load(options);
  if (policies === null) return exitCodes.wrong;
  return await withStore(options, async (store) => {
    const tally = createTally(options);
    if (id === null) {
      for await (const record of recordsOf(store)) tally.take(record, replay(record, policies));
      return tally.finish();
    }
    const row = await store.requests.find(id.toLowerCase());
    if (row === null) {
      printError(`error: there is no request \`${id}\`\n`);
      return exitCodes.wrong;
    }
    const record = recordOf(
      { id: row.id, actionKey: row.actionKey, createdAtMs: row.createdAtMs },
      row.recordJson,
    );
    tally.take(record, replay(record, policies));
    return tally.finish();
  });
}

async function load(options: Options): Promise<ReplayPolicies | null> {
  const working = await loadWorking(options.policies ?? defaultPath());
  if (working === null) return null;
  const { set, engine } = working;
  return { set, engine, digest: digest(set) };
}

const recordsAtOnce = 100;

/** Reads all requests, the oldest first. Holds one part of the chain in memory at a time. */
async function* recordsOf(store: Store): AsyncGenerator<ReplayableRecord> {
  let after = 0;
  for (;;) {
    const { pruning, records, lastSequence } = await store.chain.segment(after, recordsAtOnce);
    for (const { entry } of records) {
      if (entry.kind === 'request') yield recordOfEntry(entry);
    }
    after = Math.max(after, pruning?.sequence ?? 0) + recordsAtOnce;
    if (after >= lastSequence) return;
  }
}

function recordOfEntry(entry: ChainEntry): ReplayableRecord {
  const [id, actionKey] = [String(entry.id), String(entry.action_key)];
  return recordOf({ id, actionKey, createdAtMs: Number(entry.created_ms) }, String(entry.record_json));
}

type Columns = Pick<ReplayableRecord, 'id' | 'actionKey' | 'createdAtMs'>;

function recordOf(columns: Columns, recordJson: string): ReplayableRecord {
  // `requestRow` wrote this JSON; `writ audit verify` shows whether somebody changed it.
  return { ...decisionRecord(recordJson), ...columns };
}

interface Tally {
  take(record: ReplayableRecord, result: ReplayResult): void;
  finish(): ExitCode;
}

/** Records that are listed; of further differing records, only the number is shown. */
const shownMax = 100;

function createTally({ json, all }: Options): Tally {
  const counts = { same: 0, different: 0, 'other-policies': 0, withheld: 0 };
  const different: object[] = [];
  /**
   * Records of other policies, for which the values that were read from tables are different in these
   * policies.
   */
  const otherRows: object[] = [];
  const versions = new Set<string>();
  let decisionOnly = 0;
  const marks = createMarks();
  /**
   * Lists a record: with a mark when it was decided differently, or as one whose rows of tables have changed.
   */
  const note = (into: object[], record: ReplayableRecord, differences: readonly ReplayDifference[]) => {
    if (into.length >= shownMax) return;
    into.push({ id: record.id, action: record.actionKey, differences });
    if (json === true) return;
    print(`${into === different ? marks.bad('✗') : 'rows of'} ${record.id} (${record.actionKey})\n`);
    for (const { path, recorded, replayed } of differences)
      print(`    ${path}: recorded ${shown(recorded)}, now ${shown(replayed)}\n`);
  };
  return {
    take(record, result) {
      counts[result.kind] += 1;
      if (result.kind === 'same' && !result.isWhole) decisionOnly += 1;
      if (result.kind === 'same' || result.kind === 'different')
        for (const version of result.versions) versions.add(version);
      if (result.kind === 'different') note(different, record, result.differences);
      else if (result.kind === 'other-policies' && result.rows.length > 0)
        note(otherRows, record, result.rows);
    },
    finish() {
      const replayed = counts.same + counts.different;
      const code = counts.different > 0 || replayed === 0 ? exitCodes.wrong : exitCodes.ok;
      if (json === true) {
        const summary = { ...counts, decision_only: decisionOnly, versions: [...versions] };
        printJson({ ...summary, differing: different, rows: otherRows });
        return code;
      }
      const mark = code === exitCodes.ok ? marks.good('✓') : marks.bad('✗');
      print(`${mark} ${counts.same} decided the same again, ${counts.different} differently\n`);
      if (decisionOnly > 0)
        print(`  of ${decisionOnly} only the decision was compared, because their records omit secrets\n`);
      if (counts.withheld > 0)
        print(
          `  ${counts.withheld} cannot be repeated, because their records omit values that the payload check reads\n`,
        );
      if (counts['other-policies'] > 0)
        print(`  ${counts['other-policies']} ${all === true ? 'were' : 'was'} decided by other policies\n`);
      for (const version of versions) print(`  recorded under ${version}\n`);
      return code;
    },
  };
}

const shownLengthMax = 200;

function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > shownLengthMax ? `${text.slice(0, shownLengthMax)}...` : text;
}
