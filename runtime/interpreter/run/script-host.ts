import type { ScriptHost } from '../../sandbox/index.ts';
import { busy, scriptTime } from '../clock.ts';
import { scriptLimits } from '../limits.ts';
import { unavailable } from '../ports/capability.ts';
import type { BlockSite } from './block-context.ts';
import type { RunState } from './run-state.ts';

/** A script of a block computes; it gives no commands. */
const NONE: readonly string[] = [];

/** What `script` blocks of this run use: see `ScriptHost`. */
export function scriptHost(state: RunState, { trace, scriptLine }: BlockSite): ScriptHost {
  const { services, program, clock, allowed, secrets } = state;
  const { sandbox } = services;
  if (!sandbox) throw unavailable('this node runs no scripts');
  return {
    run: ({ source, format, vars, wallMs, signal }) => {
      const run = sandbox.start({
        source,
        format,
        kind: 'block',
        file: state.scriptUrl,
        line: scriptLine,
        debug: state.debug,
        onUndebugged: () => state.undebugged(),
        title: `${program.id}, run ${state.id}`,
        version: program.version,
        vars,
        commands: NONE,
        secrets: secrets.placeholders,
        limits: { ...scriptLimits(allowed), ...(wallMs === undefined ? {} : { wallMs }) },
        onCommand: async (name) => {
          throw unavailable(`a script block has no ${name}`);
        },
        onLog: (level, text) => trace.logged(`${level}: ${text}`),
        ...scriptTime(clock),
        signal,
      });
      return busy(
        clock,
        run.finished.finally(() => trace.used(run.usage())),
      );
    },
  };
}
