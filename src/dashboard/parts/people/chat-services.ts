// The names of the chats in which people vote.

export const chatServiceNames = { slack: 'Slack', teams: 'Microsoft Teams' } as const;
