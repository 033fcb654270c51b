// Requests that a protocol client, Neovim and Emacs send to the language server in the same words: each
// feature once, on one workspace.

import { pathToFileURL } from 'node:url';

const rules = `policy payments on payment.create {
  allow known when payload.vendr in vendors and length(payload.vendor) > 0
      deny much when payload.amount > most
}

guarantee bounds on payment.create {
  never allow when payload.amount > 100
  never allow when payload.amount > 10
}
`;

export const mended = rules.replace('vendr', 'vendor');

/** The files of the workspace, by path. */
export const workspace: Readonly<Record<string, string>> = {
  'policies/shared.policy': `# Whom we pay.
list vendors = ["Staples", "Dell"]
let most = 50
hours office = mon-fri 09:00-17:00 in "Europe/Berlin"
action payment.create { amount: number, vendor: string }
`,
  'policies/rules.policy': rules,
  'policies/rules.test.yaml': `tests:
  - name: a known one
    action: payment.create
    payload: { amount: 5, vendor: Dell }
    expect: { decision: ALLOW, by: payments/known }
  - name: a large one
    action: payment.create
    payload: { amount: 60, vendor: Dell }
    expect: ALLOW
`,
  'writ.yaml': 'port: 8181\nlimits:\n  burst: many\n',
};

export interface Ask {
  readonly name: string;
  readonly method: string;
  readonly params: object;
  /** The answer is a list of code lenses, each of which is resolved by another request. */
  readonly isResolved?: true;
}

const [policyFile, testFile, configFile] = ['policies/rules.policy', 'policies/rules.test.yaml', 'writ.yaml'];

function textOf(file: string): string {
  return file === policyFile ? mended : (workspace[file] ?? '');
}

/** The position that `|` marks in a part of the file's text. */
function positionOf(file: string, marked: string): { readonly line: number; readonly character: number } {
  const at = textOf(file).indexOf(marked.replace('|', '')) + marked.indexOf('|');
  const before = textOf(file).slice(0, at).split('\n');
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

export function asksIn(folder: string): readonly Ask[] {
  const uriOf = (file: string): string => pathToFileURL(`${folder}/${file}`).href;
  const about = (file: string) => ({ textDocument: { uri: uriOf(file) } });
  const at = (file: string, marked: string) => ({ ...about(file), position: positionOf(file, marked) });
  const end = { line: textOf(policyFile).split('\n').length - 1, character: 0 };
  const range = { start: { line: 0, character: 0 }, end };
  const options = { tabSize: 2, insertSpaces: true };
  const typed = { context: { triggerKind: 1 } };
  const command = (name: string, ...args: readonly unknown[]) => ({ command: name, arguments: args });
  const ask = (name: string, method: string, params: object): Ask => ({ name, method, params });
  return [
    ask('completion', 'textDocument/completion', { ...at(policyFile, 'payload.|amount > most'), ...typed }),
    ask('completion in tests', 'textDocument/completion', { ...at(testFile, 'expect: AL|LOW'), ...typed }),
    ask('completion of settings', 'textDocument/completion', { ...at(configFile, 'po|rt'), ...typed }),
    ask('hover', 'textDocument/hover', at(policyFile, 'in ven|dors')),
    ask('hover in tests', 'textDocument/hover', at(testFile, 'amo|unt: 5')),
    ask('hover of settings', 'textDocument/hover', at(configFile, 'bur|st')),
    ask('signature', 'textDocument/signatureHelp', at(policyFile, 'length(|payload')),
    ask('definition', 'textDocument/definition', at(policyFile, 'in ven|dors')),
    ask('definition from tests', 'textDocument/definition', at(testFile, 'payments/kno|wn')),
    ask('references', 'textDocument/references', {
      ...at(policyFile, 'allow kno|wn'),
      context: { includeDeclaration: true },
    }),
    ask('highlights', 'textDocument/documentHighlight', at(policyFile, 'payload.amo|unt > most')),
    ask('prepared rename', 'textDocument/prepareRename', at(policyFile, 'allow kno|wn')),
    ask('rename', 'textDocument/rename', { ...at(policyFile, 'deny mu|ch'), newName: 'large' }),
    ask('outline', 'textDocument/documentSymbol', about(policyFile)),
    ask('symbols of the workspace', 'workspace/symbol', { query: 'pay' }),
    ask('folding', 'textDocument/foldingRange', about(policyFile)),
    ask('colours by meaning', 'textDocument/semanticTokens/full', about(policyFile)),
    ask('formatting', 'textDocument/formatting', { ...about(policyFile), options }),
    ask('formatting of a selection', 'textDocument/rangeFormatting', {
      ...about(policyFile),
      range: { start: { line: 2, character: 0 }, end: { line: 3, character: 0 } },
      options,
    }),
    ask('hints in the line', 'textDocument/inlayHint', { ...about(policyFile), range }),
    { ...ask('lines above policies', 'textDocument/codeLens', about(policyFile)), isResolved: true },
    { ...ask('lines above tests', 'textDocument/codeLens', about(testFile)), isResolved: true },
    ask('running a case', 'workspace/executeCommand', command('writ.runCase', uriOf(testFile), null)),
    ask(
      'the request that refutes a claim',
      'workspace/executeCommand',
      command('writ.showWitness', uriOf(policyFile), textOf(policyFile).lastIndexOf('never')),
    ),
    ask(
      'what changes since HEAD',
      'workspace/executeCommand',
      command('writ.showChanges', uriOf(policyFile)),
    ),
  ];
}
