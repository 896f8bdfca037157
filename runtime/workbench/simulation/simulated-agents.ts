/** The agents of a simulation. */
import { AgentDesk, type AgentSettings } from '../../runs/index.ts';
import { parseDuration } from '../../language/index.ts';
import { SIMULATED_DOMAIN } from './call-script.ts';
import type { VirtualClock } from './virtual-clock.ts';

/** An agent at the start of a simulation. */
export interface SimulatedAgent extends AgentSettings {
  /** Milliseconds for which it still talks to an earlier caller. */
  readonly talksMs?: number;
}

/**
 * Parses an agent in an author's words: `ready`, `away`, `talks 30s`, `skills german french`, `queues support`, with commas
 * between several of them.
 * @returns the first invalid part, if any
 */
export function readAgent(text: string): SimulatedAgent | { readonly unknown: string } {
  let agent: SimulatedAgent = { state: 'ready', queues: [], skills: [] };
  for (const part of text.split(',').map((each) => each.trim())) {
    const [word = '', ...values] = part.split(/\s+/);
    const talksMs = word === 'talks' && values.length === 1 ? parseDuration(values[0] ?? '') : undefined;
    if ((word === 'ready' || word === 'away') && values.length === 0) agent = { ...agent, state: word };
    else if (talksMs !== undefined) agent = { ...agent, talksMs };
    else if (word === 'skills' && values.length > 0) agent = { ...agent, skills: values };
    else if (word === 'queues' && values.length > 0) agent = { ...agent, queues: values };
    else return { unknown: part };
  }
  return agent;
}

/** Agents in the domain of simulated calls. */
export function simulatedAgents(agents: Readonly<Record<string, SimulatedAgent>>, clock: VirtualClock): AgentDesk {
  const desk = new AgentDesk({ clock });
  for (const [number, { talksMs, ...settings }] of Object.entries(agents)) {
    desk.restore(SIMULATED_DOMAIN, number, { ...settings, state: 'ready' });
    if (talksMs !== undefined) talk(desk, number, talksMs, clock);
    desk.restore(SIMULATED_DOMAIN, number, settings);
  }
  return desk;
}

/** An earlier caller has the agent. */
function talk(desk: AgentDesk, number: string, milliseconds: number, clock: VirtualClock): void {
  const run = `before-${number}`;
  const over = new AbortController();
  const wish = { run, queue: 'earlier', priority: 9, since: 0, skills: [], agents: [number] };
  desk.seek(SIMULATED_DOMAIN, { ...wish, offered: () => undefined });
  desk.talks(SIMULATED_DOMAIN, number, run, () => ({ dialogid: `talk-${number}`, side: 'b', ended: over.signal }));
  void clock.sleep(milliseconds, new AbortController().signal).then(() => {
    desk.release(SIMULATED_DOMAIN, number, run, 0);
    over.abort();
  });
}
