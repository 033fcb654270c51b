// Writes the welcome of a demo for the terminal, once the demo is ready.

import { askLines, paymentRequest } from '../../service/http/welcome.ts';
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
    '  Its agents and colleagues are simulated. The demo does not touch your data: it uses a temporary',
    '  directory, which is deleted when you stop the demo with Ctrl+C.',
    '',
    `  sign in   ${account.email}, password ${account.password} (already filled in)`,
    '  codes     the pages show the one-time codes for a step-up',
    `  policies  ${policies} (a copy that you can change)`,
    '',
    'Try this:',
    '  - approve or reject pending requests in the inbox; colleagues answer after a few minutes',
    '  - stop an agent, or everything, with the kill switch, and watch the refusals',
    '  - change a limit in the policies, and see its effect on the past week under Playground',
    '',
    'Request a decision yourself:',
    '',
    ...askLines({ url, key, request: paymentRequest }),
    '',
  ];
  return `${lines.join('\n')}\n`;
}
