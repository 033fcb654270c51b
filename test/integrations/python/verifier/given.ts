// What an auditor is given: the export of a month with the policy sets, and the evidence that was kept elsewhere, all
// of it genuine. Tampering changes a part of it.

import { createHash, sign } from 'node:crypto';
import { signingKeysOf } from '../../../../src/service/agents/signing-key.ts';
import { checkpointText, createCheckpointSigner } from '../../../../src/service/audit/checkpoint.ts';
import { canonicalJson } from '../../../../src/service/store/contract/canonical-json.ts';
import { type ChainEntry, chainStart, linkHash } from '../../../../src/service/store/contract/chain.ts';
import {
  checkpointBody,
  consistencyPath,
  cosignatureLine,
  inclusionPath,
  leafHash,
  type NoteKey,
  noteKey,
  signatureLine,
} from './log.ts';
import type { Month } from './month.ts';

export interface Line {
  readonly sequence: number;
  readonly at: string;
  readonly previous: string;
  readonly hash: string;
  readonly entry: ChainEntry;
}

export interface VerifierInput {
  /** Lines of the export, each with its line end. */
  readonly lines: readonly string[];
  /** Files of policy sets by digest. */
  readonly sets: ReadonlyMap<string, string>;
  /** Files of evidence by name. */
  readonly evidence: Readonly<Record<string, string>>;
  readonly keys: readonly string[];
  readonly options?: readonly string[];
}

/** The genuine material, and the means of those who tamper with it. */
export interface World extends VerifierInput {
  readonly month: Month;
  readonly records: readonly Line[];
  readonly logKey: NoteKey;
  readonly witnesses: readonly NoteKey[];
  /** A signed checkpoint of the first records, with cosignatures of these moments. */
  readonly note: (records: readonly Line[], seconds?: number, by?: NoteKey) => string;
}

const origin = 'writ.example.com/writ';
/** How many records the earlier checkpoint covers. */
export const earlySize = 20;
const noteSeconds = 1_800_000_000;

export function worldOf(month: Month): World {
  const records = month.lines.map((line) => JSON.parse(line) as Line);
  const logKey = noteKey(origin, 1);
  const witnesses = [noteKey('one.example.org/witness', 4), noteKey('two.example.org/witness', 4)];
  const note: World['note'] = (some, seconds = noteSeconds + some.length, by = logKey) => {
    const body = checkpointBody(by.name, leavesOf(some));
    const lines = witnesses.map((witness) => cosignatureLine(body, witness, seconds));
    return `${body}\n${signatureLine(body, by)}${lines.join('')}`;
  };
  const signer = createCheckpointSigner(month.masterKey);
  const evidence = {
    'early.json': checkpointOf(month, records.slice(0, earlySize)),
    'late.json': checkpointOf(month, records),
    'early.txt': note(records.slice(0, earlySize)),
    'late.txt': note(records),
    'denial.json': inclusionOf(records, denialIn(records), note(records)),
    'items.json': `{"items":[${inclusionOf(records, 0, note(records))}]}`,
    'denial.tlog-proof': logProofOf(records, denialIn(records), note(records)),
    'consistency.json': consistencyOf(records, note(records)),
    'receipt.jwt': month.receipt,
    'statement.jwt': statementOf(month, records[denialIn(records)]!),
  };
  const keys = [signer.publicKey, ...witnesses.map(({ text }) => text)];
  return { lines: month.lines, sets: month.sets, evidence, keys, month, records, logKey, witnesses, note };
}

function leavesOf(records: readonly Line[]) {
  return records.map(({ entry }) => leafHash(canonicalJson(entry)));
}

/** A checkpoint of the chain's end, as `writ audit checkpoint` prints it. */
export function checkpointOf(
  { masterKey }: Pick<Month, 'masterKey'>,
  records: readonly Line[],
  atMs = noteSeconds * 1000 + records.length,
): string {
  const { sequence, hash } = records.at(-1)!;
  const signer = createCheckpointSigner(masterKey);
  return checkpointText(signer.sign({ sequence, hash }, 'end', atMs), signer);
}

function denialIn(records: readonly Line[]): number {
  return records.findIndex(({ entry }) => entry.outcome === 'DENY');
}

