// Each kind of write into its statements. INVARIANT: a write looks before it changes anything, under the lock of its
// batch's transaction, so one that is refused for what it finds leaves no trace and harms no other of its batch.

import type { Database } from 'better-sqlite3';
import type { DocumentResult, DocumentWrite, ManagementChange } from '../contract/documents.ts';
import type { GrantBasis } from '../contract/grant-basis.ts';
import type { MeterEntryRow } from '../contract/metering.ts';
import type { AgentRow, KeyRow, PlantRow } from '../contract/records.ts';
import type { StateAcceptance } from '../contract/state.ts';
import type { StatisticsChange } from '../contract/statistics.ts';
import type {
  AgentDescription,
  AgentDescriptionResult,
  AppendResult,
  KeyRotation,
  RequestChange,
  RequestChangeResult,
  SignedCheckpoint,
  SigningChange,
  SigningChangeResult,
  StatusChange,
  StatusChangeResult,
} from '../contract/store.ts';
import { prepareAgentWrites } from './agent-writes.ts';
import type { Chain } from './chain/chain.ts';
import { prepareChainWrites } from './chain-writes.ts';
import { prepareDocumentWrites } from './documents.ts';
import { prepareEventWrites } from './event-writes.ts';
import type { BasisCheck } from './grant-basis.ts';
import { prepareMeterWrites } from './meters.ts';
import { prepareRecordWrites } from './record-writes.ts';
import type { RefusalColumns, RequestColumns } from './rows.ts';
import { prepareStatisticsWrites } from './statistics.ts';

export type Write =
  | {
      readonly kind: 'add-agent';
      readonly agent: AgentRow;
      readonly key: KeyRow;
      readonly who?: string | undefined;
    }
  | { readonly kind: 'describe-agent'; readonly change: AgentDescription }
  | { readonly kind: 'set-status'; readonly change: StatusChange }
  | { readonly kind: 'set-signing'; readonly change: SigningChange }
  | { readonly kind: 'rotate-key'; readonly rotation: KeyRotation }
  | { readonly kind: 'note-uses'; readonly uses: readonly KeyUse[] }
  | {
      readonly kind: 'append-request';
      readonly row: RequestColumns;
      readonly openMax: number;
      readonly basis: GrantBasis | null;
      readonly entries: readonly MeterEntryRow[];
    }
  | {
      readonly kind: 'add-meter-entries';
      readonly entries: readonly (MeterEntryRow & { readonly requestId: string })[];
    }
  | { readonly kind: 'note-whole-meter'; readonly definition: string }
  | { readonly kind: 'note-meters'; readonly definitions: readonly string[]; readonly atMs: number }
  | {
      readonly kind: 'forget-meter-entries';
      readonly definition: string;
      readonly beforeMs: number;
      readonly countMax: number;
    }
  | { readonly kind: 'append-refusal'; readonly row: RefusalColumns }
  | ({ readonly kind: 'change-request' } & RequestChange)
  | { readonly kind: 'expire-due'; readonly atMs: number; readonly countMax: number }
  | { readonly kind: 'add-checkpoint'; readonly checkpoint: SignedCheckpoint }
  | { readonly kind: 'prune'; readonly checkpoint: SignedCheckpoint }
  | {
      readonly kind: 'write-documents';
      readonly writes: readonly DocumentWrite[];
      readonly change: ManagementChange | null;
    }
  | {
      readonly kind: 'remove-documents';
      readonly documentKind: string;
      readonly atMs: number;
      readonly countMax: number;
    }
  | { readonly kind: 'change-statistics'; readonly change: StatisticsChange }
  | { readonly kind: 'add-plant'; readonly plant: PlantRow }
  | { readonly kind: 'accept-state'; readonly acceptance: StateAcceptance }
  | { readonly kind: 'put-setting'; readonly name: string; readonly value: string };

export interface KeyUse {
  readonly keyId: string;
  readonly atMs: number;
}

