// A tool of the author server: its name, what it says about itself, and the function that answers.
// INVARIANT: a tool writes no file, and gets only arguments that fit its schema.

import type { JsonObject } from '../../../language/model/json.ts';
import { type Answer, boundedAnswer, cutBytes, fromField, pageFields, textBytesMax } from './answer.ts';
import { type Fields, type FieldsOf, objectJson, schemaFault, text } from './schema.ts';

export interface ToolDescription {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
  readonly outputSchema: JsonObject;
  /** By these a client may call the tool without asking the person. */
  readonly annotations: JsonObject;
}

/** Tells the client what a long call is doing. */
export type ShowStage = (stage: string) => void;

export interface Tool {
  readonly description: ToolDescription;
  /** Returns the result of a call; throws a UsageError for arguments that cannot be used. */
  readonly call: (args: JsonObject, onStage: ShowStage) => Promise<JsonObject>;
}

interface ToolDefinition<F extends Fields> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: F;
  readonly output: Fields;
  readonly run: (input: FieldsOf<F>, onStage: ShowStage) => Answer | Promise<Answer>;
}

export function defineTool<F extends Fields>(definition: ToolDefinition<F>): Tool {
  const { name, title, description, input, output, run } = definition;
  const inputSchema = objectJson({ ...input, from: fromField });
  return {
    description: {
      name,
      title,
      description,
      inputSchema,
      outputSchema: objectJson({ ...output, ...pageFields }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
    },
    async call({ from, ...args }, onStage) {
      const fault = schemaFault(inputSchema, from === undefined ? args : { ...args, from }, 'arguments');
      if (fault !== null) return failedCall(fault);
      // The arguments fit the schema that the type follows from.
      const answer = await run(args as FieldsOf<F>, onStage);
      const { text: shown, structured } = boundedAnswer(answer, from as number | undefined);
      return { content: [{ type: 'text', text: shown }], structuredContent: structured };
    },
  };
}

/** The result of a call that has no answer; the model reads the message and calls again. */
export function failedCall(message: string): JsonObject {
  return { content: [{ type: 'text', text: cutBytes(message, textBytesMax) }], isError: true };
}

/** The argument that most tools have. */
export const pathField = text(
  'a policy directory or one file in the workspace (default: `policies` if there is such a folder, otherwise the whole workspace)',
);
