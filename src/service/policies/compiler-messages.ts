// What goes between the thread that serves and the thread that compiles: plain data, each message whole by itself.

import type { JsonDiagnostic } from '../../language/diagnostic/render.ts';
import type { Title } from '../../language/model/title.ts';
import type { PackedProgram } from '../../language/program/packed/packed.ts';
import type { SetContent } from './compiled/bundle.ts';
import type { SetTexts } from './texts.ts';

/** How the thread begins. */
export interface CompilerData {
  readonly directory: string;
  /** What is active already, which need not be compiled; null at the start of the service. */
  readonly active: SetContent | null;
  /** Over which an earlier thread has died: it is compiled only when asked for. */
  readonly avoided: SetContent | null;
  /** The file that keeps the active policies for the next start; null for none. */
  readonly keptIn: string | null;
}

/** A look at the directory as it is now, whatever was seen before. */
export interface ToCompiler {
  readonly kind: 'look';
  readonly ticket: number;
}

export type FromCompiler =
  /** Until `idle`, the thread does not wait for anything: if it takes too long, it hangs. */
  | { readonly kind: 'busy' | 'idle' }
  /** What is being compiled from now on. */
  | { readonly kind: 'compiling'; readonly content: SetContent }
  | { readonly kind: 'compiled'; readonly set: CompiledSet }
  | { readonly kind: 'failed'; readonly failure: FoundFailure }
  /** The directory is what is active. */
  | { readonly kind: 'same'; readonly commit: string | null }
  | { readonly kind: 'looked'; readonly tickets: readonly number[] }
  | { readonly kind: 'impaired'; readonly text: string };

/** All that serving needs of a set. */
export interface CompiledSet {
  readonly program: PackedProgram;
  readonly content: SetContent;
  /** SHA-256 in hexadecimal. */
  readonly digest: string;
  readonly commit: string | null;
  readonly actions: number;
  readonly rules: number;
  /** By key, of the actions that have one. */
  readonly titles: ReadonlyMap<string, Title>;
  /** `SetSummary` as JSON in UTF-8: read only when somebody asks. */
  readonly about: Uint8Array;
  /** What it was made from. */
  readonly texts: SetTexts;
}

/**
 * `policies`: they have an error. `unsettled`: they keep changing, so none of their states can be taken for whole.
 * `compiler`: the thread that compiles hung, ran out of memory, crashed or could not be started.
 * `bundle`: the one to be served cannot be had or must not be used.
 */
export type FailureCause = 'policies' | 'unsettled' | 'compiler' | 'bundle';

export interface FoundFailure {
  readonly cause: FailureCause;
  /** One line without paths of this machine. */
  readonly summary: string;
  /** For people at a terminal; as `writ check` would print it, without colours. */
  readonly text: string;
  /** The first hundred. */
  readonly diagnostics: readonly JsonDiagnostic[];
  /** The codes of all. */
  readonly codes: readonly string[];
  /** Of what failed; null where that is not known. */
  readonly texts: SetTexts | null;
}
