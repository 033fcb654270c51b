// The compiler's thread: follows a policy directory and sends each state that compiles as a packed program, and what is
// wrong with each that does not. It keeps its cache from one compilation to the next. While it compiles the directory
// may change again: the result is sent all the same, as it is newer than what is active, and the next look follows.
// At a start what was kept of the same content is sent first and compiled afterwards, so that it is trusted for nothing but speed.
// INVARIANT: results are sent in the order in which the states were there.

import type { MessagePort } from 'node:worker_threads';
import { transferOf } from '../../language/program/packed/packed.ts';
import { commitOf } from './commit.ts';
import type { SetContent } from './compiled/bundle.ts';
import type { CompiledSet, CompilerData, FromCompiler, ToCompiler } from './compiler-messages.ts';
import { Follower, type FollowListener, patienceMs, type Snapshot } from './follow.ts';
import { findKeptSet, forgetKeptSet, keepSet, readKeptFile, type SetToKeep } from './kept-set.ts';
import type { ReadSources } from './read.ts';
import type { CompiledContent, SetCompiler } from './set-compiler.ts';

type MakeCompiler = () => SetCompiler | Promise<SetCompiler>;

/** Works until the thread is terminated. `makeCompiler` is called for the first compilation, and again after one that threw. */
export function serveCompiler(
  port: MessagePort,
  data: CompilerData,
  makeCompiler: MakeCompiler = loadCompiler,
): void {
  const worker = new CompilerWorker(port, data, makeCompiler);
  port.on('message', ({ ticket }: ToCompiler) => worker.look(ticket));
  void worker.run();
}

/** Loaded when something has to be compiled: it is most of the thread's code. */
async function loadCompiler(): Promise<SetCompiler> {
  const { createSetCompiler } = await import('./set-compiler.ts');
  return createSetCompiler();
}

/** A class because it holds what was sent last. */
class CompilerWorker implements FollowListener {
  readonly #port: MessagePort;
  readonly #directory: string;
  readonly #makeCompiler: MakeCompiler;
  readonly #follower: Follower;
  #compiler: SetCompiler | null = null;
  /** What was sent last as a set, or was active before this thread. */
  #active: SetContent | null;
  /** What was sent last, where it failed. */
  #failed: SetContent | null = null;
  #avoided: SetContent | null;
  /** That belong to what was looked at last. */
  #listFiles: readonly string[];
  /** That was sent last. */
  #commit: string | null = null;
  #isBusy = false;
  readonly #keptIn: string | null;
  /** What an earlier start has kept, read while the directory is; null once something has been compiled. */
  #kept: Promise<Uint8Array | null> | null;

