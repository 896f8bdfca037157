/** Brings a waiting caller to an agent. */
import {
  type ComponentContext,
  type ComponentResult,
  type OwnCall,
  ownCallTo,
  type PreAnswer,
} from '../../runtime/runs/index.ts';
import { parseDuration, type Value } from '../../runtime/language/index.ts';
import { answerOf, follow } from '../answers.ts';
import type { Line } from './line.ts';

/** Name of the agent's call in the scenario. */
export const AGENT_LEG = 'agent';
/** How long an agent who did not take a call is passed over. */
const PASSED_OVER_MS = 30_000;

export interface AgentQueue {
  /** Its name. */
  readonly queue: string;
  readonly priority: number;
  readonly skills: readonly string[];
  /** Undefined: those that serve the queue by their settings. */
  readonly agents: readonly string[] | undefined;
  readonly ring: string;
  readonly wrapUp: string;
  readonly sounds: string | readonly string[];
  /** Milliseconds until the block leaves for an announcement, or because the longest wait is over. */
  readonly waitMs: number;
  readonly preAnswer: { readonly preAnswer?: PreAnswer };
}

/**
 * Waits for an agent with music, rings the agent, and lets the two talk.
 * @returns the exit `served` after the conversation; undefined when the time to wait is over
 */
export async function serveByAgent(
  context: ComponentContext,
  line: Line,
  queue: AgentQueue,
): Promise<ComponentResult | undefined> {
  const { services, domain, run, signal, clock } = context;
  const { agents: desk } = services;
  const deadline = clock.now() + queue.waitMs;
  const music = new Music(context, queue.sounds);
  try {
    for (;;) {
      const agent = await nextAgent(context, line, { queue, deadline, until: music.until });
      if (agent === undefined) return undefined;
      let pauseMs = PASSED_OVER_MS;
      try {
        const leg = await ringAgent(context, queue, agent);
        if (leg === undefined) continue;
        pauseMs = parseDuration(queue.wrapUp) ?? 0;
        await music.stop();
        return await talk(context, line, { queue, agent, leg });
      } finally {
        // An interrupt of the caller is no fault of the agent.
        desk.release(domain, agent, run, signal.aborted && pauseMs === PASSED_OVER_MS ? 0 : pauseMs);
      }
    }
  } finally {
    await music.stop();
  }
}

/** The music, which a failure ends together with the wait. */
class Music {
  readonly until: AbortSignal;
  readonly #stop = new AbortController();
  readonly #playing: Promise<unknown>;

  constructor({ call, signal, sounds: find }: ComponentContext, sounds: string | readonly string[]) {
    const failed = new AbortController();
    this.until = AbortSignal.any([signal, failed.signal]);
    const until = AbortSignal.any([signal, this.#stop.signal]);
    this.#playing = find(sounds)
      .then((found) => call.play(found, { signal: until, repeat: Infinity }))
      .catch((error: unknown) => failed.abort(error));
  }

  /** Settles when the caller's media is free. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#playing;
  }
}

async function nextAgent(
  { services: { agents: desk }, domain, run, clock }: ComponentContext,
  line: Line,
  { queue, deadline, until }: { readonly queue: AgentQueue; readonly deadline: number; readonly until: AbortSignal },
): Promise<string | undefined> {
  until.throwIfAborted();
  const { queue: name, priority, skills, agents } = queue;
  const found = Promise.withResolvers<string | undefined>();
  const done = new AbortController();
  const abort = (): void => found.reject(until.reason);
  until.addEventListener('abort', abort, { once: true });
  const stop = desk.seek(domain, {
    run,
    queue: name,
    priority,
    since: line.since,
    skills,
    agents,
    offered: (number) => {
      // The wait may have ended at the same moment.
      if (until.aborted || done.signal.aborted) desk.release(domain, number, run, 0);
      else {
        done.abort();
        found.resolve(number);
      }
    },
  });
  const timer =
    deadline === Infinity
      ? undefined
      : clock.sleep(Math.max(0, deadline - clock.now()), AbortSignal.any([until, done.signal])).then(
          () => {
            done.abort();
            found.resolve(undefined);
          },
          () => undefined,
        );
  try {
    return await found.promise;
  } finally {
    stop();
    done.abort();
    until.removeEventListener('abort', abort);
    await timer;
  }
}

/** @returns the agent's call; undefined when the agent does not take it */
async function ringAgent(
  context: ComponentContext,
  { ring, preAnswer }: AgentQueue,
  agent: string,
): Promise<OwnCall | undefined> {
  const { caller, signal, log } = context;
  signal.throwIfAborted();
  const leg = context.placeLeg(AGENT_LEG);
  const outgoing = leg.dial({
    to: agent,
    mode: 'number',
    callerNumber: caller?.number ?? '',
    callerName: caller?.name ?? '',
    timeoutMs: parseDuration(ring) ?? 0,
    useIntercom: false,
    ...preAnswer,
  });
  follow(context, outgoing, agent, undefined);
  const answer = await answerOf(outgoing.final, { call: leg, signal, log });
  signal.throwIfAborted();
  return answer.status < 300 ? leg : undefined;
}

async function talk(
  context: ComponentContext,
  line: Line,
  { queue, agent, leg }: { readonly queue: AgentQueue; readonly agent: string; readonly leg: OwnCall },
): Promise<ComponentResult> {
  const { call, clock, domain, run, services, signal, result } = context;
  const waited = clock.now() - line.since;
  line.leave();
  const begun = clock.now();
  services.agents.talks(domain, agent, run, () => {
    const { dialogid, opponentSide: side } = leg;
    const over = dialogid === undefined || side === undefined || leg.state !== 'connected';
    return over ? undefined : { dialogid, side, ended: leg.endSignal };
  });
  const fields = (): Record<string, Value> => ({
    position: 0,
    length: line.length(),
    milliseconds: waited,
    expected: 0,
    agent,
    dialogid: leg.dialogid ?? '',
    talked: clock.now() - begun,
  });
  result(fields());
  context.undisturbed(true);
  try {
    await ownCallTo(call, 'be connected with an agent').bridge(leg, signal);
    return { exit: 'served', fields: fields() };
  } finally {
    context.undisturbed(false);
    result(fields());
    services.queues.served(domain, queue.queue, clock.now() - begun + (parseDuration(queue.wrapUp) ?? 0));
    if (leg.state === 'connected') await leg.hangup();
  }
}
