import type { LogLevel } from '../../sandbox/index.ts';
import type { CallPort } from '../call-port.ts';
import type { Component, ComponentContext } from '../component.ts';
import { ScenarioError } from '../errors.ts';
import { RECORDING } from '../ports/recording.ts';
import { isSoundProblem, resolveSound } from '../prompts.ts';
import type { PlaySource } from '../call-port.ts';
import type { Value } from '../values.ts';
import type { RunState } from './run-state.ts';
import { scriptHost } from './script-host.ts';
import type { BlockTrace } from './trace.ts';

/** The block for which a component runs. */
export interface BlockSite {
  readonly component: Component;
  /** Name of the call it is for; undefined: the run's own. */
  readonly leg: string | undefined;
  /** Line of the file at which its script begins. */
  readonly scriptLine?: number | undefined;
  readonly exits: ReadonlySet<string>;
  readonly trace: BlockTrace;
  readonly signal: AbortSignal;
  readonly memory: Map<string, Value>;
  readonly result: (fields: Readonly<Record<string, Value>>) => void;
  /** To be called when the block is done. */
  readonly claims: (() => void)[];
}

/** What a component may use: see `ComponentContext`. */
export function blockContext(state: RunState, site: BlockSite): ComponentContext {
  const { trace, signal } = site;
  let call: CallPort | undefined;
  return {
    get call(): CallPort {
      call ??= callOf(state, site);
      return call;
    },
    leg: (name) => state.legs.get(name),
    get caller() {
      return state.call?.opponent;
    },
    claimEnd: (claim) => void site.claims.push(state.claimEnd(claim)),
    get script() {
      return scriptHost(state, site);
    },
    signal,
    clock: state.clock,
    log: state.log,
    exits: site.exits,
    scenario: state.program.id,
    run: state.id,
    domain: state.domain,
    services: state.services,
    memory: site.memory,
    mailbox: state.mailbox,
    result: site.result,
    children: {
      get: (id) => state.children.get(id),
      find: (scenario) => state.children.find(scenario),
      start: async (options) => {
        const own = site.leg === undefined || options.parallel ? {} : { call: state.legs.get(site.leg) };
        const run = await state.children.start({ ...own, ...options });
        trace.started(run.id);
        return run;
      },
    },
    reveal: state.secrets.reveal,
    sound: (text) => sound(state, text),
    report: (report) => state.report(report),
    answered: (party, answer) => trace.answered(state.clock.now(), party, answer),
    note: (level, text) => note(state, trace, level, text),
  };
}

/** @throws ScenarioError codes `no_call`, `no_such_leg`, and those of `Legs.place` */
function callOf(state: RunState, { component, leg }: BlockSite): CallPort {
  if (leg !== undefined) return component.placesCall === true ? state.legs.place(leg) : state.legs.get(leg);
  if (!state.call) throw new ScenarioError('no_call', `${component.name} needs a call, and this run has none`);
  return state.call;
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

function note(state: RunState, trace: BlockTrace, level: LogLevel, text: string): void {
  const { id, program, log } = state;
  if (!state.countLogLine()) return;
  trace.logged(`${level}: ${text}`);
  log[level]({ run: id, scenario: program.id, text }, 'scenario says');
}
