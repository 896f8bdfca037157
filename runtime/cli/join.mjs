// Joins the modules of the commands, and packages of many small modules, into a few files: see joined.mjs.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join, relative, sep } from 'node:path';
import { build } from 'esbuild';
import { contentsOf, JOINED, joinedCommands, ROOT } from './joined.mjs';

/** They depend on no other package, so that nobody else loads a second copy of them. */
const PACKAGES = ['typebox', 'kysely', 'yaml', '@marcbachmann/cel-js'];
/** An import of it loads what `fetch` needs as well. */
const HTTP = 'node:http';
const BUILT_IN = 'built-in';
const RELATIVE = /^\.{0,2}\//;
const OWN = /\.(ts|mjs)$/;

/**
 * Leaves what is right already: the first `npx ringmaster` installs the project again, and a running node loads some files late.
 * @throws Error when a module cannot be joined; nothing joined is left then
 */
export async function joinCommands() {
  if (joinedCommands() !== undefined) return;
  const unfinished = `${JOINED}.${process.pid}`;
  try {
    const made = await build({
      absWorkingDir: ROOT,
      entryPoints: ['runtime/cli/main.ts'],
      outdir: JOINED,
      outExtension: { '.js': '.mjs' },
      write: false,
      bundle: true,
      splitting: true,
      format: 'esm',
      platform: 'node',
      target: 'node24',
      // Names of classes and functions stand in logs.
      keepNames: true,
      sourcemap: 'linked',
      sourcesContent: false,
      metafile: true,
      tsconfigRaw: { compilerOptions: { target: 'es2024', verbatimModuleSyntax: true } },
      banner: { js: BANNER },
      plugins: [{ name: 'ringmaster', setup: keepPlaces }],
      logLevel: 'silent',
    });
    mkdirSync(unfinished, { recursive: true });
    for (const { path, contents } of made.outputFiles) writeFileSync(join(unfinished, basename(path)), contents);
    rmSync(JOINED, { recursive: true, force: true });
    renameSync(unfinished, JOINED);
    const manifests = PACKAGES.map((name) => `node_modules/${name}/package.json`);
    const inputs = Object.keys(made.metafile.inputs).filter((name) => !name.startsWith(`${BUILT_IN}:`));
    // A debugger reads the source maps, and no start.
    const outputs = made.outputFiles
      .filter(({ path }) => path.endsWith('.mjs'))
      .map(({ path }) => relative(ROOT, path).replaceAll(sep, '/'));
    writeFileSync(
      join(JOINED, 'contents.json'),
      contentsOf(['runtime/cli/join.mjs', ...manifests, ...inputs, ...outputs]),
    );
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    rmSync(JOINED, { recursive: true, force: true });
    throw error;
  }
}

/** Packages that are CommonJS call `require`. */
const BANNER = `import { createRequire as requireOf } from 'node:module';const require = requireOf(import.meta.url);`;

/** Other packages stay where they are, and each module of ours has the URL of its own file. */
function keepPlaces({ onResolve, onLoad }) {
  onResolve({ filter: /./ }, ({ path }) => {
    if (RELATIVE.test(path) || PACKAGES.some((name) => path === name || path.startsWith(`${name}/`))) return undefined;
    return path === HTTP ? { path, namespace: BUILT_IN } : { path, external: true };
  });
  onLoad({ filter: /./, namespace: BUILT_IN }, ({ path }) => ({
    contents: `module.exports = process.getBuiltinModule('${path}')`,
  }));
  onLoad({ filter: OWN }, ({ path }) => {
    const text = readFileSync(path, 'utf8');
    if (!text.includes('import.meta')) return undefined;
    if (path.includes(`${sep}node_modules${sep}`)) throw new Error(`${path} asks for its own place`);
    const place = JSON.stringify(relative(JOINED, path).replaceAll(sep, '/'));
    // In the first line, so that the others keep their numbers.
    const meta = `const ownPlace = placeOf(${place}, import.meta);`;
    return { contents: `${PLACE}${meta}${text.replaceAll(/\bimport\.meta\b/g, 'ownPlace')}`, loader: 'ts' };
  });
}

const PLACE = `import { fileURLToPath as pathOfUrl } from 'node:url';const placeOf = (file, { url: base, resolve }) => {const url = new URL(file, base).href;const filename = pathOfUrl(url);return { url, filename, dirname: pathOfUrl(new URL('.', url)).replace(/[\\\\/]$/, ''), resolve };};`;
