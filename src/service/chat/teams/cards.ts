// A message about a request into an Adaptive Card (https://adaptivecards.io/explorer), version 1.4. INVARIANT: every text of
// others stands in a `TextRun`, which no client reads as Markdown, and in which `sanitizeForMail` leaves no link; the data
// of a button names the request and its digest, and nothing in it is trusted later.

import { sanitizeForMail } from '../../webhooks/sanitize-text.ts';
import type { RequestMessage } from '../request-message.ts';

export type CardPart = Readonly<Record<string, unknown>>;

export const verbs = { approve: 'writ_approve', reject: 'writ_reject' } as const;
const cardType = 'application/vnd.microsoft.card.adaptive';
const commentMax = 2_000;

/** The activity that shows a request in a channel. */
export function cardActivity(message: RequestMessage): CardPart {
  return {
    type: 'message',
    summary: sanitizeForMail(message.title),
    attachments: [{ contentType: cardType, content: cardOf(message) }],
  };
}

function cardOf(message: RequestMessage): CardPart {
  const { title, facts, payload, warnings, progress } = message;
  return {
    type: 'AdaptiveCard',
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    version: '1.4',
    body: [
      textBlock([{ ...bold(title), size: 'medium' }]),
      ...facts.map(lineOf),
      ...payload.map((one, at) => ({ ...lineOf(one), separator: at === 0 })),
      ...warnings.map((text) => textBlock([{ ...run(`⚠ ${text}`), color: 'warning' }])),
      ...progress.map((text, at) => ({ ...textBlock([run(text)]), separator: at === 0 })),
    ],
    actions: actionsOf(message),
  };
}

function lineOf({ name, text }: RequestMessage['facts'][number]): CardPart {
  return { ...textBlock([bold(`${name}: `), run(text)]), spacing: 'none' };
}

function textBlock(inlines: readonly CardPart[]): CardPart {
  return { type: 'RichTextBlock', inlines };
}

function run(text: string): CardPart {
  return { type: 'TextRun', text: sanitizeForMail(text) };
}

function bold(text: string): CardPart {
  return { ...run(text), weight: 'bolder' };
}

function actionsOf({ requestId, digest, page, decidable }: RequestMessage): readonly CardPart[] {
  const data = { request: requestId, digest };
  const open = { type: 'Action.OpenUrl', title: 'Open in Writ', url: page };
  if (decidable !== 'by-chat') return [open];
  return [
    { type: 'Action.Execute', title: 'Approve', style: 'positive', verb: verbs.approve, data },
    {
      type: 'Action.ShowCard',
      title: 'Reject…',
      card: {
        type: 'AdaptiveCard',
        body: [
          {
            type: 'Input.Text',
            id: 'comment',
            label: 'Comment',
            isRequired: true,
            errorMessage: 'Say why you reject it.',
            isMultiline: true,
            maxLength: commentMax,
          },
        ],
        actions: [
          { type: 'Action.Execute', title: 'Reject', style: 'destructive', verb: verbs.reject, data },
        ],
      },
    },
    open,
  ];
}

/** What people typed, without the mention of the bot that the message begins with. */
export function typedText(text: string): string {
  return text
    .replaceAll(/<at>[^<]*<\/at>/gi, '')
    .replaceAll(/<[^<>]*>/g, '')
    .replaceAll('&nbsp;', ' ')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
    .trim();
}
