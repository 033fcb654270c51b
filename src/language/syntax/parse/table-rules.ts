// The rules of tables: rows from a file with the types of their columns, or constants by key.

import type { Declaration, DeclarationOf, RowNode, TableSource } from '../tree/tree.ts';
import { named, type ParserRule } from './node-parser.ts';
import { PolicyRuleParser } from './policy-rules.ts';
import { sign, word } from './tokens.ts';

type TableFile = Extract<TableSource, { readonly kind: 'table-file' }>;
type WrittenRows = Extract<TableSource, { readonly kind: 'rows' }>;

export abstract class TableParser extends PolicyRuleParser {
  // table = 'table' Word ( tableFile | '=' tableRows )
  table: ParserRule<Declaration | null> = this.node<DeclarationOf<'table'>>(
    'table',
    () => ({ ...named('table'), source: null }),
    (draft) => {
      this.CONSUME(word.table);
      draft.name = this.nameOf('a table', 'a name for the table');
      this.OR({
        DEF: [
          { ALT: () => this.part(draft, 'source', this.tableFile) },
          { ALT: () => this.CONSUME(sign.assign) && this.part(draft, 'source', this.tableRows) },
        ],
        ERR_MSG: '`from` or `=`',
      });
    },
    ({ name, source }) => name && source,
  );

  // tableFile = 'from' Text 'key' field recordBody
  tableFile: ParserRule<TableSource | null> = this.node<TableFile>(
    'tableFile',
    () => ({ kind: 'table-file', path: null, key: null, columns: null, span: null }),
    (draft) => {
      this.CONSUME(word.from);
      draft.path = this.text('the path of a file in quotes');
      this.CONSUME(word.key);
      this.part(draft, 'key', this.field);
      this.part(draft, 'columns', this.recordBody);
    },
    (draft) => {
      // A comment before the key documents nothing: it has no line of its own.
      if (draft.key !== null) draft.key = { ...draft.key, doc: null };
      return draft.path && draft.key && draft.columns;
    },
  );

  // tableRows = '{' tableRow { ',' tableRow } '}'
  tableRows: ParserRule<TableSource | null> = this.node<WrittenRows>(
    'tableRows',
    () => ({ kind: 'rows', rows: [], span: null }),
    ({ rows }) => {
      this.CONSUME(sign.openCurly);
      this.listed('a row such as `USD: 200 USD`', () => this.add(rows, this.tableRow));
      this.CONSUME(sign.closeCurly);
    },
    ({ rows }) => rows[0],
  );

  // tableRow = fieldName ':' constant
  tableRow: ParserRule<RowNode | null> = this.node<RowNode>(
    'tableRow',
    () => ({ kind: 'row', key: null, value: null, span: null }),
    (draft) => {
      draft.key = this.SUBRULE(this.fieldName);
      this.CONSUME(sign.colon);
      this.part(draft, 'value', this.constant);
    },
    ({ key, value }) => key && value,
  );
}
