// The message of a diagnostic or an answer, with text between backticks shown as code.

import { PlainText } from './plain-text.tsx';

export function MessageText({ text }: { readonly text: string }) {
  return (
    <>
      {text.split(/(`[^`]+`)/).map((part, index) =>
        part.length > 2 && part.startsWith('`') ? (
          <code key={index}>
            <PlainText text={part.slice(1, -1)} isShort />
          </code>
        ) : (
          part !== '' && <PlainText key={index} text={part} />
        ),
      )}
    </>
  );
}
