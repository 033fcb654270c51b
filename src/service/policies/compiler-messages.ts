// Messages between the serving thread and the compiling thread: plain data, each message complete by itself.

import type { JsonDiagnostic } from '../../language/diagnostic/render.ts';
import type { Title } from '../../language/model/title.ts';
import type { PackedProgram } from '../../language/program/packed/packed.ts';
import type { SetContent } from './compiled/bundle.ts';
import type { SetTexts } from './texts.ts';

/** What the compiling thread is given at its start. */
export interface CompilerData {
  readonly directory: string;
  /** The active set, which need not be compiled; null at the start of the service. */
  readonly active: SetContent | null;
  /** The content that ended an earlier thread: compiled only when a look is asked for. */
  readonly avoided: SetContent | null;
  /** The file that keeps the active policies for the next start; null for none. */
  readonly keptIn: string | null;
}

/** Asks for a look at the directory as it is now, whatever was seen before. */
export interface ToCompiler {
  readonly kind: 'look';
  readonly ticket: number;
}

export type FromCompiler =
  /** Between `busy` and `idle` the thread waits for nothing: if that takes too long, the thread hangs. */
  | { readonly kind: 'busy' | 'idle' }
  /** The content whose compilation begins. */
  | { readonly kind: 'compiling'; readonly content: SetContent }
  | { readonly kind: 'compiled'; readonly set: CompiledSet }
  | { readonly kind: 'failed'; readonly failure: CompileFailure }
  /** The directory holds the active set. */
  | { readonly kind: 'same'; readonly commit: string | null }
  | { readonly kind: 'looked'; readonly tickets: readonly number[] }
  | { readonly kind: 'impaired'; readonly text: string }
  /** Files named like policy files that are not read; sent when they change. */
  | { readonly kind: 'not-read'; readonly paths: readonly string[] };

/** All that serving needs of a set. */
export interface CompiledSet {
  readonly program: PackedProgram;
  readonly content: SetContent;
  /** Digest of the set: SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly commit: string | null;
  readonly actions: number;
  readonly rules: number;
  /** Titles by action key; actions without a title are left out. */
  readonly titles: ReadonlyMap<string, Title>;
  /** `SetSummary` as JSON in UTF-8; parsed only on demand. */
  readonly about: Uint8Array;
  /** The texts that the set was made from. */
  readonly texts: SetTexts;
}

/**
 * - `policies`: the policies have an error.
 * - `unsettled`: the files keep changing, so none of their states can be taken for whole.
 * - `compiler`: the compiling thread hung, ran out of memory, crashed or could not be started.
 * - `bundle`: the bundle cannot be fetched or must not be used.
 */
export type FailureCause = 'policies' | 'unsettled' | 'compiler' | 'bundle';

export interface CompileFailure {
  readonly cause: FailureCause;
  /** One line without paths of this machine. */
  readonly summary: string;
  /** For people at a terminal: what `writ check` would print, without colours. */
  readonly text: string;
  /** The first hundred diagnostics. */
  readonly diagnostics: readonly JsonDiagnostic[];
  /** The codes of all diagnostics. */
  readonly codes: readonly string[];
  /** The texts of the set that failed; null when they are not known. */
  readonly texts: SetTexts | null;
}
