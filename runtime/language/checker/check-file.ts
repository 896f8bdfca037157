import { readFile, readdir } from 'node:fs/promises';
import { methods } from '../method.ts';
import { type Problem, isMistake } from '../problem.ts';
import { isModuleScenario } from '../files.ts';
import { TOO_DEEP, compileProblems } from './scripts/compile-problems.ts';
import { type ModuleCheckOptions, checkModule } from './module/check-module.ts';
import { modulesBeside } from './module/imports.ts';
import { type CheckResult, checkScenario } from './check-scenario.ts';
import { recover } from './flow/recovery.ts';
import { checkScriptBlock } from './scripts/script-block.ts';
import type { ScriptSite } from './scripts/scripts.ts';
import type { Report } from './names/unknown-names.ts';

/**
 * Reads and checks a scenario file, YAML or module.
 * @throws errors of reading the file
 */
export async function checkFile(options: ModuleCheckOptions): Promise<CheckResult & { readonly text: string }> {
  const text = await readFile(options.file, 'utf8');
  const readModule = modulesBeside(options.file, shareableFiles);
  return { ...(await checkText(text, { readModule, ...options })), text };
}

async function shareableFiles(folder: string): Promise<readonly string[]> {
  return (await readdir(folder)).filter(isModuleScenario);
}

/** Checks a text that is already read; the extension of the file's name decides between YAML and module. */
export async function checkText(given: string, options: ModuleCheckOptions): Promise<CheckResult> {
  // The byte order mark of some editors counts as no character.
  const text = given.replace(/^\uFEFF/, '');
  if (isModuleScenario(options.file)) return checkModule(text, options);
  const checked = checkScenario(text, options);
  if (!options.compile || checked.scripts.length === 0) return checked;
  const found = await scriptProblems(checked.scripts, options, options.compile);
  if (found.length === 0) return checked;
  const problems = [...checked.problems, ...found].toSorted((a, b) => a.line - b.line || a.column - b.column);
  return { ...checked, program: problems.some(isMistake) ? undefined : checked.program, problems };
}

/** The suggestion for code in a folded (`>`) or plain scalar. */
const FOLDED = 'YAML makes one line of these; write code: | and the lines below it';

const PLACEHOLDER = 'a script gets values by the setting vars, and reads vars.NAME';

/** True when the code contains `{{name}}` or `${name}` with a name of the scenario. */
function hasPlaceholder({ source, scenario }: ScriptSite): boolean {
  return [...source.matchAll(/(?:\{\{|\$\{)\s*([A-Za-z]\w*)/g)].some(
    ([, name = '']) => scenario.variables.has(name) || scenario.records.has(name),
  );
}

/** Mistakes in the scripts of blocks, at their places in the file. */
async function scriptProblems(
  scripts: readonly ScriptSite[],
  { file, components }: ModuleCheckOptions,
  compile: NonNullable<ModuleCheckOptions['compile']>,
): Promise<Problem[]> {
  const known = methods(components);
  const results = await Promise.all(
    scripts.map(async (script) => {
      const { source, format, places, isFolded } = script;
      const asked = { source, format, kind: 'block', file } as const;
      const result = await compile(asked);
      const recovered = result.ok || isFolded ? undefined : await recover(asked, result.problems, compile);
      const broken = result.ok ? [] : (recovered?.problems ?? result.problems);
      const found: Problem[] = (await compileProblems(asked, broken, compile)).map(({ line, column, ...problem }) => ({
        file,
        ...places.at(line, column),
        ...problem,
        ...(isFolded ? { suggestion: FOLDED } : {}),
        ...(hasPlaceholder(script) ? { suggestion: PLACEHOLDER } : {}),
      }));
      const code = result.ok ? result.code : recovered?.code;
      if (code === undefined) return found;
      const report: Report = (offset, message, suggestion, severity) => {
        // Warnings name what is missing, and a skipped line may contain it.
        if (recovered && (severity !== undefined || recovered.hides(offset))) return;
        const before = code.slice(0, offset).split('\n');
        found.push({
          file,
          ...places.at(before.length, (before.at(-1)?.length ?? 0) + 1),
          message,
          ...(suggestion === undefined ? {} : { suggestion }),
          ...(severity === undefined ? {} : { severity }),
        });
      };
      try {
        checkScriptBlock(code, script, known, report);
      } catch (error) {
        if (error instanceof RangeError) report(0, TOO_DEEP.message, TOO_DEEP.suggestion, 'warning');
        // The source may also use syntax that only V8 parses.
        else if (!(error instanceof SyntaxError)) throw error;
      }
      return found;
    }),
  );
  return results.flat();
}
