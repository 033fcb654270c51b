// Shows the cases of test files and the claims of guarantees in the Testing view. The language server runs
// each case and proves each claim, including text that is typed and not saved yet.

import type { CancellationToken, TestController, TestItem, TestMessage, TestRunRequest, Uri } from 'vscode';

export interface TestingViewOptions {
  readonly controller: TestController;
  /** Runs a command of the language server and returns the answer. */
  readonly ask: <Answer>(command: string, ...args: readonly unknown[]) => Thenable<Answer>;
  /** Finds the files of the workspace with this ending. */
  readonly findFiles: (ending: string) => Thenable<readonly Uri[]>;
  /** Creates the editor's message for a test that fails, at the place of the test. */
  readonly messageOf: (text: string, item: TestItem) => TestMessage;
  readonly setLine: (item: TestItem, line: number) => void;
}

interface TestItems {
  readonly items: readonly { readonly name: string; readonly start: number; readonly line: number }[];
}

/** The case or the claim that a test item stands for. */
interface TestTarget {
  readonly uri: string;
  readonly start: number;
  readonly isClaim: boolean;
}

const runProfile = 1;

/** Sets up the view. `refresh` fills the view; call it at the start and after each save of a file. */
export function showTests(options: TestingViewOptions): { readonly refresh: () => Promise<void> } {
  const { controller } = options;
  const about = new WeakMap<TestItem, TestTarget>();
  const refresh = async (): Promise<void> => {
    const [tests, policies] = await Promise.all([
      filesOf(options, about, { ending: '.test.yaml', command: 'writ.listCases', isClaim: false }),
      filesOf(options, about, { ending: '.policy', command: 'writ.listClaims', isClaim: true }),
    ]);
    controller.items.replace([...tests, ...policies]);
  };
  controller.refreshHandler = refresh;
  controller.createRunProfile(
    'Run',
    runProfile,
    (request, token) => runAll(request, token, options, about),
    true,
  );
  return { refresh };
}

interface Kind {
  readonly ending: string;
  readonly command: string;
  readonly isClaim: boolean;
}

/** Returns a test item for each file, with a child for each case or claim. */
async function filesOf(
  { controller, ask, findFiles, setLine }: TestingViewOptions,
  about: WeakMap<TestItem, TestTarget>,
  { ending, command, isClaim }: Kind,
): Promise<readonly TestItem[]> {
  const testItems: TestItem[] = [];
  for (const uri of await findFiles(ending)) {
    const address = uri.toString();
    const { items } = await ask<TestItems>(command, address).then(
      (listed) => listed,
      () => ({ items: [] }),
    );
    if (items.length === 0) continue;
    const file = controller.createTestItem(address, uri.path.split('/').at(-1) ?? address, uri);
    file.children.replace(
      items.map(({ name, start, line }) => {
        const item = controller.createTestItem(`${address}#${start}`, name, uri);
        setLine(item, line);
        about.set(item, { uri: address, start, isClaim });
        return item;
      }),
    );
    testItems.push(file);
  }
  return testItems;
}

async function runAll(
  request: TestRunRequest,
  token: CancellationToken,
  options: TestingViewOptions,
  about: WeakMap<TestItem, TestTarget>,
): Promise<void> {
  const run = options.controller.createTestRun(request);
  const excluded = new Set(request.exclude ?? []);
  const roots = request.include ?? childrenOf(options.controller.items);
  for (const item of roots.flatMap((root) => (about.has(root) ? [root] : childrenOf(root.children)))) {
    const runnable = about.get(item);
    if (runnable === undefined || excluded.has(item) || token.isCancellationRequested) continue;
    run.started(item);
    const begun = Date.now();
    try {
      const fault = await faultOf(runnable, options);
      const took = Date.now() - begun;
      if (fault === null) run.passed(item, took);
      else run.failed(item, options.messageOf(fault, item), took);
    } catch (error) {
      run.errored(item, options.messageOf(error instanceof Error ? error.message : String(error), item));
    }
  }
  run.end();
}

function childrenOf(items: TestController['items']): readonly TestItem[] {
  const testItems: TestItem[] = [];
  items.forEach((item) => void testItems.push(item));
  return testItems;
}

interface RunCases {
  readonly cases: readonly { readonly outcome: string; readonly text: string }[];
}

interface ProofResult {
  readonly result: string;
  readonly why: string | null;
  readonly request: object | null;
}

/** Returns why a case or a claim has failed; null when it has passed. */
async function faultOf(
  { uri, start, isClaim }: TestTarget,
  { ask }: TestingViewOptions,
): Promise<string | null> {
  if (isClaim) {
    const { result, why, request } = await ask<ProofResult>('writ.proveClaim', uri, start);
    if (result === 'proved') return null;
    return `${result}: ${why}${request === null ? '' : `\n${JSON.stringify(request)}`}`;
  }
  const { cases } = await ask<RunCases>('writ.runCaseQuietly', uri, start);
  const [wrong] = cases.filter(({ outcome }) => outcome !== 'passed');
  return wrong?.text ?? null;
}
