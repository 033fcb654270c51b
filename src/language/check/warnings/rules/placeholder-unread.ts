// Warns of placeholders in texts that have none: `{payload.vendor}` in a text that is compared, and
// `{{payload.vendor}}` in a reason or a title, where two braces are one brace of the text.

import type { Span } from '../../../diagnostic/span.ts';
import type { TemplateNode } from '../../../syntax/tree/tree.ts';
import type { Environment } from '../../incremental/environment.ts';
import { warning } from '../../messages/problem.ts';
import type { ConditionScope } from '../engine/rule-subjects.ts';

export function placeholderUnread({ enforced, declaration, env }: ConditionScope): void {
  for (const { literals, parts } of enforced) {
    for (const node of literals) {
      if (node.kind === 'literal' && typeof node.value === 'string') reportText(node.value, node.span, env);
    }
    for (const { node } of parts) if (node.kind === 'like') reportText(node.pattern, node.span, env);
  }
  for (const { clauses } of declaration?.rules ?? []) {
    for (const clause of clauses) if (clause.kind === 'because') reportDoubleBraces(clause.reason, env);
  }
}

const inText = /\{\{\s*[A-Za-z_][\w.]*\s*\}\}|\{(?:payload|agent|request|action)\.[\w.]+\}/;

function reportText(text: string, span: Span, env: Environment): void {
  const [found] = inText.exec(text) ?? [];
  if (found === undefined) return;
  const path = found.replaceAll(/[{}\s]/g, '');
  env.report(
    warning('placeholder-unread', span, `\`${found}\` is ordinary text here, not a placeholder`, {
      help: `compare with the value itself, or join it with text: \`join("...", ${path})\``,
    }),
  );
}

/** What is left of `{{name}}` in the text of a template, where `{{` is one brace. */
const inTemplate = /\{(\s*[A-Za-z_][\w.]*\s*)\}\}/;

/** Reports `{{name}}` in a reason or a title. */
export function reportDoubleBraces({ parts }: TemplateNode, env: Pick<Environment, 'report'>): void {
  for (const part of parts) {
    const found = part.kind === 'template-text' ? inTemplate.exec(part.text) : null;
    if (found === null) continue;
    const [text, name = ''] = found;
    env.report(
      warning('placeholder-unread', part.span, `\`{{\` is one brace, so people read \`${text}\``, {
        help: `write \`{${name.trim()}}\` for the value`,
      }),
    );
  }
}