  constructor(port: MessagePort, data: CompilerData, makeCompiler: MakeCompiler) {
    const { directory, active, avoided, keptIn } = data;
    this.#port = port;
    this.#directory = directory;
    this.#keptIn = keptIn;
    // Where a set is active there is nothing to win.
    this.#kept = keptIn === null || active !== null ? null : readKeptFile(keptIn);
    this.#makeCompiler = makeCompiler;
    this.#active = active;
    this.#avoided = avoided;
    this.#listFiles = [...new Set([active, avoided].flatMap((content) => content?.listFiles ?? []))];
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
    if (this.#active === null || this.#failed !== null) return;
    // Committing what is active already changes no file, but records should name the commit.
    if ((await commitOf(this.#directory)) !== this.#commit) await this.#sendSame();
  }

  async onRest(snapshot: Snapshot, isAsked: boolean): Promise<Snapshot> {
    if (isOf(this.#active, snapshot)) {
      this.#failed = null;
      this.#setListFiles(this.#active!.listFiles);
      this.#follower.noteActive(snapshot);
      await this.#sendSame();
      return snapshot;
    }
    const isKnown = isOf(this.#failed, snapshot) || isOf(this.#avoided, snapshot);
    return isKnown && !isAsked ? snapshot : await this.#compileWhole(snapshot);
  }

  async #compileWhole(first: Snapshot): Promise<Snapshot> {
    const kept = await this.#findKept(first.read);
    const { compilation, snapshot } = await this.#compileAtRest(kept, first);
    const isKept = compilation === kept;
    const toKeep = isKept || this.#keptIn === null ? null : setToKeep(compilation);
    await this.#sendResult(compilation, snapshot);
    if (isKept) await this.#compileKept(snapshot);
    else await this.#keep(toKeep);
    return snapshot;
  }

  /** Which list files belong to a set is known only when it is compiled: it is sent when they, too, have rested. */
  async #compileAtRest(kept: Compilation | null, first: Snapshot): Promise<CompiledSnapshot> {
    let [compilation, snapshot] = [kept, first];
    for (;;) {
      if (compilation === null || !isOf(compilation.content, snapshot))
        compilation = await this.#compileOne(snapshot.read);
      const { listFiles } = compilation.content;
      const isWhole = listFiles.every((path) => this.#listFiles.includes(path));
      this.#setListFiles(listFiles);
      if (isWhole) return { compilation, snapshot };
      snapshot = await this.#follower.rest();
    }
  }

  /** At the first compilation of this thread, what was kept of the same content. */
  async #findKept(read: ReadSources): Promise<Compilation | null> {
    const bytes = await this.#kept;
    this.#kept = null;
    const found = await findKeptSet(bytes, read);
    return found && { content: contentOf(read, found.listFiles), result: found.result };
  }

  /** The set that is active as it was kept gives way to what its texts compile to, unless that is the same. */
  async #compileKept(snapshot: Snapshot): Promise<void> {
    const compilation = await this.#compileOne(snapshot.read);
    const { content, result } = compilation;
    if (result.kind === 'compiled' && (await this.#keep({ ...result.set, content }))) return;
    if (result.kind === 'failed') await forgetKeptSet(this.#keptIn!).catch(() => undefined);
    await this.#sendResult(compilation, snapshot);
  }

  /** Whether the same was kept before. */
  async #keep(set: SetToKeep | null): Promise<boolean> {
    if (set === null || this.#keptIn === null) return false;
    // Where it cannot be kept the next start compiles.
    return await keepSet(this.#keptIn, set).catch(() => false);
  }

  async #compileOne(read: ReadSources): Promise<Compilation> {
    const content = contentOf(read, this.#listFiles);
    this.#send({ kind: 'compiling', content });
    try {
      this.#compiler ??= await this.#makeCompiler();
      const { listFiles, result } = this.#compiler(read);
      return { content: contentOf(read, listFiles), result };
    } catch (error) {
      // What it remembers may be half of something.
      this.#compiler = null;
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

  /** What is sent is this thread's no longer. */
  async #sendResult({ content, result }: Compilation, snapshot: Snapshot): Promise<void> {
    this.#avoided = null;
    if (result.kind === 'failed') {
      this.#failed = content;
      return this.#send(result);
    }
    this.#commit = await commitOf(this.#directory);
    this.#failed = null;
    this.#active = content;
    this.#follower.noteActive(snapshot);
    const set: CompiledSet = { ...result.set, content, commit: this.#commit };
    this.#send({ kind: 'compiled', set }, [
      ...new Set([...transferOf(set.program), set.about.buffer as ArrayBuffer]),
    ]);
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

interface CompiledSnapshot {
  readonly compilation: Compilation;
  readonly snapshot: Snapshot;
}

interface Compilation {
  readonly content: SetContent;
  readonly result: CompiledContent['result'];
}

/** A copy of what serving takes. */
function setToKeep({ content, result }: Compilation): SetToKeep | null {
  if (result.kind === 'failed') return null;
  const { texts: _, ...set } = result.set;
  return structuredClone({ ...set, content });
}

function contentOf(read: ReadSources, listFiles: readonly string[]): SetContent {
  return { hash: read.contentHash(listFiles), listFiles };
}

function isOf(content: SetContent | null, { read }: Snapshot): boolean {
  return content !== null && read.contentHash(content.listFiles) === content.hash;
}
