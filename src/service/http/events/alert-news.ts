// Turns an alert into the messages that tell of it: those for webhooks and chats, which are stored with the
// alert, and mail.

import { type Alert, alertText, pageOfKind } from '../../alerts/alert.ts';
import type { AlertMessages } from '../../alerts/watch-alerts.ts';
import { wordsForMail } from '../../webhooks/inert-words.ts';
import type { NewsDeps } from './news-deps.ts';
import { oneLine } from './one-line.ts';
import { mailRoles } from './role-mail.ts';

export function createAlertMessages(deps: NewsDeps): (alert: Alert) => Promise<AlertMessages> {
  const { publicUrl, dispatcher, onFailure } = deps;
  return async (alert) => {
    const { id, name, kind, createdAtMs, overAtMs, mailRoles: rolesTold, webhookIds } = alert;
    const [from, to] = [createdAtMs, overAtMs ?? createdAtMs].map((ms) => new Date(ms).toISOString());
    const isOver = overAtMs !== null;
    const words = isOver
      ? `Over: ${name}. It lasted from ${from} to ${to}.`
      : `Alert: ${name}. ${alertText(alert)}`;
    const page = `${publicUrl}${pageOfKind[kind]}`;
    const text = `${wordsForMail(words)}\n${page}\n`;
    const prepared = await dispatcher.prepare({
      type: isOver ? 'alert.over' : 'alert.began',
      id,
      text: words,
      page,
      links: { alerts: `${publicUrl}/v1/alerts` },
      to: webhookIds,
      atMs: overAtMs ?? createdAtMs,
    });
    const subject = `Writ: ${isOver ? 'over' : 'alert'}: ${oneLine(name)}`;
    return {
      writes: prepared.writes,
      taken: () => {
        prepared.taken();
        mailRoles(deps, rolesTold, { subject, text }).catch(onFailure);
      },
    };
  };
}
