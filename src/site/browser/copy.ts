// A button on each block of code that copies it. Prompts and outputs of `console` blocks are copied as shown.

export function addCopyButtons(): void {
  for (const block of document.querySelectorAll('.code')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'button copy';
    button.textContent = 'Copy';
    button.addEventListener('click', async () => {
      const text = block.querySelector('code')?.textContent ?? '';
      try {
        await navigator.clipboard.writeText(text);
        button.textContent = 'Copied';
      } catch {
        button.textContent = 'Not copied';
      }
      setTimeout(() => {
        button.textContent = 'Copy';
      }, shownMs);
    });
    block.append(button);
  }
}

const shownMs = 2_000;
