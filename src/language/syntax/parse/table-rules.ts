// The parser rules of tables: rows from a file or pushed rows, with the types of their columns, or constants
// by key.

import type { Declaration, DeclarationOf, RowNode, TableSource } from '../tree/tree.ts';
import { type Draft, named, type ParserRule, push } from './node-parser.ts';
import { PolicyRuleParser } from './policy-rules.ts';
import { keyword, symbol } from './tokens.ts';

type TableFile = Extract<TableSource, { readonly kind: 'table-file' }>;
type PushedRows = Extract<TableSource, { readonly kind: 'pushed' }>;
type WrittenRows = Extract<TableSource, { readonly kind: 'rows' }>;

export abstract class TableParser extends PolicyRuleParser {
  // table = 'table' Word ( tableFile | tablePushed | '=' tableRows )
  table: ParserRule<Declaration | null> = this.node<DeclarationOf<'table'>>(
    'table',
    () => ({ ...named('table'), source: null }),
    (draft) => {
      this.CONSUME(keyword.table);
      draft.name = this.nameOf('a table', 'a name for the table');
      this.OR({
        DEF: [
          { ALT: () => this.part(draft, 'source', this.tableFile) },
          { ALT: () => this.part(draft, 'source', this.tablePushed) },
          { ALT: () => this.CONSUME(symbol.assign) && this.part(draft, 'source', this.tableRows) },
        ],
        ERR_MSG: '`from`, `pushed` or `=`',
      });
    },
    ({ name, source }) => name && source,
  );

  // tableFile = 'from' Text 'key' field recordBody
  tableFile: ParserRule<TableSource | null> = this.node<TableFile>(
    'tableFile',
    () => ({ kind: 'table-file', path: null, key: null, columns: null, span: null }),
    (draft) => {
      draft.path = this.fromFile();
      this.CONSUME(keyword.key);
      this.part(draft, 'key', this.field);
      this.part(draft, 'columns', this.recordBody);
    },
    (draft) => draft.path && keyAndColumns(draft),
  );

  // tablePushed = 'pushed' [ 'by' Text { ',' Text } ] 'key' field recordBody
  tablePushed: ParserRule<TableSource | null> = this.node<PushedRows>(
    'tablePushed',
    () => ({ kind: 'pushed', by: [], key: null, columns: null, span: null }),
    (draft) => {
      this.CONSUME(keyword.pushed);
      this.behind(0, keyword.by, () => {
        const expected = 'the name of an enforcement point in quotes';
        this.listed(expected, () => push(draft.by, this.text(expected)));
      });
      this.CONSUME(keyword.key);
      this.part(draft, 'key', this.field);
      this.part(draft, 'columns', this.recordBody);
    },
    keyAndColumns,
  );

  // tableRows = '{' tableRow { ',' tableRow } '}'
  tableRows: ParserRule<TableSource | null> = this.node<WrittenRows>(
    'tableRows',
    () => ({ kind: 'rows', rows: [], span: null }),
    ({ rows }) => {
      this.CONSUME(symbol.openCurly);
      this.listed('a row such as `USD: 200 USD`', () => this.add(rows, this.tableRow));
      this.CONSUME(symbol.closeCurly);
    },
    ({ rows }) => rows[0],
  );

  // tableRow = fieldName ':' constant
  tableRow: ParserRule<RowNode | null> = this.node<RowNode>(
    'tableRow',
    () => ({ kind: 'row', key: null, value: null, span: null }),
    (draft) => {
      draft.key = this.SUBRULE(this.fieldName);
      this.CONSUME(symbol.colon);
      this.part(draft, 'value', this.constant);
    },
    ({ key, value }) => key && value,
  );
}

function keyAndColumns(draft: Draft<TableFile> | Draft<PushedRows>): unknown {
  // A comment before the key documents nothing, since the key has no line of its own.
  if (draft.key !== null) draft.key = { ...draft.key, doc: null };
  return draft.key && draft.columns;
}
