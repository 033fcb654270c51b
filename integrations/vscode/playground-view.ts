// The playground beside the text: decides a request by the policies as they are typed, and shows the decision
// step by step. The page only shows results; the caller's function `decide` decides.

import type { Webview } from 'vscode';

export interface PlaygroundOptions {
  readonly webview: Pick<Webview, 'html' | 'postMessage' | 'onDidReceiveMessage'>;
  /** The nonce of this page; no script without this nonce runs. */
  readonly nonce: string;
  /** Decides a request in the same way as the server. */
  readonly decide: (request: unknown) => Thenable<DecidedSteps>;
  readonly openLine: (file: string, line: number) => void;
}

export interface DecidedSteps {
  readonly steps: readonly object[] | null;
  readonly issues: readonly {
    readonly pointer: string;
    readonly message: string;
    readonly help: string | null;
  }[];
}

type FromPage =
  | { readonly kind: 'decide'; readonly text: string }
  | { readonly kind: 'open'; readonly file: string; readonly line: number };

export function showPlayground({ webview, nonce, decide, openLine }: PlaygroundOptions): void {
  webview.onDidReceiveMessage(async (message: FromPage) => {
    if (message.kind === 'open') openLine(message.file, message.line);
    else await webview.postMessage(await answerTo(message.text, decide));
  });
  webview.html = playgroundPage(nonce);
}

async function answerTo(text: string, decide: PlaygroundOptions['decide']): Promise<object> {
  try {
    return { ...(await decide(JSON.parse(text))), failure: null };
  } catch (error) {
    return { steps: null, issues: [], failure: error instanceof Error ? error.message : String(error) };
  }
}

const example = `{
  "action_key": "payment.create",
  "payload": { "amount": 1200 },
  "agent": { "risk_tier": "low" }
}`;

/**
 * Returns the page as HTML. INVARIANT: words of the policies and of the request appear in the page as text,
 * never as markup.
 */
export function playgroundPage(nonce: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'">
<title>Writ: try a request</title>
<style nonce="${nonce}">
textarea { width: 100%; box-sizing: border-box; font-family: var(--vscode-editor-font-family, monospace); }
ol { list-style: none; padding: 0; }
.true { color: var(--vscode-testing-iconPassed, #176f2c); }
.unknown { color: var(--vscode-testing-iconFailed, #b3261e); }
.decision { font-weight: bold; }
</style>
</head>
<body>
<main>
<h1>Try a request</h1>
<label for="request">Request as JSON</label>
<textarea id="request" rows="10" spellcheck="false">${example}</textarea>
<p><button id="decide">Decide</button></p>
<p id="failure" role="alert"></p>
<ol id="steps" aria-label="How it is decided"></ol>
</main>
<script nonce="${nonce}">
const editor = acquireVsCodeApi();
const find = (id) => document.getElementById(id);
find('decide').addEventListener('click', () => editor.postMessage({ kind: 'decide', text: find('request').value }));
window.addEventListener('message', ({ data }) => {
  const { steps, issues, failure } = data;
  const said = issues.map(({ pointer, message, help }) => pointer + ' ' + message + (help === null ? '' : ': ' + help));
  find('failure').textContent = [...(failure === null ? [] : [failure]), ...said].join('; ');
  find('steps').replaceChildren(...(steps ?? []).map(lineOf));
});
function lineOf({ kind, depth, text, truth, value, why, rule }) {
  const line = document.createElement('li');
  line.className = kind + ' ' + (truth ?? '');
  line.style.paddingInlineStart = depth * 1.5 + 'em';
  const shown = truth === null || kind === 'outcome' ? text : truth + ': ' + text;
  line.textContent = shown + (value === null ? '' : ' = ' + value) + (why === null ? '' : ', because ' + why);
  if (kind === 'rule' && rule !== null) {
    const open = document.createElement('button');
    open.textContent = rule.file + ':' + rule.line;
    open.addEventListener('click', () => editor.postMessage({ kind: 'open', file: rule.file, line: rule.line }));
    line.append(' ', open);
  }
  return line;
}
</script>
</body>
</html>`;
}
