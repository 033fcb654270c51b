// Asks on a terminal for what the arguments of `writ init` leave open: a line for each question, with a
// default answer for Enter. INVARIANT: without a terminal nothing is asked, and a person who ends the input
// answers nothing.

import { createInterface } from 'node:readline/promises';
import { nearestOf } from '../../language/diagnostic/suggest.ts';
import { UsageError } from '../output/output.ts';

export interface InitAnswers {
  /** The name of the pack; null for the small policy. */
  readonly pack: string | null;
  readonly directory: string;
  /** The domain of the organisation; null keeps the domain of the texts. */
  readonly domain: string | null;
}

/** The values from the command line; the questions ask for undefined ones. */
export interface InitArguments {
  readonly pack?: string | undefined;
  readonly directory?: string | undefined;
  readonly domain?: string | undefined;
}

export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean };
  readonly output: NodeJS.WritableStream & { readonly isTTY?: boolean };
}

export const directoryDefault = 'policies';
export const exampleDomain = 'example.com';

export async function answersOf(
  given: InitArguments,
  packs: readonly string[],
  { input, output }: Terminal,
): Promise<InitAnswers> {
  const { pack, directory, domain } = given;
  if (domain !== undefined && !isDomain(domain)) throw new UsageError(`--domain ${notDomain(domain)}`);
  if (input.isTTY !== true || output.isTTY !== true)
    return { pack: pack ?? null, directory: directory ?? directoryDefault, domain: domain ?? null };
  const lines = createInterface({ input, output });
  // Lines that were typed ahead are kept for later questions, even after the input has ended.
  const typed = lines[Symbol.asyncIterator]();
  let isOpen = true;
  lines.once('close', () => {
    isOpen = false;
  });
  const ask: Ask = async (question) => {
    lines.setPrompt(question);
    if (isOpen) lines.prompt();
    else output.write(question);
    const { value, done } = await typed.next();
    if (done === true) throw new UsageError('the questions were not answered; nothing was written');
    return value;
  };
  try {
    return {
      pack: pack ?? (await packOf(ask, packs, output)),
      directory:
        directory ?? ((await ask(`Which directory? [${directoryDefault}] `)).trim() || directoryDefault),
      domain: domain ?? (await domainOf(ask, output)),
    };
  } finally {
    lines.close();
  }
}

type Ask = (question: string) => Promise<string>;

async function packOf(
  ask: Ask,
  packs: readonly string[],
  output: Terminal['output'],
): Promise<string | null> {
  output.write(`Packs: ${packs.join(', ')}\n`);
  for (;;) {
    const answer = (await ask('Which pack? [none: a small policy] ')).trim();
    if (answer === '') return null;
    if (packs.includes(answer)) return answer;
    const nearest = nearestOf(answer, packs);
    output.write(`There is no such pack${nearest === null ? '' : `: did you mean ${nearest}?`}\n`);
  }
}

async function domainOf(ask: Ask, output: Terminal['output']): Promise<string | null> {
  for (;;) {
    const answer = (await ask(`Which domain is yours? [${exampleDomain}] `)).trim();
    if (answer === '') return null;
    if (isDomain(answer)) return answer;
    output.write(`${notDomain(answer)}\n`);
  }
}

function isDomain(text: string): boolean {
  return text.length <= 200 && /^([a-z0-9]([a-z0-9-]*[a-z0-9])?\.)+[a-z]{2,}$/.test(text);
}

function notDomain(text: string): string {
  return `${JSON.stringify(text)} is no domain: write one such as acme.org, in lower case`;
}
