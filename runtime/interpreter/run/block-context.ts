import type { LogLevel } from '../../sandbox/index.ts';
import type { CallPort } from '../call-port.ts';
import type { ComponentContext } from '../component.ts';
import { ScenarioError } from '../errors.ts';
import { isSoundProblem, resolveSound } from '../prompts.ts';
import type { PlaySource } from '../call-port.ts';
import type { Value } from '../values.ts';
import type { RunState } from './run-state.ts';
import { scriptHost } from './script-host.ts';
import type { BlockTrace } from './trace.ts';

const RECORDING = 'recording:';

/** The block for which a component runs. */
export interface BlockSite {
  readonly component: string;
  readonly exits: ReadonlySet<string>;
  readonly trace: BlockTrace;
  readonly signal: AbortSignal;
  readonly memory: Map<string, Value>;
  readonly result: (fields: Readonly<Record<string, Value>>) => void;
}

/** What a component may use: see `ComponentContext`. */
export function blockContext(state: RunState, site: BlockSite): ComponentContext {
  const { trace, signal } = site;
  return {
    get call(): CallPort {
      if (!state.call) throw new ScenarioError('no_call', `${site.component} needs a call, and this run has none`);
      return state.call;
    },
    get script() {
      return scriptHost(state, site);
    },
    signal,
    clock: state.clock,
    log: state.log,
    exits: site.exits,
    run: state.id,
    domain: state.domain,
    services: state.services,
    memory: site.memory,
    mailbox: state.mailbox,
    result: site.result,
    children: {
      get: (id) => state.children.get(id),
      start: async (options) => {
        const run = await state.children.start(options);
        trace.started(run.id);
        return run;
      },
    },
    sound: (text) => sound(state, text),
    report: (report) => state.report(report),
    answered: (party, answer) => trace.answered(state.clock.now(), party, answer),
    note: (level, text) => note(state, trace, level, text),
  };
}

function sound({ program, services, domain }: RunState, text: string): PlaySource {
  if (text.startsWith(RECORDING)) {
    const name = text.slice(RECORDING.length);
    const file = services.recordings?.find(domain, name);
    if (file === undefined) throw new ScenarioError('no_such_recording', `there is no recording "${name}"`);
    return { file };
  }
  const found = resolveSound(text, program.promptsFolder);
  if (isSoundProblem(found)) throw new ScenarioError('no_such_prompt', found.message);
  return found;
}

function note({ id, program, log }: RunState, trace: BlockTrace, level: LogLevel, text: string): void {
  trace.logged(`${level}: ${text}`);
  log[level]({ run: id, scenario: program.id, text }, 'scenario says');
}
