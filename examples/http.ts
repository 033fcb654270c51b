// An agent without any package: the three calls of the HTTP API that a program in any language can make.

import { mails, send } from './mails.ts';

const { WRIT_URL: url = 'http://127.0.0.1:8181', WRIT_API_KEY: key = '' } = process.env;

async function post(path: string, body: object, prefer = 'attach'): Promise<Record<string, string>> {
  const headers = { 'content-type': 'application/json', 'x-agent-api-key': key, prefer };
  const reply = await fetch(`${url}${path}`, { method: 'POST', headers, body: JSON.stringify(body) });
  if (!reply.ok) throw new Error(await reply.text());
  return (await reply.json()) as Record<string, string>;
}

for (const mail of mails) {
  const asked = { action_key: 'mail.send', payload: mail };
  let decision = await post('/v1/authorize', asked);
  if (decision.status === 'pending') console.log(`waits for people: ${url}/requests/${decision.request_id}`);
  // The same call attaches to the same request; the service holds the reply for up to 50 seconds while people
  // decide.
  while (decision.status === 'pending') decision = await post('/v1/authorize', asked, 'attach, wait=50');
  // Only ALLOW with the status `auto_approved` permits the action.
  if (decision.decision !== 'ALLOW' || decision.status !== 'auto_approved') {
    console.log(`not sent: ${decision.reason}`);
    continue;
  }
  await send(mail);
  await post(`/v1/requests/${decision.request_id}/outcome`, { executed: true });
}
