// Lists the declarations of a file as an outline, and those of a workspace by name.

import {
  type DocumentSymbol,
  type FoldingRange,
  SymbolKind,
  type WorkspaceSymbol,
} from 'vscode-languageserver';
import type { TextDocument } from 'vscode-languageserver-textdocument';
import type { Span } from '../language/diagnostic/span.ts';
import type { Declaration } from '../language/syntax/tree/tree.ts';
import { locationOf, rangeOf } from './set/positions.ts';
import { documentOf, type SetSnapshot } from './set/workspace.ts';

const kinds: Readonly<Record<Declaration['kind'], SymbolKind>> = {
  action: SymbolKind.Event,
  type: SymbolKind.Struct,
  group: SymbolKind.Namespace,
  approvers: SymbolKind.Enum,
  list: SymbolKind.Array,
  table: SymbolKind.Object,
  hours: SymbolKind.Constant,
  let: SymbolKind.Variable,
  meter: SymbolKind.Number,
  policy: SymbolKind.Class,
  guarantee: SymbolKind.Interface,
};

export function outline(snapshot: SetSnapshot, file: string): readonly DocumentSymbol[] {
  const document = documentOf(snapshot, file);
  return declarationsOf(snapshot, file).map((declaration): DocumentSymbol => {
    const { kind, span } = declaration;
    return symbol(document, {
      name: titleOf(declaration),
      detail: kind,
      kind: kinds[kind],
      span,
      nameSpan: kind === 'action' ? (declaration.keys[0]?.span ?? span) : declaration.name.span,
      children: childrenOf(declaration, document),
    });
  });
}

function declarationsOf({ files }: SetSnapshot, file: string): readonly Declaration[] {
  return files.find(({ span }) => span.file === file)?.declarations ?? [];
}

function titleOf(declaration: Declaration): string {
  if (declaration.kind !== 'action') return declaration.name.text;
  return declaration.keys.map(({ text }) => text).join(', ');
}

interface SymbolNode {
  readonly name: string;
  readonly detail: string;
  readonly kind: SymbolKind;
  readonly span: Span;
  readonly nameSpan: Span;
  readonly children: DocumentSymbol[];
}

function symbol(document: TextDocument, { span, nameSpan, name, ...rest }: SymbolNode): DocumentSymbol {
  // A declaration that is being typed may have no name yet, and clients refuse a symbol without one.
  const label = name === '' ? '…' : name;
  return {
    ...rest,
    name: label,
    range: rangeOf(document, span),
    selectionRange: rangeOf(document, nameSpan),
  };
}

function childrenOf(declaration: Declaration, document: TextDocument): DocumentSymbol[] {
  if (declaration.kind === 'policy')
    return declaration.rules.map(({ name, effect, span }) =>
      symbol(document, {
        name: name.text,
        detail: effect,
        kind: SymbolKind.Method,
        span,
        nameSpan: name.span,
        children: [],
      }),
    );
  if (declaration.kind !== 'action') return [];
  return declaration.body.fields.map(({ name, span, type }) =>
    symbol(document, {
      name: name.text,
      detail: document.getText(rangeOf(document, type.span)),
      kind: SymbolKind.Field,
      span,
      nameSpan: name.span,
      children: [],
    }),
  );
}

const symbolsMax = 500;

export function symbolsNamed(snapshots: readonly SetSnapshot[], query: string): readonly WorkspaceSymbol[] {
  const searchText = query.toLowerCase();
  const symbols: WorkspaceSymbol[] = [];
  for (const snapshot of snapshots) {
    for (const declaration of snapshot.files.flatMap(({ declarations }) => declarations)) {
      const { kind } = declaration;
      const item = {
        name: titleOf(declaration),
        kind: kinds[kind],
        span: declaration.span,
        container: kind as string,
      };
      const rules = kind === 'policy' ? declaration.rules : [];
      const inner = rules.map(({ name, span }) => ({
        name: name.text,
        kind: SymbolKind.Method as SymbolKind,
        span,
        container: item.name,
      }));
      for (const { name, kind: symbolKind, span, container } of [item, ...inner]) {
        if (symbols.length === symbolsMax) return symbols;
        if (!name.toLowerCase().includes(searchText)) continue;
        symbols.push({
          name,
          kind: symbolKind,
          containerName: container,
          location: locationOf(snapshot, span),
        });
      }
    }
  }
  return symbols;
}

export function foldings(snapshot: SetSnapshot, file: string): readonly FoldingRange[] {
  const document = documentOf(snapshot, file);
  const spans = declarationsOf(snapshot, file).flatMap((declaration) => [
    declaration.span,
    ...(declaration.kind === 'policy' ? declaration.rules.map(({ span }) => span) : []),
  ]);
  return spans
    .map(({ start, end }) => ({
      startLine: document.positionAt(start).line,
      endLine: document.positionAt(end).line,
    }))
    .filter(({ startLine, endLine }) => endLine > startLine);
}
