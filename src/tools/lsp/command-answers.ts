// Lines above a text, and what they carry out. Each command answers its result, and shows it as a message for people.

import {
  type Connection,
  LSPErrorCodes,
  MessageType,
  ResponseError,
  ShowMessageNotification,
} from 'vscode-languageserver';
import { commandNames } from './command-names.ts';
import { claimAt, lensesOf, toldLens } from './lenses.ts';
import type { PolicyService } from './service.ts';
import { fileNameOf, type OpenSets, type SetSnapshot } from './set/workspace.ts';
import type { SlowAnswers } from './slow-answers.ts';
import type { Telling } from './telling.ts';

interface AnsweringCommands {
  readonly connection: Connection;
  readonly workspace: OpenSets;
  readonly slow: SlowAnswers;
  readonly telling: Telling;
  readonly service: () => PolicyService | null;
  /** Has the editor ask for the lines above a text again, where it can. */
  readonly refreshLenses: () => void;
}

interface About {
  readonly snapshot: SetSnapshot;
  readonly file: string;
  /** What a command was given behind the address of its file. */
  readonly given: unknown;
}

/** What a command gives back, and how it is told. */
interface Done {
  readonly result: object;
  readonly message: string;
  readonly isGood: boolean;
}

type Command = (about: About, answering: AnsweringCommands) => Promise<Done>;

const commands: Readonly<Record<(typeof commandNames)[keyof typeof commandNames], Command>> = {
  [commandNames.runCase]: runCase,
  [commandNames.showWitness]: showWitness,
  [commandNames.showChanges]: (about, answering) => showChanges(about, answering, true),
  [commandNames.hideChanges]: (about, answering) => showChanges(about, answering, false),
  [commandNames.explainLogged]: explainLogged,
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
    // It comes back as it was handed out.
    const { uri } = lens.data as { readonly uri: string };
    const snapshot = await workspace.snapshotOf(uri);
    if (snapshot === null) return lens;
    return await toldLens(lens, snapshot, { file: fileNameOf(snapshot, uri), slow });
  });
  connection.onExecuteCommand(async ({ command, arguments: args = [] }) => {
    const carryOut = Object.hasOwn(commands, command) ? commands[command as keyof typeof commands] : null;
    const [uri, given] = args as readonly unknown[];
    const snapshot = typeof uri === 'string' ? await workspace.snapshotOf(uri) : null;
    if (carryOut === null || snapshot === null) throw failed('there is nothing to carry this out on');
    const about = { snapshot, file: fileNameOf(snapshot, String(uri)), given };
    const { result, message, isGood } = await carryOut(about, answering);
    const type = isGood ? MessageType.Info : MessageType.Warning;
    await connection.sendNotification(ShowMessageNotification.type, { type, message });
    return result;
  });
}

function failed(message: string): ResponseError<void> {
  return new ResponseError(LSPErrorCodes.RequestFailed, message);
}

/** One case by where it begins, or all of its file. */
async function runCase({ snapshot, file, given }: About, { slow }: AnsweringCommands): Promise<Done> {
  const { files } = await slow.tests(snapshot, file);
  const [run] = files;
  if (run === undefined || run.isBroken) throw failed('the test file or its policies have errors');
  const cases = run.cases.filter(({ start }) => typeof given !== 'number' || start === given);
  if (cases.length === 0) throw failed('there is no such case');
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

/** The request that refutes the claim at a place. */
async function showWitness({ snapshot, file, given }: About, { slow }: AnsweringCommands): Promise<Done> {
  const claims = await slow.claims(snapshot);
  const found = claims?.find((one) => one.file === file && one.start === given);
  if (found === undefined || found.request === null) throw failed('no request refutes this');
  const { request, why } = found;
  const claim = claimAt(snapshot, file, found.start);
  return {
    result: { claim, why, request },
    message: `\`${claim}\` is refuted: ${why}\n${JSON.stringify(request)}`,
    isGood: false,
  };
}

async function showChanges(
  { snapshot }: About,
  { telling, refreshLenses }: AnsweringCommands,
  isShown: boolean,
): Promise<Done> {
  const { findings, failure } = await telling.showChanges(snapshot, isShown);
  if (failure !== null) throw failed(failure);
  refreshLenses();
  const count = findings.length;
  const found = count === 0 ? 'nothing is decided otherwise than by HEAD' : `${count} changes since HEAD`;
  return { result: { findings }, message: isShown ? found : 'changes are not shown', isGood: true };
}

/** The newest request that a policy has decided. */
async function explainLogged({ given }: About, { service }: AnsweringCommands): Promise<Done> {
  const asked = service();
  if (asked === null) throw failed('no service is named: set WRIT_URL and WRIT_TOKEN');
  const found = await asked.lastRequest(String(given));
  if (typeof found === 'string') throw failed(found);
  return { result: found, message: found.text, isGood: true };
}
