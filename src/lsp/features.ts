// Answers the requests of an editor's features, each from one snapshot of the policy set.

import {
  type Connection,
  type InlayHint,
  LSPErrorCodes,
  ResponseError,
  type TextDocuments,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import { occurrencesIn } from '../language/assist/names.ts';
import type { Declaration } from '../language/syntax/tree/tree.ts';
import { coloursOf } from './colours.ts';
import { completionsAt } from './completion.ts';
import { configCompletions, configHover, isConfigFile } from './config-file.ts';
import { formatted, formattedIn } from './formatting.ts';
import { hoverAt, signatureAt } from './hover.ts';
import { definitionsAt, highlightsAt, referencesAt, renameAt, renamedAt } from './navigation.ts';
import type { PolicyService } from './service.ts';
import { type DocumentPosition, placeIn } from './set/positions.ts';
import { documentOf, fileNameOf, type OpenSets, pathOf, type SetSnapshot } from './set/workspace.ts';
import { foldings, outline, symbolsNamed } from './symbols.ts';
import { testCompletionsAt } from './test-completion.ts';

/** The longest hint; a longer one would hide the line that it explains. */
const charactersMax = 40;

/** The hints of a part of a file; `start` and `end` are offsets in the file. */
function hintsIn(
  snapshot: SetSnapshot,
  { file, start, end }: { readonly file: string; readonly start: number; readonly end: number },
): readonly InlayHint[] {
  const document = documentOf(snapshot, file);
  const labels = new Map(
    snapshot.files
      .flatMap(({ declarations }) => declarations)
      .flatMap((declaration): readonly (readonly [string, string])[] => {
        const label = labelOf(snapshot, declaration);
        return label === null || declaration.kind === 'action' ? [] : [[declaration.name.text, label]];
      }),
  );
  return occurrencesIn(snapshot.files, file)
    .filter(({ kind, isDeclared }) => kind in hinted && !isDeclared)
    .filter(({ span }) => span.start >= start && span.end <= end)
    .flatMap(({ name, span }) => {
      const label = labels.get(name);
      if (label === undefined || label.length > charactersMax || label.includes('\n')) return [];
      return [{ position: document.positionAt(span.end), label, paddingLeft: true }];
    });
}

const hinted = { let: true, hours: true, meter: true };

/** The hint for a declaration; null when its kind has none. */
function labelOf({ texts }: SetSnapshot, declaration: Declaration): string | null {
  const textOf = ({ file, start, end }: Declaration['span']): string =>
    (texts.get(file)?.text ?? '').slice(start, end);
  switch (declaration.kind) {
    case 'let':
      return `= ${textOf(declaration.value.span)}`;
    case 'hours':
      return `in ${textOf(declaration.zone.span)}`;
    case 'meter': {
      const { currency, over } = declaration;
      return [...(currency === null ? [] : [currency.text]), `over ${textOf(over.span)}`].join(' ');
    }
    default:
      return null;
  }
}

interface ServerContext {
  readonly connection: Connection;
  readonly workspace: OpenSets;
  readonly documents: TextDocuments<TextDocument>;
  readonly service: () => PolicyService | null;
}

interface FileParams {
  readonly textDocument: { readonly uri: string };
}

interface CursorParams extends FileParams {
  readonly position: { readonly line: number; readonly character: number };
}

interface RangeParams {
  readonly start: CursorParams['position'];
  readonly end: CursorParams['position'];
}

interface ContextParams {
  readonly context?: { readonly triggerKind: number };
}

const triggeredByCharacter = 2;

export function answerFeatures({ connection, workspace, documents, service }: ServerContext): void {
  /**
   * Answers from the set with everything that has been typed; `none` is the answer for a file that is no
   * policy.
   */
  const answer =
    <Asked extends FileParams, Result>(none: Result, of: (snapshot: SetSnapshot, params: Asked) => Result) =>
    async (params: Asked): Promise<Result> => {
      const snapshot = await workspace.snapshotOf(params.textDocument.uri);
      return snapshot === null ? none : of(snapshot, params);
    };
  const answerAt = <Asked extends CursorParams, Result>(
    none: Result,
    of: (position: DocumentPosition, params: Asked) => Result,
  ) =>
    answer<Asked, Result>(none, (snapshot, params) =>
      of(placeIn(snapshot, params.textDocument.uri, params.position), params),
    );
  const fileOf = (snapshot: SetSnapshot, { textDocument }: FileParams) =>
    fileNameOf(snapshot, textDocument.uri);

  const configAt = ({ textDocument: { uri } }: FileParams): TextDocument | null =>
    isConfigFile(uri) ? (documents.get(uri) ?? null) : null;
  const completions = answerAt([], (position, { context }: CursorParams & ContextParams) =>
    position.snapshot.tests.has(position.file)
      ? [...testCompletionsAt(position)]
      : [...completionsAt(position, context?.triggerKind !== triggeredByCharacter)],
  );
  connection.onCompletion((params) => {
    const config = configAt(params);
    return config === null ? completions(params) : [...configCompletions(config, params.position)];
  });
  connection.onHover(async (params) => {
    const config = configAt(params);
    if (config !== null) return configHover(config, params.position);
    const hits = (await service()?.hits()) ?? null;
    return await answerAt(null, (place) => hoverAt(place, hits))(params);
  });
  connection.onSignatureHelp(answerAt(null, signatureAt));
  connection.onDefinition(answerAt([], (place) => [...definitionsAt(place)]));
  connection.onReferences(
    answerAt(
      [],
      (place, { context }: CursorParams & { readonly context: { includeDeclaration: boolean } }) => [
        ...referencesAt(place, context.includeDeclaration),
      ],
    ),
  );
  connection.onDocumentHighlight(answerAt([], (place) => [...highlightsAt(place)]));
  connection.onPrepareRename(answerAt(null, renamedAt));
  connection.onRenameRequest(
    answerAt(null, (place, { newName }: CursorParams & { readonly newName: string }) => {
      const renamed = renameAt(place, newName);
      if (typeof renamed === 'string') throw new ResponseError(LSPErrorCodes.RequestFailed, renamed);
      return renamed;
    }),
  );
  connection.onDocumentSymbol(
    answer([], (snapshot, params: FileParams) => [...outline(snapshot, fileOf(snapshot, params))]),
  );
  connection.onWorkspaceSymbol(async ({ query }) => [...symbolsNamed(await workspace.snapshots(), query)]);
  connection.onFoldingRanges(
    answer([], (snapshot, params: FileParams) => [...foldings(snapshot, fileOf(snapshot, params))]),
  );
  const policyAt = ({ textDocument }: FileParams): TextDocument | null => {
    const document = documents.get(textDocument.uri);
    return document !== undefined && pathOf(document.uri)?.endsWith('.policy') === true ? document : null;
  };
  connection.onDocumentFormatting((params) => {
    const document = policyAt(params);
    return document === null ? [] : [...formatted(document)];
  });
  connection.onDocumentRangeFormatting((params) => {
    const document = policyAt(params);
    return document === null ? [] : [...formattedIn(document, params.range)];
  });
  connection.languages.inlayHint.on(
    answer([], (snapshot, params: FileParams & { readonly range: RangeParams }) => {
      const { file, document } = placeIn(snapshot, params.textDocument.uri, params.range.start);
      const [start, end] = [document.offsetAt(params.range.start), document.offsetAt(params.range.end)];
      return [...hintsIn(snapshot, { file, start, end })];
    }),
  );
  connection.languages.semanticTokens.on(
    answer({ data: [] }, (snapshot, params: FileParams) => coloursOf(snapshot, fileOf(snapshot, params))),
  );
}
