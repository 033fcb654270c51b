// The compiler's thread: follows a policy directory and sends each state that compiles as a packed program, and what is
// wrong with each that does not. It keeps its memory from one compilation to the next. While it compiles the directory
// may change again: the result is sent all the same, as it is newer than what is in force, and the next look follows.
// INVARIANT: results are sent in the order in which the states were there.

import type { MessagePort } from 'node:worker_threads';
import { transferOf } from '../../language/program/packed/packed.ts';
import { commitOf } from './commit.ts';
import type { CompiledSet, CompilerData, FromCompiler, SetContent, ToCompiler } from './compiler-messages.ts';
import { Follower, type FollowListener, patienceMs, type Snapshot } from './follow.ts';
import type { ReadSources } from './read.ts';
import { type CompiledContent, createSetCompiler, type SetCompiler } from './set-compiler.ts';

/** Works until the thread is terminated. `makeCompiler` is called again after a compilation that threw. */
export function serveCompiler(
  port: MessagePort,
  data: CompilerData,
  makeCompiler: () => SetCompiler = createSetCompiler,
): void {
  const worker = new CompilerWorker(port, data, makeCompiler);
  port.on('message', ({ ticket }: ToCompiler) => worker.look(ticket));
  void worker.run();
}

/** A class because it holds what was sent last. */
class CompilerWorker implements FollowListener {
  readonly #port: MessagePort;
  readonly #directory: string;
  readonly #makeCompiler: () => SetCompiler;
  readonly #follower: Follower;
  #compile: SetCompiler;
  /** What was sent last as a set, or was in force before this thread. */
  #inForce: SetContent | null;
  /** What was sent last, where it failed. */
  #failed: SetContent | null = null;
  #avoided: SetContent | null;
  /** That belong to what was looked at last. */
  #listFiles: readonly string[];
  /** That was sent last. */
  #commit: string | null = null;
  #isBusy = false;

  constructor(port: MessagePort, data: CompilerData, makeCompiler: () => SetCompiler) {
    const { directory, inForce, avoided } = data;
    this.#port = port;
    this.#directory = directory;
    this.#makeCompiler = makeCompiler;
    this.#compile = makeCompiler();
    this.#inForce = inForce;
    this.#avoided = avoided;
    this.#listFiles = [...new Set([inForce, avoided].flatMap((content) => content?.listFiles ?? []))];
    this.#follower = new Follower(directory, this.#listFiles, this);
  }

  run(): Promise<never> {
    return this.#follower.run();
  }

  look(ticket: number): void {
    // Callers that wait learn that the thread is alive.
    if (!this.#isBusy) this.#send({ kind: 'idle' });
    this.#follower.ask(ticket);
  }

  onWork(isBusy: boolean): void {
    this.#isBusy = isBusy;
    this.#send({ kind: isBusy ? 'busy' : 'idle' });
  }

  onAnswer(tickets: readonly number[]): void {
    this.#send({ kind: 'looked', tickets });
  }

  onImpaired(error: unknown): void {
    this.#send({ kind: 'impaired', text: String(error) });
  }

  onUnrest(): void {
    // Whatever comes to rest at last is to be told, even if it was told before.
    this.#failed = null;
    this.#avoided = null;
    const summary = `the files have been changing for ${patienceMs / 1_000} seconds: none of their states is taken`;
    this.#send({
      kind: 'failed',
      failure: { cause: 'unsettled', summary, text: `${summary}\n`, diagnostics: [], codes: [], texts: null },
    });
  }

  async onNothingNew(): Promise<void> {
    if (this.#inForce === null || this.#failed !== null) return;
    // Committing what is in force already changes no file, but records should name the commit.
    if ((await commitOf(this.#directory)) !== this.#commit) await this.#sendSame();
  }

  async onRest(snapshot: Snapshot, isAsked: boolean): Promise<Snapshot> {
    if (isOf(this.#inForce, snapshot)) {
      this.#failed = null;
      this.#setListFiles(this.#inForce!.listFiles);
      this.#follower.noteInForce(snapshot);
      await this.#sendSame();
      return snapshot;
    }
    const isKnown = isOf(this.#failed, snapshot) || isOf(this.#avoided, snapshot);
    return isKnown && !isAsked ? snapshot : await this.#compileWhole(snapshot);
  }

  /** Which list files belong to a set is known only when it is compiled: it is sent when they, too, have rested. */
  async #compileWhole(first: Snapshot): Promise<Snapshot> {
    let snapshot = first;
    let compilation: Compilation | null = null;
    for (;;) {
      if (compilation === null || !isOf(compilation.content, snapshot)) {
        compilation = this.#compileOne(snapshot.read);
        const { listFiles } = compilation.content;
        const isWhole = listFiles.every((path) => this.#listFiles.includes(path));
        this.#setListFiles(listFiles);
        if (!isWhole) {
          snapshot = await this.#follower.rest();
          continue;
        }
      }
      await this.#sendResult(compilation, snapshot);
      return snapshot;
    }
  }

  #compileOne(read: ReadSources): Compilation {
    const content = contentOf(read, this.#listFiles);
    this.#send({ kind: 'compiling', content });
    try {
      const { listFiles, result } = this.#compile(read);
      return { content: contentOf(read, listFiles), result };
    } catch (error) {
      // What it remembers may be half of something.
      this.#compile = this.#makeCompiler();
      const summary = `internal error while compiling: ${error instanceof Error ? error.message : String(error)}`;
      const failure = {
        cause: 'compiler',
        summary,
        text: `${summary}\n`,
        diagnostics: [],
        codes: [],
        texts: null,
      } as const;
      return { content, result: { kind: 'failed', failure } };
    }
  }

  async #sendResult({ content, result }: Compilation, snapshot: Snapshot): Promise<void> {
    this.#avoided = null;
    if (result.kind === 'failed') {
      this.#failed = content;
      return this.#send(result);
    }
    this.#commit = await commitOf(this.#directory);
    this.#failed = null;
    this.#inForce = content;
    this.#follower.noteInForce(snapshot);
    const set: CompiledSet = { ...result.set, content, commit: this.#commit };
    this.#send({ kind: 'compiled', set }, transferOf(set.program));
  }

  async #sendSame(): Promise<void> {
    this.#commit = await commitOf(this.#directory);
    this.#send({ kind: 'same', commit: this.#commit });
  }

  #setListFiles(listFiles: readonly string[]): void {
    this.#listFiles = listFiles;
    this.#follower.follow(listFiles);
  }

  #send(message: FromCompiler, transfer: readonly ArrayBuffer[] = []): void {
    this.#port.postMessage(message, transfer);
  }
}

interface Compilation {
  readonly content: SetContent;
  readonly result: CompiledContent['result'];
}

function contentOf(read: ReadSources, listFiles: readonly string[]): SetContent {
  return { hash: read.contentHash(listFiles), listFiles };
}

function isOf(content: SetContent | null, { read }: Snapshot): boolean {
  return content !== null && read.contentHash(content.listFiles) === content.hash;
}
