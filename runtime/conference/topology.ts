/** Who hears whom in a conference. */
import type { TopologyEntry } from '../callstore/index.ts';

/** Makes `from` audible or inaudible to `to`; `*` is every participant at the time of execution. */
export type TopologyCommand = TopologyEntry;

/** A pair changed by a command. */
export interface HearingChange {
  readonly from: string;
  readonly to: string;
  readonly enabled: boolean;
}

/** All participants at the time of execution. */
export const ALL = '*';

/** An invalid command; nothing was changed. */
export class TopologyError extends Error {
  override readonly name = 'TopologyError';
  /** Position in the list of commands, e.g. `2.from`. */
  readonly field: string;
  readonly reason: string;
  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`);
    this.field = field;
    this.reason = reason;
  }
}

/**
 * Who hears whom in a conference: everybody hears everybody, except for the pairs parted by commands (specification,
 * "Topology"). Participants are known by id only.
 */
export class Topology {
  /** By speaker, the listeners who do not hear them. */
  #blocked = new Map<string, Set<string>>();

  /** True while no pair is parted. */
  get open(): boolean {
    return this.#blocked.size === 0;
  }

  hears(listener: string, speaker: string): boolean {
    return this.#blocked.get(speaker)?.has(listener) !== true;
  }

  /** The permanent first entry, then all parted pairs. */
  entries(): TopologyEntry[] {
    const parted = [...this.#blocked].flatMap(([from, listeners]) =>
      Array.from(listeners, (to) => ({ from, to, enabled: false })),
    );
    return [{ from: '', to: '', enabled: true }, ...parted];
  }

  /**
   * Executes commands in order, all or none.
   * @param everybody the participants for `*`
   * @param exists true for a participant's id
   * @returns the changed pairs, without duplicates
   * @throws TopologyError for an unknown participant, or a change of the first entry
   */
  apply(
    commands: readonly TopologyCommand[],
    everybody: readonly string[],
    exists: (id: string) => boolean,
  ): HearingChange[] {
    commands.forEach((command, index) => check(command, index, exists));
    const touched = new Map<string, { from: string; to: string; before: boolean }>();
    for (const { from, to, enabled } of withoutOverruled(commands)) {
      if (from === '') continue;
      for (const speaker of from === ALL ? everybody : [from]) {
        for (const listener of to === ALL ? everybody : [to]) {
          if (speaker === listener) continue;
          const key = `${speaker} ${listener}`;
          const before = this.hears(listener, speaker);
          if (!touched.has(key)) touched.set(key, { from: speaker, to: listener, before });
          this.#set(speaker, listener, enabled);
        }
      }
    }
    return [...touched.values()].flatMap(({ from, to, before }) => {
      const enabled = this.hears(to, from);
      return enabled === before ? [] : [{ from, to, enabled }];
    });
  }

  /** All parted pairs with this participant. */
  partedFrom(id: string): HearingChange[] {
    const unheardBy = Array.from(this.#blocked.get(id) ?? [], (to) => ({ from: id, to, enabled: false }));
    const doesNotHear = [...this.#blocked].flatMap(([from, listeners]) =>
      listeners.has(id) ? [{ from, to: id, enabled: false }] : [],
    );
    return [...unheardBy, ...doesNotHear];
  }

  /** A participant left: removes its pairs. */
  forget(id: string): void {
    this.#blocked.delete(id);
    for (const [speaker, listeners] of this.#blocked) {
      listeners.delete(id);
      if (listeners.size === 0) this.#blocked.delete(speaker);
    }
  }

  #set(speaker: string, listener: string, enabled: boolean): void {
    const listeners = this.#blocked.get(speaker);
    if (!enabled) {
      if (listeners === undefined) this.#blocked.set(speaker, new Set([listener]));
      else listeners.add(listener);
      return;
    }
    listeners?.delete(listener);
    if (listeners?.size === 0) this.#blocked.delete(speaker);
  }
}

/**
 * The commands that no later one for the same pair overrides, in order. The result is the same, but the work is
 * bounded: thousands of commands for `*` would block the node.
 */
function withoutOverruled(commands: readonly TopologyCommand[]): Iterable<TopologyCommand> {
  const last = new Map<string, TopologyCommand>();
  for (const command of commands) {
    const key = `${command.from} ${command.to}`;
    last.delete(key);
    last.set(key, command);
  }
  return last.values();
}

function check({ from, to, enabled }: TopologyCommand, index: number, exists: (id: string) => boolean): void {
  if (from === '' && to === '') {
    if (!enabled) throw new TopologyError(`${index}.enabled`, 'the first entry cannot be changed');
    return;
  }
  for (const [field, id] of [
    ['from', from],
    ['to', to],
  ] as const) {
    if (id !== ALL && !exists(id)) throw new TopologyError(`${index}.${field}`, 'is not a participant');
  }
  if (from === to && from !== ALL) throw new TopologyError(`${index}.to`, 'is the speaker');
}
