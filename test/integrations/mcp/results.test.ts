// What a tool returned is on record before the client has it, through the proxy: the next call is decided by it.

import { expect, test } from 'vitest';
import { lockServer } from '../../../integrations/mcp/review/lock.ts';
import { shareService } from '../../service/http/service.ts';
import { usePolicies } from '../../service/http/written-policies.ts';
import { countingServer, initialize, openWire, proxySettings, textOf, tool } from './rig.ts';

const policies = `
approvers security "Security"
action files.fetch { url: string, returns?: { ... }, fails?: boolean }
  result { trusted: boolean, bytes?: integer, is_error?: boolean }
action files.send { to: string }
meter untrusted = count() of files.fetch when not result.trusted per session over 1h
policy web on files.fetch { allow all }
policy mail on files.send {
  allow all
  escalate tainted to security within 1h when untrusted > 0 because "the session has read an untrusted page"
}
`;

const service = shareService();

const nested = tool('fetch', {
  outputSchema: {
    type: 'object',
    properties: { source: { type: 'object', properties: { trusted: { type: 'boolean' } } } },
  },
});

/** Fetches a page and sends a mail in a session of its own; resolves to what the client reads of the mail. */
async function fetchThenSend(session: string, fetched: object, changes: object = {}): Promise<string> {
  await usePolicies(service(), policies);
  const server = countingServer(nested, tool('send'));
  const wire = openWire(proxySettings(service(), server, { session, ...changes }), service().apiKey);
  await initialize(wire);
  const call = (name: string, args: object) => wire.ask('tools/call', { name, arguments: args });
  expect(textOf(await call('fetch', { url: 'https://example.com', ...fetched }))).toContain('"name":"fetch"');
  return textOf(await call('send', { to: `${session}@example.com` }));
}

test('after a trusted page the mail is allowed', async () => {
  const sent = await fetchThenSend('trusted', { returns: { trusted: true } });
  expect(sent).toContain('"name":"send"');
});

test.each([
  ['an untrusted page', { returns: { trusted: false } }],
  ['a page about which the tool says nothing', {}],
  ['a field of another type', { returns: { trusted: 'yes' } }],
  ['a failed fetch', { fails: true }],
])('%s makes the mail wait', async (name, fetched) => {
  const sent = await fetchThenSend(`wait_${name.replaceAll(' ', '_')}`, fetched);
  expect(sent).toContain('Nothing was carried out');
});

test('the lock file has the paths of the fields, and suggests paths for nested ones', async () => {
  const live = {
    source: ['x'],
    server: {},
    instructions: null,
    tools: [nested, tool('send')],
  };
  const locked = lockServer('files', live as never, undefined, '2026-11-30');
  expect(locked.tools.fetch?.result).toEqual({ source_trusted: '/structuredContent/source/trusted' });
  expect(locked.tools.send).not.toHaveProperty('result');
  const { fetch, ...others } = locked.tools;
  const mapped = { ...fetch!, result: { trusted: '/structuredContent/source/trusted' } };
  const changes = { locked: { ...locked, tools: { ...others, fetch: mapped } } };
  expect(lockServer('files', live as never, changes.locked, '2026-12-01').tools.fetch?.result).toEqual(
    mapped.result,
  );
  const returns = { source: { trusted: true } };
  expect(await fetchThenSend('mapped', { returns }, changes)).toContain('"name":"send"');
  expect(await fetchThenSend('unmapped', { returns })).toContain('Nothing was carried out');
});
