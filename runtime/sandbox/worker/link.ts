/** Links a module with the modules that it imports. */
import path from 'node:path';
import type ivm from 'isolated-vm';
import type { ScriptModule } from '../sandbox.ts';
import type { StartProgram } from './door.ts';
import { type Program, SourceError, prepareSource, sourceError } from './source.ts';

const ENTRY_URL = 'node:internal/ringmaster/entry';

/**
 * Compiles a module with all its imports for one context, so that every run has its own state. Only the given modules
 * can be imported.
 * @param code the source of the program without types
 * @returns starts the module: modules run once each, those imported first (ECMA-262, "Module Evaluation")
 * @throws SourceError, CompilerExhaustedError
 */
export async function linkModules(
  isolate: ivm.Isolate,
  context: ivm.Context,
  { program, code }: { readonly program: Program; readonly code: string },
): Promise<StartProgram> {
  const { file, line, modules = [] } = program;
  const scenario = await isolate.compileModule(code, { filename: file, lineOffset: line - 1 });
  const bySpecifier = new Map<string, ivm.Module>([[`./${path.posix.basename(file)}`, scenario]]);
  for (const module of needed(scenario, modules)) bySpecifier.set(module.specifier, await compiled(isolate, module));
  const entry = await isolate.compileModule('import author from "scenario"; __scenario__(author);', {
    filename: ENTRY_URL,
  });
  await entry.instantiate(context, (specifier, importer) => {
    if (importer === entry) return scenario;
    const found = bySpecifier.get(specifier);
    if (found) return found;
    throw new SourceError([{ line: 1, column: 1, message: `there is no module "${specifier}" to import` }]);
  });
  return (options) => entry.evaluate(options);
}

/** A script without imports needs no modules. */
function needed({ dependencySpecifiers }: ivm.Module, modules: readonly ScriptModule[]): readonly ScriptModule[] {
  return dependencySpecifiers.length === 0 ? [] : modules;
}

async function compiled(isolate: ivm.Isolate, { source, format, file }: ScriptModule): Promise<ivm.Module> {
  try {
    const { code } = prepareSource({ source, format, kind: 'module', file, line: 1 });
    return await isolate.compileModule(code, { filename: file });
  } catch (error) {
    throw sourceError(error, file);
  }
}
