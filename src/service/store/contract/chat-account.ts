// A person's account in a chat, as votes, comments and links between accounts and people name it.

export const chatServices = ['slack', 'teams'] as const;
export type ChatService = (typeof chatServices)[number];

export interface ChatAccount {
  readonly service: ChatService;
  /** The id of the Slack workspace or of the Microsoft Entra tenant. */
  readonly workspace: string;
  /** The id of the user there. */
  readonly user: string;
}
