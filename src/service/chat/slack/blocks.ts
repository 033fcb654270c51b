// A message about a request into Slack's Block Kit (https://docs.slack.dev/reference/block-kit/blocks). INVARIANT: every
// text of others is made inert by `sanitizeForChat`, so none of it is a mention, a link or a format; the button's value
// names the request and its digest, and nothing in it is trusted later.

import { sanitizeForChat } from '../../webhooks/sanitize-text.ts';
import type { RequestMessage } from '../request-message.ts';

export type Block = Readonly<Record<string, unknown>>;

export const actionIds = { approve: 'writ_approve', reject: 'writ_reject', open: 'writ_open' } as const;
export const rejectView = 'writ_reject';
export const commentBlock = 'comment';
export const commentAction = 'text';
/** The event type in the metadata of a message, by which it is found again. */
export const metadataType = 'writ_request';

const sectionMax = 2_900;
const commentMax = 2_000;

/** What `chat.postMessage` and `chat.update` take besides the place. */
export function slackMessage(message: RequestMessage): Readonly<Record<string, unknown>> {
  return {
    text: sanitizeForChat(`${message.title}: ${message.progress.join(' ')}`).slice(0, sectionMax),
    blocks: blocksOf(message),
    metadata: { event_type: metadataType, event_payload: { request_id: message.requestId } },
    mrkdwn: false,
    parse: 'none',
    link_names: false,
    unfurl_links: false,
    unfurl_media: false,
  };
}

function blocksOf({ title, facts, payload, warnings, progress, ...rest }: RequestMessage): readonly Block[] {
  return [
    ...sections([`*${sanitizeForChat(title)}*`]),
    ...sections(facts.map(lineOf)),
    ...(payload.length === 0 ? [] : [{ type: 'divider' }, ...sections(payload.map(lineOf))]),
    ...sections(warnings.map((text) => `:warning: ${sanitizeForChat(text)}`)),
    ...sections(progress.map(sanitizeForChat)),
    { type: 'actions', block_id: 'writ', elements: buttonsOf(rest) },
  ];
}

function lineOf({ name, text }: RequestMessage['facts'][number]): string {
  return `*${sanitizeForChat(name)}:* ${sanitizeForChat(text)}`;
}

/** The lines in as few sections as their limit allows. */
function sections(lines: readonly string[]): readonly Block[] {
  const texts: string[] = [];
  for (const line of lines) {
    const cut = line.length > sectionMax ? `${line.slice(0, sectionMax - 1)}…` : line;
    const last = texts.at(-1);
    if (last === undefined || last.length + cut.length + 1 > sectionMax) texts.push(cut);
    else texts[texts.length - 1] = `${last}\n${cut}`;
  }
  return texts.map((text) => ({ type: 'section', text: { type: 'mrkdwn', text, verbatim: true } }));
}

function buttonsOf({
  requestId,
  digest,
  page,
  decidable,
}: Pick<RequestMessage, 'requestId' | 'digest' | 'page' | 'decidable'>): readonly Block[] {
  const value = JSON.stringify({ request: requestId, digest });
  const open = { type: 'button', action_id: actionIds.open, text: plain('Open in Writ'), url: page };
  if (decidable !== 'by-chat') return [open];
  return [
    {
      type: 'button',
      action_id: actionIds.approve,
      style: 'primary',
      text: plain('Approve'),
      value,
      confirm: {
        title: plain('Approve this request?'),
        text: plain('Your approval is recorded in Writ under your name.'),
        confirm: plain('Approve'),
        deny: plain('Cancel'),
      },
    },
    { type: 'button', action_id: actionIds.reject, style: 'danger', text: plain('Reject…'), value },
    open,
  ];
}

/** The dialog that asks for the comment of a rejection. */
export function rejectDialog(value: string): Block {
  return {
    type: 'modal',
    callback_id: rejectView,
    private_metadata: value,
    title: plain('Reject the request'),
    submit: plain('Reject'),
    close: plain('Cancel'),
    blocks: [
      {
        type: 'input',
        block_id: commentBlock,
        label: plain('Comment'),
        element: {
          type: 'plain_text_input',
          action_id: commentAction,
          multiline: true,
          min_length: 1,
          max_length: commentMax,
        },
      },
    ],
  };
}

function plain(text: string): Block {
  return { type: 'plain_text', text, emoji: false };
}

/** What people typed, from the form in which Slack sends it: entities, links and mentions become plain text. */
export function typedText(text: string): string {
  return text
    .replaceAll(/<([^<>|]*)\|([^<>]*)>/g, '$2')
    .replaceAll(/<([^<>]*)>/g, '$1')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
