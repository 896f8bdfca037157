import type { Json, ScriptRun, StartOptions } from '../../runtime/sandbox/index.ts';
import type { Sandbox } from '../../runtime/sandbox/sandbox.ts';

/** What a test says about a script; the rest is filled in. */
export type ScriptOptions = Partial<StartOptions> & { readonly source: string };

let versions = 0;

/** Starts a script of a version of its own, a block in JavaScript unless told otherwise. */
export function startScript(sandbox: Sandbox, options: ScriptOptions): ScriptRun {
  return sandbox.start({
    version: `v${++versions}`,
    format: 'js',
    kind: 'block',
    file: 'test.js',
    commands: ['sleep', 'call.play', 'call.collect', 'fails', 'echo'],
    onCommand: carryOut,
    ...options,
  });
}

/** Commands every test script may use: `echo` answers its arguments, `fails` fails. */
export async function carryOut(name: string, args: readonly Json[], signal: AbortSignal): Promise<unknown> {
  if (name === 'sleep') return sleep(Number(args[0] ?? 0), signal);
  if (name === 'fails') throw Object.assign(new Error('as asked'), { code: 'asked' });
  return args;
}

function sleep(milliseconds: number, signal: AbortSignal): Promise<null> {
  const { promise, resolve, reject } = Promise.withResolvers<null>();
  const timer = setTimeout(() => resolve(null), milliseconds);
  signal.addEventListener('abort', () => {
    clearTimeout(timer);
    reject(signal.reason as Error);
  });
  return promise;
}

/** The error a run ends with. */
export async function errorOf(run: ScriptRun): Promise<Error & { code?: string; limit?: string }> {
  try {
    await run.finished;
  } catch (error) {
    return error as Error;
  }
  throw new Error('the script ended without an error');
}
