// The playground of the VS Code extension in a browser: the page decides nothing itself, sends its requests
// to the real language server, and shows the answers as text.

import { expect, onTestFinished, test } from 'vitest';
import { playgroundPage, showPlayground } from '../../../integrations/vscode/playground-view.ts';
import { type Got, openEditor } from '../../lsp/client.ts';
import { accessibilityFaults, launchBrowser } from './browser.ts';

const file = 'policies/payments.policy';
const policies = `action payment.create { amount: number, note?: string }
policy payments on payment.create {
  allow small when payload.amount <= 50 because "<img src=x onerror=alert(1)>"
}
`;

test('a request is stepped through with unsaved text', async () => {
  const editor = await openEditor({ [file]: policies });
  const browser = await launchBrowser();
  onTestFinished(() => browser.close());
  const page = await browser.newPage();
  const faults: string[] = [];
  page.on('pageerror', (error) => void faults.push(error.message));
  page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
  let receive: Got = null;
  const opened: string[] = [];
  await page.exposeFunction('toEditor', (message: Got) => receive(message));
  await page.addInitScript(
    'window.acquireVsCodeApi = () => ({ postMessage: (message) => window.toEditor(message) })',
  );
  const webview: Got = {
    html: '',
    onDidReceiveMessage: (listener: Got) => {
      receive = listener;
    },
    postMessage: (answer: object) => page.evaluate((data: object) => window.postMessage(data), answer),
  };
  showPlayground({
    webview,
    nonce: 'abc',
    decide: (request) =>
      editor.ask('workspace/executeCommand', {
        command: 'writ.tryRequest',
        arguments: [editor.uri(file), request],
      }),
    openLine: (name, line) => void opened.push(`${name}:${line}`),
  });
  expect(webview.html).toBe(playgroundPage('abc'));
  await page.route('https://editor.test/', (route) =>
    route.fulfill({ contentType: 'text/html', body: webview.html }),
  );
  await page.goto('https://editor.test/');
  const decide = async (text: string): Promise<void> => {
    await page.getByRole('textbox').fill(text);
    await page.getByRole('button', { name: 'Decide' }).click();
  };
  const steps = page.getByRole('list', { name: 'How it is decided' });
  await decide('{"action_key": "payment.create", "payload": {"amount": 20}}');
  await steps.getByText('ALLOW by payments/small: <img src=x onerror=alert(1)>').waitFor();
  expect(await steps.innerText()).toContain('true: payload.amount <= 50');
  expect(await accessibilityFaults(page)).toEqual([]);
  await steps.getByRole('button').first().click();
  await expect.poll(() => opened).toEqual(['payments.policy:3']);
  editor.open(file, policies.replace('<= 50', '<= 10'));
  await decide('{"action_key": "payment.create", "payload": {"amount": 20}}');
  await steps.getByText('DENY by default_deny').waitFor();
  const failure = page.getByRole('alert');
  await decide('{"action_key": "payment.create", "payload": {"amount": "much"}}');
  await failure.getByText('/payload/amount').waitFor();
  await decide('{');
  await failure.getByText('JSON').waitFor();
  await decide('{}');
  await failure.getByText('a request needs an `action_key`').waitFor();
  expect(faults).toEqual([]);
});
