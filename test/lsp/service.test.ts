// What a running service tells an editor about the policies in it: hits of rules, and recorded requests.

import { beforeAll, describe, expect, test } from 'vitest';
import { serviceOf } from '../../src/lsp/service.ts';
import { firstAdmin, tokenClient } from '../service/http/person-client.ts';
import { authorize, policyText, shareService } from '../service/http/service.ts';
import { type Editor, type Got, openEditor } from './client.ts';

const shared = shareService();
const file = 'policies/demo.policy';
let editor: Editor;
let environment: { readonly WRIT_URL: string; readonly WRIT_TOKEN: string };

beforeAll(async () => {
  const { headers } = await tokenClient(shared(), await firstAdmin(shared()));
  const token = new Headers(headers).get('authorization')?.replace('Bearer ', '') ?? '';
  environment = { WRIT_URL: shared().url, WRIT_TOKEN: token };
  for (const verb of ['allow', 'allow', 'deny'])
    await authorize(shared(), { body: JSON.stringify({ action_key: `demo.${verb}`, payload: {} }) });
  editor = await openEditor({ [file]: policyText }, environment);
});

describe('with a service', () => {
  const hover = async (marked: string): Promise<string> => {
    editor.close(file);
    const position = editor.open(file, policyText.replace(marked.replace('|', ''), marked));
    return (await editor.at('textDocument/hover', file, position))?.contents.value ?? '';
  };

  test('a rule tells how often it has decided, a policy how often in the last day', async () => {
    expect(await hover('allow mo|st')).toMatch(
      /Decided 2 times, matched 2 times since \d{4}-.*, last \d{4}-/,
    );
    expect(await hover('deny o|ne')).toContain('Decided once, matched once');
    expect(await hover('reauth ano|ther')).toContain('Decided 0 times, matched 0 times');
    expect(await hover('policy de|mo')).toContain('Decided 3 times in the last day');
  });

  test('a policy explains its last request', async () => {
    editor.close(file);
    editor.open(file, policyText);
    const textDocument = { uri: editor.uri(file) };
    const found: readonly Got[] = await editor.ask('textDocument/codeLens', { textDocument });
    const lens = found.find(({ command }) => command?.title === 'explain its last request');
    const { command, arguments: args } = lens.command;
    const { text } = await editor.ask('workspace/executeCommand', { command, arguments: args });
    expect(text).toContain('DENY by its own policies');
    expect(text).toContain('true demo/one\n  action.key == "demo.deny": true');
    expect(editor.messages.at(-1)).toBe(text);
    const unknown = { command, arguments: [args[0], 'other'] };
    await expect(editor.ask('workspace/executeCommand', unknown)).rejects.toThrow(
      'has not decided a request yet',
    );
  });
});

describe('a service', () => {
  test('is named by the environment, or by `writ.yaml` where it listens on this machine', async () => {
    const { WRIT_URL: url, WRIT_TOKEN: token } = environment;
    const { folder, write } = folderWith(`host: 127.0.0.1\nport: ${new URL(url).port}\n`);
    const local = serviceOf([folder], { WRIT_TOKEN: token });
    expect((await local?.hits())?.lastDay.get('demo')).toBe(3);
    expect(serviceOf([folder], {})).toBeNull();
    write('host: 192.0.2.1\n');
    expect(serviceOf([folder], { WRIT_TOKEN: token })).toBeNull();
    expect(serviceOf([], { WRIT_TOKEN: token })).toBeNull();
  });

  test('that does not answer, or does not know the token, tells nothing', async () => {
    const wrong = serviceOf([], { ...environment, WRIT_TOKEN: 'other' });
    expect(await wrong?.hits()).toBeNull();
    expect(await wrong?.lastRequest('demo')).toContain('401');
    const away = serviceOf([], { ...environment, WRIT_URL: 'http://127.0.0.1:9' });
    expect(await away?.hits()).toBeNull();
  });
});

function folderWith(yaml: string) {
  const { folder, write } = editor;
  write('writ.yaml', yaml);
  return { folder, write: (text: string) => write('writ.yaml', text) };
}
