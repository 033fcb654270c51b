// A chat account in words: the chat, the account's name there, and the ids by which it is linked.

import { PlainText } from '../text/plain-text.tsx';
import { chatServiceNames } from './chat-services.ts';

interface ChatAccountNameProps {
  readonly account: {
    readonly service: keyof typeof chatServiceNames;
    readonly workspace: string;
    readonly user: string;
    readonly name: string;
  };
}

export function ChatAccountName({ account: { service, workspace, user, name } }: ChatAccountNameProps) {
  return (
    <span title={`user ${user} of ${workspace}`}>
      {chatServiceNames[service]}: <PlainText text={name} isShort /> ({user})
    </span>
  );
}
