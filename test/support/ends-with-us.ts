/** Programs that must not outlive a killed test run. */
import { existsSync } from 'node:fs';

/** Of util-linux. */
const SETPRIV = '/usr/bin/setpriv';

/**
 * The command that starts a program with a signal for the death of this process, also by SIGKILL. Without setpriv, which only
 * Linux has, it starts the program alone.
 * @param signal by which the program ends in order, with its own processes
 */
export function endsWithUs(
  program: string,
  args: readonly string[],
  signal: 'INT' | 'TERM',
): readonly [string, readonly string[]] {
  if (!existsSync(SETPRIV)) return [program, args];
  return [SETPRIV, ['--pdeathsig', signal, program, ...args]];
}
