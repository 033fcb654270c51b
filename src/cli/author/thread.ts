// The start file of the thread that runs the tools, one call at a time, in the current directory of the
// process. What a tool cannot use is a result that says so; any other error is a fault of Writ.

import { parentPort } from 'node:worker_threads';
import { RevisionError } from '../../analysis/diff/git-revision.ts';
import type { JsonObject } from '../../language/model/json.ts';
import { UsageError } from '../output/output.ts';
import { failedCall, type ToolDescription } from './tool/tool.ts';
import { tools } from './tools.ts';

export interface ToThread {
  readonly tool: string;
  readonly args: JsonObject;
}

export type FromThread =
  | { readonly kind: 'ready'; readonly tools: readonly ToolDescription[] }
  | { readonly kind: 'stage'; readonly stage: string }
  | { readonly kind: 'result'; readonly result: JsonObject };

if (parentPort === null) throw new Error('the thread of the tools was started outside a worker thread');
const port = parentPort;
const send = (message: FromThread): void => port.postMessage(message);

async function resultOf({ tool: name, args }: ToThread): Promise<JsonObject> {
  const tool = tools.find(({ description }) => description.name === name);
  if (tool === undefined) throw new Error(`there is no tool ${name}`);
  try {
    return await tool.call(args, (stage) => send({ kind: 'stage', stage }));
  } catch (error) {
    if (error instanceof UsageError || error instanceof RevisionError) return failedCall(error.message);
    process.stderr.write(`writ author: ${error instanceof Error ? error.stack : String(error)}\n`);
    const what = error instanceof Error ? error.message : String(error);
    return failedCall(`internal error in \`${name}\`, please report it: ${what}`);
  }
}

port.on('message', (call: ToThread) => {
  void resultOf(call).then((result) => send({ kind: 'result', result }));
});
send({ kind: 'ready', tools: tools.map(({ description }) => description) });
