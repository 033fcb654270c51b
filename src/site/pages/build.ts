// Builds the documentation into a folder: the scripts and styles with Vite, then the pages. INVARIANT: everything
// is inside the folder and under one address, so the site needs no network and no service.

import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { documentationPath } from '../address.ts';
import type { Assets } from './template.ts';
import { writePages } from './write.ts';

const root = join(import.meta.dirname, '../../..');

export async function buildSite(folder: string): Promise<void> {
  const { build } = await import('vite');
  await build({ configFile: join(import.meta.dirname, 'vite.config.ts'), build: { outDir: folder } });
  const manifestFile = join(folder, 'manifest.json');
  const manifest = JSON.parse(readFileSync(manifestFile, 'utf8')) as Manifest;
  rmSync(manifestFile);
  cpSync(join(root, 'src/dashboard/public'), folder, { recursive: true });
  writePages({
    root,
    folder,
    assets: {
      page: assetsOf(manifest, 'browser/main.ts'),
      playground: assetsOf(manifest, 'browser/playground.tsx'),
    },
  });
}

type Manifest = Readonly<
  Record<
    string,
    { readonly file: string; readonly css?: readonly string[]; readonly imports?: readonly string[] }
  >
>;

function assetsOf(manifest: Manifest, entry: string): Omit<Assets, 'search'> {
  const chunk = manifest[entry];
  if (chunk === undefined) throw new Error(`the build has no ${entry}`);
  const all = [entry, ...importsOf(manifest, entry)];
  const styles = new Set(all.toReversed().flatMap((name) => manifest[name]?.css ?? []));
  const address = (file: string) => `${documentationPath}/${file}`;
  return { styles: [...styles].map(address), script: address(chunk.file) };
}

function importsOf(manifest: Manifest, name: string): readonly string[] {
  return (manifest[name]?.imports ?? []).flatMap((one) => [one, ...importsOf(manifest, one)]);
}
