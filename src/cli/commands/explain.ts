// `writ explain REQUEST`: shows why a request got its decision, and what would change it. REQUEST is the id of a recorded
// request, or a JSON file with one. The command records nothing.

import { existsSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';
import type { Command } from 'commander';
import { decisionSteps } from '../../analysis/decision-steps.ts';
import { underChain } from '../../analysis/policies-under-chain.ts';
import { factsOfRecord, holdsDigests, recordedShape } from '../../analysis/records/recorded-request.ts';
import { type CameBy, cameByItself } from '../../analysis/replay/export-line.ts';
import type { SourceOf } from '../../language/diagnostic/render.ts';
import type { PolicySet } from '../../language/model/policy.ts';
import { digest } from '../../service/policies/digest.ts';
import { engineVersions, versionDifferences } from '../../service/requests/record/engine-versions.ts';
import type { RequestRecord } from '../../service/requests/record/record.ts';
import { type DataOption, storeMeaning } from '../client/with-store.ts';
import { createMarks, type ExitCode, exitCodes, print, printJson, UsageError } from '../output/output.ts';
import { explainGiven } from '../support/explain-given.ts';
import {
  type ExplainEngine,
  type ExplanationInput,
  explainDecision,
  explanationJson,
  renderCameBy,
  renderChanges,
  renderDecision,
  renderNear,
  renderRisk,
  renderRules,
  renderSource,
  renderUnknown,
} from '../support/explain-text.ts';
import { findRecord, isRequestId } from '../support/find-record.ts';
import { defaultPath, loadWorking, type WorkingPolicies } from '../support/load-policies.ts';
import { type GivenFacts, readRequestFile } from '../support/read-facts.ts';
import { decisionWalkText, walkByKeys } from '../support/walk-folders.ts';

export function defineExplain(command: Command, finish: (code: ExitCode) => void): void {
  command
    .argument('<request>', 'the id of a recorded request, a JSON file, or - for standard input')
    .option(
      '--policies <path>',
      'a policy directory, or one file (default: ./policies, else the current directory)',
    )
    .option('--data <directory>', 'the data directory of the service', './var')
    .option('--store <address>', storeMeaning)
    .option('--step', 'show the decision step by step; on a terminal, advance with keys')
    .option('--json', 'print the decision and the explanation as JSON; with --step, the steps')
    .addHelpText('after', examples)
    .action(async (request: string, options: Options) => {
      finish(await explain(request, options));
    });
}

const examples = `
Examples:
  writ explain 019d2c5e-7a61-7c3e-9d8e-3f1a5b0c7d42
  writ explain request.json --policies policies/payments
  writ explain request.json --step
  echo '{"action": "repo.read", "payload": {"name": "web"}}' | writ explain - --json

A recorded request is decided again with its recorded facts and the policies of --policies. If other policies decided
it, a note says so first. Exit codes: 0 explained, 1 no such request, or policies with errors.`;

interface Options extends DataOption {
  readonly policies?: string;
  readonly step?: boolean;
  readonly json?: boolean;
}

async function explain(request: string, options: Options): Promise<ExitCode> {
  const record = isRequestId(request) ? await findRecord(request, options) : null;
  if (record === 'none') return exitCodes.wrong;
  const given = record === null ? await readGiven(request) : null;
  const loaded = await loadWorking(options.policies ?? defaultPath());
  if (loaded === null) return exitCodes.wrong;
  const { set } = loaded;
  if (record === null) {
    const request = given ?? { given: {}, isRecorded: false };
    const { cameBy = cameByItself } = request;
    const explained = explainGiven(request, loaded);
    await show({ explained, record, cameBy, notes: [] }, { set, sourceOf: loaded.read.sourceOf }, options);
  } else {
    await showRecorded(record, loaded, options);
  }
  return exitCodes.ok;
}

/** Reads the facts from a file. The default of `now` is the current time. */
async function readGiven(path: string): Promise<GivenFacts> {
  if (path !== '-' && !existsSync(path))
    throw new UsageError(`\`${path}\` is neither a request id nor a file`);
  const read = await readRequestFile(path === '-' ? '-' : `@${path}`, path === '-' ? 'the request' : path);
  return { ...read, given: { now: new Date().toISOString(), ...read.given } };
}

async function showRecorded(
  record: RequestRecord,
  { set, engine, read }: WorkingPolicies,
  options: Options,
): Promise<void> {
  const hidesSecrets = holdsDigests(record.payload);
  const { policies, sourceOf } = underChain(
    { policies: { set, engine }, sourceOf: read.sourceOf },
    record.chain,
  );
  const explained = explainRecorded(record, { set: policies.set, decide: policies.engine.decide });
  const now = digest(set);
  const isShown = explained.decision === record.decision;
  const notes = [
    ...(now === record.policySet.digest ? [] : [digestNote(record, now)]),
    ...versionNotes(record),
    ...(hidesSecrets ? [isShown ? secretGateNote : secretNote] : []),
    ...(isDeepStrictEqual(explained.decision, record.decision) ? [] : [decisionNote(record, explained)]),
  ];
  const { satisfied, chain = [] } = record;
  const cameBy = { standing: satisfied.standing ?? {}, chain: chain.map(({ name }) => name) };
  await show({ explained, record, cameBy, notes }, { set, sourceOf }, options);
}

/** Decides on the recorded facts, or returns the recorded decision if the payload check cannot be repeated. */
function explainRecorded(record: RequestRecord, decider: ExplainEngine): ExplanationInput {
  const facts = factsOfRecord(record);
  if (!holdsDigests(record.payload)) return explainDecision(decider, facts);
  if (record.decision.by === 'invalid_payload') {
    const { actionKey: action, decision } = record;
    return { set: decider.set, action, decision, rules: [], near: [], unknown: [], changes: [], facts: null };
  }
  return explainDecision(recordedShape(decider.set, record.actionKey), facts);
}

const secretNote =
  'the record omits secrets, so their shape cannot be checked again; rules read only whether they are present';
const secretGateNote =
  'the record omits secrets, so the payload cannot be checked again: this is the recorded result';

function digestNote({ policySet: { digest: then, commit } }: RequestRecord, now: string): string {
  const location = commit === null ? '' : ` of commit ${commit}`;
  return `these policies (digest ${short(now)}) differ from those that decided (digest ${short(then)}${location})`;
}

/**
 * Notes each version that has changed since the decision. Old records do not name their engine, so they get
 * no note.
 */
function versionNotes({ engine }: Partial<RequestRecord>): readonly string[] {
  if (engine === undefined) return [];
  return versionDifferences(engine, engineVersions).map((difference) => `decided under ${difference}`);
}

function decisionNote({ decision }: RequestRecord, { decision: now }: ExplanationInput): string {
  const isSame = decision.outcome === now.outcome && decision.by === now.by;
  const then = `the record says ${decision.outcome} by ${decision.by}`;
  return isSame ? `${then} as well, with other details` : `${then}; the decision of these policies follows`;
}

function short(text: string): string {
  return text.slice(0, 12);
}

interface Answer {
  readonly explained: ExplanationInput;
  /** The recorded request; null for a request from a file. */
  readonly record: RequestRecord | null;
  readonly cameBy: CameBy;
  readonly notes: readonly string[];
}

interface ShownPolicies {
  readonly set: PolicySet;
  readonly sourceOf: SourceOf;
}

async function show(
  { explained, record, cameBy, notes }: Answer,
  { set, sourceOf }: ShownPolicies,
  options: Options,
): Promise<void> {
  const { facts } = explained;
  const steps =
    options.step === true && facts !== null ? decisionSteps({ ...explained, facts }, sourceOf) : null;
  if (options.json === true) {
    printJson({
      request: record === null ? null : recordJson(record),
      standing_approvals: Object.entries(cameBy.standing).map(([rule, id]) => ({ rule, id })),
      delegation_chain: cameBy.chain,
      digest: digest(set),
      notes,
      ...(steps === null ? explanationJson(explained, sourceOf) : { decision: explained.decision, steps }),
    });
    return;
  }
  const marks = createMarks();
  if (record !== null) print(`${marks.faint(recordLine(record))}\n`);
  print(renderCameBy(cameBy));
  for (const note of notes) print(`${marks.bad('note:')} ${note}\n`);
  if (record !== null || notes.length > 0 || renderCameBy(cameBy) !== '') print('\n');
  if (steps !== null) {
    const isByKeys = process.stdin.isTTY === true && process.stdout.isTTY === true;
    if (isByKeys) await walkByKeys(steps, { input: process.stdin, output: process.stdout });
    else print(decisionWalkText(steps));
    return;
  }
  print(renderDecision(explained));
  print(renderRules(explained, { sourceOf, isWhole: true }));
  print(renderSource(explained, sourceOf));
  print(renderUnknown(explained));
  print(renderRisk(explained));
  print(renderNear(explained));
  print(renderChanges(explained));
}

function recordLine({ id, actionKey, agent, createdAtMs }: RequestRecord): string {
  return `${id}: ${actionKey} by ${agent.name ?? 'an agent'}, ${new Date(createdAtMs).toISOString()}`;
}

function recordJson({ id, actionKey, createdAtMs, status, decision, policySet }: RequestRecord): object {
  return {
    id,
    action: actionKey,
    created_at: new Date(createdAtMs).toISOString(),
    status,
    decision,
    policy_set: policySet,
  };
}
