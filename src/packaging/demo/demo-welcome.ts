// Writes the welcome of a demo for the terminal, once the demo is ready.

import { askLines } from '../../service/http/welcome.ts';
import type { Demo } from './demo.ts';

/** Lines of text; the last line is ended, too. */
export function demoWelcome({ server, account, policies }: Demo): string {
  const { firstKey } = server;
  // Passkeys belong to a host name, and not to an IP address.
  const url = server.url.replace('127.0.0.1', 'localhost');
  const key = firstKey ?? '';
  const lines = [
    `The demo runs on ${url}`,
    '',
    '  Its agents and colleagues are simulated. Nothing of it touches your data: it is kept in a temporary',
    '  directory, which goes away when you stop the demo with Ctrl+C.',
    '',
    `  sign in   ${account.email}, password ${account.password} (the page has both filled in)`,
    `  policies  ${policies} (a copy: change it as you like)`,
    '',
    'Try this:',
    '  - approve or reject what waits under Approvals; colleagues answer after a minute or so',
    '  - stop an agent, or everything, with the kill switch, and watch what they get',
    '  - change a limit in the policies, and see what the week would have been under Playground',
    '',
    'Ask for a decision yourself:',
    '',
    ...askLines({ url, key, actionKeys: ['payment.create'] }),
    '',
  ];
  return `${lines.join('\n')}\n`;
}
