/** Runs the scripts of blocks. */
import { movedPlaces, ScriptError, type ScriptHost } from '../../sandbox/index.ts';
import { busy, scriptTime } from '../clock.ts';
import { scriptLimits, type ScriptPlaces } from '../../language/index.ts';
import { unavailable } from '../ports/capability.ts';
import type { BlockSite } from './block-context.ts';
import type { RunState } from './run-state.ts';

/** Commands are forbidden in script blocks, which only compute. */
const NONE: readonly string[] = [];

/** The host of `script` blocks of this run: see `ScriptHost`. */
export function scriptHost(state: RunState, { trace, script }: BlockSite): ScriptHost {
  const { services, program, clock, allowed, secrets } = state;
  const { sandbox } = services;
  if (!sandbox) throw unavailable('this node runs no scripts');
  return {
    run: ({ source, format, vars, wallMs, signal }) => {
      const goOn = state.debug ? state.holdTime() : undefined;
      const run = sandbox.start({
        source,
        format,
        kind: 'block',
        file: state.scriptUrl,
        line: script?.line,
        debug: state.debug,
        onUndebugged: () => {
          state.undebugged();
          goOn?.();
        },
        title: `${program.id}, run ${state.id}`,
        version: state.scriptVersion,
        owner: state.domain,
        vars,
        commands: NONE,
        secrets: secrets.placeholders,
        limits: { ...scriptLimits(allowed), ...(wallMs === undefined ? {} : { wallMs }) },
        onCommand: async (name) => {
          throw unavailable(`a script block has no ${name}`);
        },
        onLog: (level, text) => trace.logged(`${level}: ${script ? placed(text, script) : text}`),
        ...scriptTime(clock),
        signal,
      });
      return busy(
        clock,
        run.finished
          .finally(() => {
            goOn?.();
            trace.used(run.usage());
          })
          .catch((error: unknown) => {
            throw script && error instanceof ScriptError ? inFile(error, script) : error;
          }),
      );
    },
  };
}

/** Corrects places in a stack: V8 knows a script's first line, but not its indentation and style in YAML. */
function inFile({ code, message, scriptStack }: ScriptError, script: ScriptPlaces): ScriptError {
  const stack = movedPlaces(scriptStack, (line, column) => script.at(line - script.line + 1, column));
  return new ScriptError(code, message, stack);
}

/** The place at the end of the message about a promise without `await`. */
function placed(text: string, script: ScriptPlaces): string {
  const [, said, line, column] = /^(a rejected promise was not handled: [^]*\(.*):(\d+):(\d+)\)$/.exec(text) ?? [];
  if (said === undefined) return text;
  const place = script.at(Number(line) - script.line + 1, Number(column));
  return `${said}:${place.line}:${place.column})`;
}