export function inclusionOf(records: readonly Line[], index: number, checkpoint: string): string {
  const { sequence, entry } = records[index]!;
  return JSON.stringify({
    log: origin,
    sequence,
    leaf_index: index,
    tree_size: records.length,
    entry,
    inclusion: inclusionPath(index, leavesOf(records)).map((hash) => hash.toString('base64')),
    checkpoint,
  });
}

export function logProofOf(records: readonly Line[], index: number, checkpoint: string): string {
  const path = inclusionPath(index, leavesOf(records)).map((hash) => `${hash.toString('base64')}\n`);
  return `c2sp.org/tlog-proof@v1\nindex ${index}\n${path.join('')}\n${checkpoint}`;
}

function consistencyOf(records: readonly Line[], checkpoint: string): string {
  return JSON.stringify({
    old_size: earlySize,
    new_size: records.length,
    consistency: consistencyPath(earlySize, leavesOf(records)).map((hash) => hash.toString('base64')),
    checkpoint,
  });
}

/** Writes a line as the export does. */
export function lineOf({ sequence, at, previous, hash, entry }: Line): string {
  return `{"sequence":${sequence},"at":"${at}","previous":"${previous}","hash":"${hash}","entry":${canonicalJson(entry)}}\n`;
}

/**
 * The lines of entries that somebody has chosen who can write everything: numbered, with hashes that fit. Entries of
 * other lanes keep their numbers.
 */
export function relinked(entries: readonly ChainEntry[]): readonly string[] {
  let previous: string = chainStart.hash;
  return entries.map((one, at) => {
    const entry: ChainEntry = { ...one, sequence: at + 1 };
    const hash = linkHash(previous, entry);
    const atMs = Number(entry[entry.kind === 'request' ? 'created_ms' : 'at_ms']);
    const line = { sequence: at + 1, at: new Date(atMs).toISOString(), previous, hash, entry };
    previous = hash;
    return lineOf(line);
  });
}

type Json = Readonly<Record<string, unknown>>;

type TokenType = 'writ-receipt+jwt' | 'writ-statement+jwt';

/** The key id by which the service names a key (RFC 7638). */
function kidOf(publicText: string): string {
  return createHash('sha256').update(`{"crv":"Ed25519","kty":"OKP","x":"${publicText}"}`).digest('base64url');
}

/** A receipt or statement with these claims, by somebody who has the service's key for `purpose`. */
export function tokenOf(
  { masterKey }: Pick<Month, 'masterKey'>,
  claims: Json,
  { typ, purpose }: { readonly typ: TokenType; readonly purpose: 'receipts 1' | 'statements' },
): string {
  const { privateKey, publicText } = signingKeysOf(masterKey, purpose);
  const encoded = (value: Json) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const signed = `${encoded({ alg: 'EdDSA', typ, kid: kidOf(publicText) })}.${encoded(claims)}`;
  return `${signed}.${sign(null, Buffer.from(signed), privateKey).toString('base64url')}`;
}

/** A statement about a request as it was first decided. */
export function statementOf(month: Month, { entry }: Line, change: Json = {}): string {
  const { policySet, decision } = JSON.parse(String(entry.record_json)) as {
    readonly policySet: { readonly digest: string };
    readonly decision: { readonly by: string };
  };
  const statement = {
    action_key: entry.action_key,
    first_decision: entry.outcome,
    status: entry.status,
    policy: { set: `sha256:${policySet.digest}`, rule: decision.by },
    ...change,
  };
  const claims = { iat: 1, sub: `agent:${entry.agent_id}`, txn: entry.id, statement };
  return tokenOf(month, claims, { typ: 'writ-statement+jwt', purpose: 'statements' });
}

export function claimsOf(receipt: string): Json {
  return JSON.parse(Buffer.from(receipt.split('.')[1]!, 'base64url').toString()) as Json;
}

/** The file of the log's keys, as the service publishes them. */
export function logKeys({ masterKey }: Pick<Month, 'masterKey'>, logKey: NoteKey): string {
  const { publicText: x } = signingKeysOf(masterKey, 'statements');
  return JSON.stringify({ verifier_key: logKey.text, statement_key: { crv: 'Ed25519', x, kid: kidOf(x) } });
}
