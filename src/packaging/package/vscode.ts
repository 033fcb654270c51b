// Makes the extension for VS Code as one file to install: an archive of its manifest, the extension, the
// language server and the debugger, each with everything it needs.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { strToU8, zipSync } from 'fflate';
import { type OutputChunk, rolldown } from 'rolldown';

interface ExtensionManifest {
  readonly name: string;
  readonly displayName: string;
  readonly description: string;
  readonly publisher: string;
  readonly keywords: readonly string[];
  readonly engines: { readonly vscode: string };
}

/** Writes the archive, and returns its path. */
export async function makeVsix(root: string, target: string, version: string): Promise<string> {
  const source = join(root, 'integrations/vscode');
  const manifest = JSON.parse(readFileSync(join(source, 'manifest.json'), 'utf8')) as ExtensionManifest;
  const readSource = (name: string) => readFileSync(join(source, name));
  const archive = zipSync({
    '[Content_Types].xml': strToU8(contentTypes),
    'extension.vsixmanifest': strToU8(vsixManifest(manifest, version)),
    'extension/package.json': strToU8(`${JSON.stringify({ ...manifest, version }, null, 2)}\n`),
    'extension/README.md': readSource('README.md'),
    'extension/CHANGELOG.md': readFileSync(join(root, 'CHANGELOG.md')),
    'extension/LICENSE.txt': readFileSync(join(root, 'LICENSE')),
    'extension/icon.png': readSource('icon.png'),
    'extension/language-configuration.json': readSource('language-configuration.json'),
    'extension/policy.tmLanguage.json': readFileSync(join(root, 'grammar/generated/policy.tmLanguage.json')),
    'extension/extension.cjs': strToU8(await oneFile(join(source, 'extension.ts'), 'cjs')),
    'extension/server.mjs': strToU8(await oneFile(join(root, 'src/lsp/main.ts'), 'es')),
    'extension/debugger.mjs': strToU8(await oneFile(join(root, 'src/cli/dap/main.ts'), 'es')),
    // Lies beside the server, which starts it by this name.
    'extension/thread.mjs': strToU8(await oneFile(join(root, 'src/lsp/thread/thread.ts'), 'es')),
  });
  const path = join(target, `writ-${version}.vsix`);
  writeFileSync(path, archive);
  return path;
}

/** Bundles a module with everything that it imports, except for modules of the platform and the editor. */
async function oneFile(entry: string, format: 'cjs' | 'es'): Promise<string> {
  const besideIt = {
    name: 'beside-it',
    transform: (code: string) =>
      code.replaceAll(/(new URL\('\.\/\w+)\.ts', import\.meta\.url\)/g, "$1.mjs', import.meta.url)"),
  };
  const bundled = await rolldown({
    input: entry,
    platform: 'node',
    external: ['vscode'],
    plugins: [besideIt],
  });
  const { output } = await bundled.generate({ format, codeSplitting: false, minify: true });
  await bundled.close();
  const [chunk] = output.filter((one): one is OutputChunk => one.type === 'chunk');
  return chunk!.code;
}

const contentTypes = `<?xml version="1.0" encoding="utf-8"?>
<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">
${[
  'json:application/json',
  'vsixmanifest:text/xml',
  'cjs:application/javascript',
  'mjs:application/javascript',
  'md:text/markdown',
  'png:image/png',
  'txt:text/plain',
]
  .map((pair) => pair.split(':'))
  .map(([ending, type]) => `  <Default Extension=".${ending}" ContentType="${type}"/>`)
  .join('\n')}
</Types>
`;

function vsixManifest(
  { name, displayName, description, publisher, keywords, engines }: ExtensionManifest,
  version: string,
): string {
  return `<?xml version="1.0" encoding="utf-8"?>
<PackageManifest Version="2.0.0" xmlns="http://schemas.microsoft.com/developer/vsx-schema/2011">
  <Metadata>
    <Identity Language="en-US" Id="${name}" Version="${version}" Publisher="${publisher}"/>
    <DisplayName>${escaped(displayName)}</DisplayName>
    <Description xml:space="preserve">${escaped(description)}</Description>
    <Tags>${escaped(keywords.join(','))}</Tags>
    <Categories>Programming Languages,Linters,Formatters</Categories>
    <Properties>
      <Property Id="Microsoft.VisualStudio.Code.Engine" Value="${engines.vscode}"/>
      <Property Id="Microsoft.VisualStudio.Code.ExtensionKind" Value="workspace"/>
    </Properties>
    <License>extension/LICENSE.txt</License>
    <Icon>extension/icon.png</Icon>
  </Metadata>
  <Installation>
    <InstallationTarget Id="Microsoft.VisualStudio.Code"/>
  </Installation>
  <Dependencies/>
  <Assets>
    <Asset Type="Microsoft.VisualStudio.Code.Manifest" Path="extension/package.json" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Details" Path="extension/README.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.Changelog" Path="extension/CHANGELOG.md" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Icons.Default" Path="extension/icon.png" Addressable="true"/>
    <Asset Type="Microsoft.VisualStudio.Services.Content.License" Path="extension/LICENSE.txt" Addressable="true"/>
  </Assets>
</PackageManifest>
`;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
}
