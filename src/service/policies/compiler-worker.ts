// The compiler's thread: follows a policy directory, sends each state that compiles as a packed program, and
// reports what is wrong with each that does not. Its cache lasts from one compilation to the next. The
// directory may change during a compilation: the result is sent all the same, because it is newer than the
// active set, and the next look follows. At a start, a kept set of the same content is sent first and
// compiled afterwards, so that it is trusted only to save time. INVARIANT: results are sent in the order in
// which the states were there.

import type { MessagePort } from 'node:worker_threads';
import { transferOf } from '../../language/program/packed/packed.ts';
import type { SetContent } from './compiled/bundle.ts';
import type { CompiledSet, CompilerData, FromCompiler, ToCompiler } from './compiler-messages.ts';
import { Follower, type FollowListener, type Snapshot, unsettledWarningMs } from './directory-follower.ts';
import { commitOf } from './git-commit.ts';
import type { ReadSources } from './read-policies.ts';
import type { CompiledContent, SetCompiler } from './set-compiler.ts';
import {
  type CacheableSet,
  deleteCachedSet,
  findCachedSet,
  readCacheFile,
  writeCachedSet,
} from './startup-cache.ts';

type MakeCompiler = () => SetCompiler | Promise<SetCompiler>;

/**
 * Works until the thread is terminated. `makeCompiler` is called for the first compilation, and again after a
 * compiler threw.
 */
export function serveCompiler(
  port: MessagePort,
  data: CompilerData,
  makeCompiler: MakeCompiler = loadCompiler,
): void {
  const worker = new CompilerWorker(port, data, makeCompiler);
  port.on('message', ({ ticket }: ToCompiler) => worker.readDirectory(ticket));
  void worker.run();
}

/** Loads the compiler only when something has to be compiled: it is most of the thread's code. */
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
  /** Content of the set that was sent last, or that was active before this thread. */
  #active: SetContent | null;
  /** Content that was sent last, if it failed; else null. */
  #failed: SetContent | null = null;
  #avoided: SetContent | null;
  /** The list files of the content that was looked at last. */
  #listFiles: readonly string[];
  /** The commit that was sent last. */
  #commit: string | null = null;
  #isBusy = false;
  readonly #keptIn: string | null;
  /**
   * The set that an earlier start has kept, read in parallel with the directory; null once something has been
   * compiled.
   */
  #kept: Promise<Uint8Array | null> | null;
  #reportedNotRead: readonly string[] = [];

  constructor(port: MessagePort, data: CompilerData, makeCompiler: MakeCompiler) {
    const { directory, active, avoided, keptIn } = data;
    this.#port = port;
    this.#directory = directory;
    this.#keptIn = keptIn;
    // If a set is active already, a kept set saves no time.
    this.#kept = keptIn === null || active !== null ? null : readCacheFile(keptIn);
    this.#makeCompiler = makeCompiler;
    this.#active = active;
    this.#avoided = avoided;
    this.#listFiles = [...new Set([active, avoided].flatMap((content) => content?.listFiles ?? []))];
    this.#follower = new Follower(directory, this.#listFiles, this);
  }

  run(): Promise<never> {
    return this.#follower.run();
  }

  readDirectory(ticket: number): void {
    // Shows callers that wait that the thread is alive.
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

  onUnsettled(): void {
    // The state that finally comes to rest must be reported, even if it was reported before.
    this.#failed = null;
    this.#avoided = null;
    const summary = `the files have been changing for ${unsettledWarningMs / 1_000} seconds: none of their states was used`;
    this.#send({
      kind: 'failed',
      failure: { cause: 'unsettled', summary, text: `${summary}\n`, diagnostics: [], codes: [], texts: null },
    });
  }

  async onNothingNew(): Promise<void> {
    if (this.#active === null || this.#failed !== null) return;
    // A commit of what is active already changes no file, but records should name the commit.
    if ((await commitOf(this.#directory)) !== this.#commit) await this.#sendSame();
  }

  async onRest(snapshot: Snapshot, isAsked: boolean): Promise<Snapshot> {
    this.#tellNotRead(snapshot.read);
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

  #tellNotRead({ notRead }: ReadSources): void {
    const paths = notRead.map(({ span }) => span.file);
    if (paths.join('\0') === this.#reportedNotRead.join('\0')) return;
    this.#reportedNotRead = paths;
    if (paths.length > 0) this.#send({ kind: 'not-read', paths });
  }

  async #compileWhole(first: Snapshot): Promise<Snapshot> {
    const cachedCompilation = await this.#findKept(first.read);
    const { compilation, snapshot } = await this.#compileAtRest(cachedCompilation, first);
    const isKept = compilation === cachedCompilation;
    const toKeep = isKept || this.#keptIn === null ? null : setToKeep(compilation);
    await this.#sendResult(compilation, snapshot);
    if (isKept) await this.#compileKept(snapshot);
    else await this.#keep(toKeep);
    return snapshot;
  }

  /**
   * A set's list files are known only once it is compiled, so it is sent only when its list files have rested
   * too.
   */
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

  /** At the first compilation of this thread: the kept set, if it is of the same content; else null. */
  async #findKept(read: ReadSources): Promise<Compilation | null> {
    const bytes = await this.#kept;
    this.#kept = null;
    const compiled = await findCachedSet(bytes, read);
    return compiled && { content: contentOf(read, compiled.listFiles), result: compiled.result };
  }

  /**
   * Compiles a set that was activated as it was kept. The compiled set replaces the kept one, unless the two
   * are equal.
   */
  async #compileKept(snapshot: Snapshot): Promise<void> {
    const compilation = await this.#compileOne(snapshot.read);
    const { content, result } = compilation;
    if (result.kind === 'compiled' && (await this.#keep({ ...result.set, content }))) return;
    if (result.kind === 'failed') await deleteCachedSet(this.#keptIn!).catch(() => undefined);
    await this.#sendResult(compilation, snapshot);
  }

  /** Keeps the set; returns whether an equal one was kept already. */
  async #keep(set: CacheableSet | null): Promise<boolean> {
    if (set === null || this.#keptIn === null) return false;
    // If the set cannot be kept, the next start compiles.
    return await writeCachedSet(this.#keptIn, set).catch(() => false);
  }

  async #compileOne(read: ReadSources): Promise<Compilation> {
    const content = contentOf(read, this.#listFiles);
    this.#send({ kind: 'compiling', content });
    try {
      this.#compiler ??= await this.#makeCompiler();
      const { listFiles, result } = this.#compiler(read);
      return { content: contentOf(read, listFiles), result };
    } catch (error) {
      // After an error the compiler's cache may be incomplete.
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

  /** Sends a result; its buffers move to the other thread and cannot be used afterwards. */
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

/** Copies a compiled set, because sending it moves its buffers away; null for a failed compilation. */
function setToKeep({ content, result }: Compilation): CacheableSet | null {
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
