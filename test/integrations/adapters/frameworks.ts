// All frameworks that have an adapter.

import { aiSdk } from './ai-sdk.ts';
import { claudeAgent } from './claude-agent.ts';
import type { Framework } from './framework.ts';
import { langchain } from './langchain.ts';
import { mastra } from './mastra.ts';
import { openaiAgents } from './openai-agents.ts';

export const frameworks: readonly Framework[] = [aiSdk, openaiAgents, langchain, mastra, claudeAgent];
