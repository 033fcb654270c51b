// Answers requests for code lenses, and runs the commands behind them. Each command returns its result, and
// shows it to people as a message.

import {
  type Connection,
  LSPErrorCodes,
  MessageType,
  ResponseError,
  ShowMessageNotification,
} from 'vscode-languageserver';
import type { GivenRequest } from '../analysis/playground-questions.ts';
import { readTestFile } from '../testing/read-test-file.ts';
import type { DiagnosticsPublisher } from './diagnostics-publisher.ts';
import { clausesIn, commandNames, lensesOf, resolveLens } from './lenses.ts';
import type { PolicyService } from './service.ts';
import { documentOf, fileNameOf, type OpenSets, type SetSnapshot } from './set/workspace.ts';
import type { SlowAnswers } from './slow-answers.ts';

interface AnsweringCommands {
  readonly connection: Connection;
  readonly workspace: OpenSets;
  readonly slow: SlowAnswers;
  readonly telling: DiagnosticsPublisher;
  readonly service: () => PolicyService | null;
  /** Lets the editor fetch the code lenses again, if it can. */
  readonly refreshLenses: () => void;
}

interface CommandTarget {
  readonly snapshot: SetSnapshot;
  readonly file: string;
  /** The argument of the command after the address of its file. */
  readonly given: unknown;
}

/** The result of a command, and how it is shown. */
interface CommandResult {
  readonly result: object;
  /** The message for people; null when a view of the editor shows the result. */
  readonly message: string | null;
  readonly isGood: boolean;
}

type Command = (about: CommandTarget, answering: AnsweringCommands) => Promise<CommandResult>;

const commands: Readonly<Record<(typeof commandNames)[keyof typeof commandNames], Command>> = {
  [commandNames.runCase]: runCase,
  [commandNames.showWitness]: showWitness,
  [commandNames.showChanges]: (about, answering) => showChanges(about, answering, true),
  [commandNames.hideChanges]: (about, answering) => showChanges(about, answering, false),
  [commandNames.explainLogged]: explainLogged,
  [commandNames.listCases]: listCases,
  [commandNames.listClaims]: listClauses,
  [commandNames.proveClaim]: proveClause,
  [commandNames.tryRequest]: tryRequest,
  [commandNames.runCaseQuietly]: async (...args) => ({ ...(await runCase(...args)), message: null }),
};

export function answerLenses(answering: AnsweringCommands): void {
  const { connection, workspace, slow, telling, service } = answering;
  connection.onCodeLens(async ({ textDocument: { uri } }) => {
    const snapshot = await workspace.snapshotOf(uri);
    if (snapshot === null) return [];
    const file = fileNameOf(snapshot, uri);
    const areChangesShown = telling.areChangesShown(snapshot.root);
    return [...lensesOf(snapshot, { file, hasService: service() !== null, areChangesShown })];
  });
  connection.onCodeLensResolve(async (lens) => {
    // The editor sends the data of a lens back unchanged.
    const { uri } = lens.data as { readonly uri: string };
    const snapshot = await workspace.snapshotOf(uri);
    if (snapshot === null) return lens;
    return await resolveLens(lens, snapshot, { file: fileNameOf(snapshot, uri), slow });
  });
  connection.onExecuteCommand(async ({ command, arguments: args = [] }) => {
    const carryOut = Object.hasOwn(commands, command) ? commands[command as keyof typeof commands] : null;
    const [uri, given] = args as readonly unknown[];
    const snapshot = typeof uri === 'string' ? await workspace.snapshotOf(uri) : null;
    if (carryOut === null || snapshot === null) throw failed('unknown command, or its policies are not open');
    const about = { snapshot, file: fileNameOf(snapshot, String(uri)), given };
    const { result, message, isGood } = await carryOut(about, answering);
    const type = isGood ? MessageType.Info : MessageType.Warning;
    if (message !== null) await connection.sendNotification(ShowMessageNotification.type, { type, message });
    return result;
  });
}

function failed(message: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, message);
}

