// Runs a joined script (joined.mjs) in this thread. V8 keeps the compiled code of a script with the functions that it has compiled when
// they were first called; of a module it keeps none of these.
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import vm from 'node:vm';

/** Folder of the project. */
export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
/** Folder of the joined scripts. */
export const JOINED = join(ROOT, 'node_modules', '.cache', 'ringmaster', 'joined');
/** Environment variable: a process that has it writes the code that it compiled, when it ends. */
export const KEEPS_CODE = 'KEEPS_COMPILED_CODE';
/** Names of files end so: the code of a script, and one that is not yet among the checked contents. */
export const CODE = '.code';
export const UNCHECKED_CODE = '.unchecked-code';

/** Exports of `packages`, each a function that loads the package. */
let packages;

/**
 * @param {string} name of the script, without `.cjs`
 * @returns its exports
 */
export function runScript(name) {
  const filename = join(JOINED, `${name}.cjs`);
  const cachedData = codeOf(name);
  // The scripts are ASCII.
  const script = new vm.Script(readFileSync(filename, 'latin1'), {
    filename,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
  if (process.env[KEEPS_CODE] !== undefined && (cachedData === undefined || script.cachedDataRejected))
    process.once('exit', () => writeFileSync(join(JOINED, `${name}${UNCHECKED_CODE}`), script.createCachedData()));
  const module = { exports: {} };
  const require = createRequire(filename);
  script.runInThisContext()(module.exports, require, module, filename, joinedPackage, importModule, resolvePackage);
  return module.exports;
}

const importModule = (specifier) => import(specifier);
const resolvePackage = (specifier) => import.meta.resolve(specifier);

function joinedPackage(name) {
  packages ??= runScript('packages');
  return packages[name]();
}

function codeOf(name) {
  try {
    return readFileSync(join(JOINED, `${name}${CODE}`));
  } catch {
    // Not kept yet.
    return undefined;
  }
}