/** What each kind of write answers. */
export interface WriteResults {
  readonly 'add-agent': 'added' | 'name-taken';
  readonly 'describe-agent': AgentDescriptionResult;
  readonly 'set-status': StatusChangeResult;
  readonly 'set-signing': SigningChangeResult;
  readonly 'rotate-key': 'added' | 'too-many-keys' | 'unknown-agent';
  readonly 'note-uses': 'noted';
  readonly 'append-request': AppendResult | 'duplicate-id';
  readonly 'append-refusal': 'stored' | 'duplicate-id';
  readonly 'change-request': RequestChangeResult;
  readonly 'expire-due': readonly string[];
  readonly 'add-meter-entries': 'added';
  readonly 'note-meters': readonly (number | null)[];
  readonly 'note-whole-meter': 'noted';
  readonly 'forget-meter-entries': number;
  readonly 'add-checkpoint': 'added';
  readonly prune: 'pruned' | 'not-there';
  readonly 'write-documents': DocumentResult;
  readonly 'remove-documents': number;
  readonly 'change-statistics': 'changed';
  readonly 'add-plant': 'added' | 'used';
  /** The seal is made anew by the writer, after all writes of its batch. */
  readonly 'accept-state': 'accepted';
  readonly 'put-setting': 'put' | 'there';
}

export type WriteKind = keyof WriteResults & Write['kind'];
export type WriteOf<K extends WriteKind> = Extract<Write, { readonly kind: K }>;
export type ApplyWrite = (write: Write) => WriteResults[WriteKind];

export interface WriteOptions {
  readonly chain: Chain;
  /** Who makes the changes of management that come through here. */
  readonly actor: string;
  readonly basis: BasisCheck;
}

/** Prepares all statements. The function returned is to be called inside a transaction that holds the write lock. */
export function prepareWrites(database: Database, options: WriteOptions): ApplyWrite {
  const agents = prepareAgentWrites(database, options);
  const meters = prepareMeterWrites(database);
  const records = prepareRecordWrites(database, options, meters);
  const events = prepareEventWrites(database, options, meters);
  const chain = prepareChainWrites(database, options);
  const documents = prepareDocumentWrites(database, options);
  const statistics = prepareStatisticsWrites(database);
  const rest = prepareOtherWrites(database);
  const apply: ApplyWrite = (write) => {
    switch (write.kind) {
      case 'add-agent':
        return agents.add(write);
      case 'describe-agent':
        return agents.describe(write.change);
      case 'set-status':
        return agents.setStatus(write.change);
      case 'set-signing':
        return agents.setSigning(write.change);
      case 'rotate-key':
        return agents.rotateKey(write.rotation);
      case 'note-uses':
        return agents.noteUses(write.uses);
      case 'append-request':
        return records.append(write);
      case 'append-refusal':
        return records.appendRefusal(write.row);
      case 'change-request':
        return events.change(write);
      case 'expire-due':
        return events.expireDue(write);
      case 'add-meter-entries':
        return meters.add(write);
      case 'note-meters':
        return meters.note(write);
      case 'note-whole-meter':
        return meters.noteWhole(write);
      case 'forget-meter-entries':
        return meters.forget(write);
      case 'add-checkpoint':
        return chain.addCheckpoint(write.checkpoint);
      case 'prune':
        return chain.prune(write.checkpoint);
      case 'write-documents':
        return documents.write(write.writes, write.change);
      case 'remove-documents':
        return documents.removeEnded(write.documentKind, write.atMs, write.countMax);
      case 'change-statistics':
        return statistics.change(write);
      case 'add-plant':
        return rest.addPlant(write.plant);
      case 'accept-state':
        return chain.acceptState(write.acceptance);
      case 'put-setting':
        return rest.putSetting(write);
    }
  };
  return (write) => {
    const result = apply(write);
    if (basisWrites.has(write.kind)) options.basis.forget();
    return result;
  };
}

/** What may change the basis of a grant. */
const basisWrites: ReadonlySet<WriteKind> = new Set([
  'add-agent',
  'describe-agent',
  'set-status',
  'set-signing',
  'rotate-key',
  'write-documents',
  'remove-documents',
]);

function prepareOtherWrites(database: Database) {
  const insertPlant = database.prepare<[PlantRow]>(
    'INSERT INTO plants VALUES (@id, @name, @tag) ON CONFLICT (id) DO NOTHING',
  );
  const insertSetting = database.prepare<[{ name: string; value: string }]>(
    'INSERT INTO settings VALUES (@name, @value) ON CONFLICT (name) DO NOTHING',
  );
  return {
    addPlant(plant: PlantRow): WriteResults['add-plant'] {
      return insertPlant.run(plant).changes === 0 ? 'used' : 'added';
    },
    putSetting({ name, value }: WriteOf<'put-setting'>): WriteResults['put-setting'] {
      return insertSetting.run({ name, value }).changes === 0 ? 'there' : 'put';
    },
  };
}
