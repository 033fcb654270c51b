/** The environment of a process that lacks these packages, as where nobody has installed them. */
export function withoutPackages(names: readonly string[]): { readonly NODE_OPTIONS: string } {
  const hook = `import { registerHooks } from 'node:module';
    const missing = new Set(${JSON.stringify(names)});
    registerHooks({ resolve(name, context, next) {
      const [first, second] = name.split('/');
      if (!missing.has(first) && !missing.has(first + '/' + second)) return next(name, context);
      const error = new Error("Cannot find package '" + name + "' imported from " + context.parentURL);
      throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' });
    } });`;
  return { NODE_OPTIONS: `--import data:text/javascript,${encodeURIComponent(hook)}` };
}
