import type { CompileResult, Sandbox, ScriptSource } from '../../sandbox/index.ts';

/** The compiler of a sandbox that is opened for the first source; undefined without a sandbox. */
export function compiling(openSandbox: (() => Promise<Sandbox>) | undefined): {
  readonly compile?: (source: ScriptSource) => Promise<CompileResult>;
} {
  return openSandbox ? { compile: async (source) => (await openSandbox()).compile(source) } : {};
}