/** Runs the one case that begins at the given offset, or all cases of the file. */
async function runCase(
  { snapshot, file, given }: CommandTarget,
  { slow }: AnsweringCommands,
): Promise<CommandResult> {
  const { files } = await slow.tests(snapshot, file);
  const [run] = files;
  if (run === undefined || run.isBroken) throw failed('the test file or its policies have errors');
  const cases = run.cases.filter(({ start }) => typeof given !== 'number' || start === given);
  if (cases.length === 0) throw failed('no such case');
  const wrong = cases.filter(({ outcome }) => outcome !== 'passed');
  const passed = cases.length - wrong.length;
  const lines = wrong.map(({ name, text }) => `${name}: ${text}`);
  const counts = [`${passed} passed`, ...(wrong.length === 0 ? [] : [`${wrong.length} failed`])];
  return {
    result: { passed, failed: wrong.length, cases },
    message: [counts.join(', '), ...lines].join('\n'),
    isGood: wrong.length === 0,
  };
}

/** Lists the cases of a test file, in order. */
async function listCases({ snapshot, file }: CommandTarget): Promise<CommandResult> {
  const document = documentOf(snapshot, file);
  const { cases } = readTestFile({ path: file, text: document.getText() });
  const items = cases.map(({ name, span: { start } }) => ({
    name,
    start,
    line: document.positionAt(start).line,
  }));
  return { result: { items }, message: null, isGood: true };
}

/** Lists the claims of a policy file, in order. */
async function listClauses({ snapshot, file }: CommandTarget): Promise<CommandResult> {
  const document = documentOf(snapshot, file);
  const items = clausesIn(snapshot, file).map(({ guarantee, text, start }) => ({
    name: `${guarantee}: ${text}`,
    start,
    line: document.positionAt(start).line,
  }));
  return { result: { items }, message: null, isGood: true };
}

/** Proves the claim at a place. */
async function proveClause(
  { snapshot, file, given }: CommandTarget,
  { slow }: AnsweringCommands,
): Promise<CommandResult> {
  const claims = await slow.claims(snapshot);
  const clause = claims?.find((one) => one.file === file && one.start === given);
  if (clause === undefined) throw failed('no proofs while the policies have errors');
  const { result, why, request } = clause;
  return { result: { result, why, request }, message: null, isGood: result === 'proved' };
}

/** Walks step by step through the decision of a request. */
async function tryRequest(
  { snapshot, given }: CommandTarget,
  { slow }: AnsweringCommands,
): Promise<CommandResult> {
  const isRequest =
    typeof given === 'object' &&
    given !== null &&
    'action_key' in given &&
    typeof given.action_key === 'string';
  if (!isRequest) throw failed('a request needs an `action_key` and a `payload`');
  // The walk reads the fields of the request and reports their mistakes.
  const request = { payload: {}, ...given } as GivenRequest;
  const walk = await slow.walk(snapshot, request);
  if (walk.steps === null && walk.issues.length === 0) throw failed('the policies have errors');
  return { result: walk, message: null, isGood: true };
}

/** Shows the request that refutes the claim at a place. */
async function showWitness(
  { snapshot, file, given }: CommandTarget,
  { slow }: AnsweringCommands,
): Promise<CommandResult> {
  const claims = await slow.claims(snapshot);
  const clause = claims?.find((one) => one.file === file && one.start === given);
  if (clause === undefined || clause.request === null) throw failed('no request refutes this');
  const { request, why } = clause;
  const claim = clausesIn(snapshot, file).find(({ start }) => start === clause.start)?.text ?? '';
  return {
    result: { claim, why, request },
    message: `\`${claim}\` is refuted: ${why}\n${JSON.stringify(request)}`,
    isGood: false,
  };
}

async function showChanges(
  { snapshot }: CommandTarget,
  { telling, refreshLenses }: AnsweringCommands,
  isShown: boolean,
): Promise<CommandResult> {
  const { findings, failure } = await telling.showChanges(snapshot, isShown);
  if (failure !== null) throw failed(failure);
  refreshLenses();
  const count = findings.length;
  const message = count === 0 ? 'no decision differs from HEAD' : `${count} changes since HEAD`;
  return { result: { findings }, message: isShown ? message : 'changes are hidden', isGood: true };
}

/** Explains the newest request that a policy has decided. */
async function explainLogged(
  { given }: CommandTarget,
  { service }: AnsweringCommands,
): Promise<CommandResult> {
  const policyService = service();
  if (policyService === null) throw failed('no service is configured: set WRIT_URL and WRIT_TOKEN');
  const explanation = await policyService.lastRequest(String(given));
  if (typeof explanation === 'string') throw failed(explanation);
  return { result: explanation, message: explanation.text, isGood: true };
}
