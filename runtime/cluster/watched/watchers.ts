/** The other nodes that watch states of this node, and what they are told. */
import { setTimeout as delay } from 'node:timers/promises';
import { NodeFailedError } from '../errors.ts';
import { isThere, type OwnStates, type StatesPlace, type Told } from './states.ts';

const TELL = 'states.tell';
const ANSWER_MS = 2000;
const RETRY_MS = 500;
/** Milliseconds in which changes of a topic are one. */
const GATHER_MS = 20;
/** Characters of the states of one message; NATS takes 1 MB. */
const LENGTH = 200_000;
/** Milliseconds until a node that is gone is forgotten: one that NATS has lost for a moment is told what it missed. */
const FORGET_MS = 60_000;

interface Watcher {
  /** With the number of the answer that it got when it began. */
  readonly topics: Map<string, number>;
  /** Changed since it was told. */
  readonly changed: Set<string>;
  isTelling: boolean;
}

export class Watchers {
  readonly #own: Pick<OwnStates, 'state'>;
  readonly #place: StatesPlace;
  /** By process. */
  readonly #byNode = new Map<string, Watcher>();
  #at = 0;

  /** @param hear takes what other nodes tell; returns topics that they need not tell any more */
  constructor(own: Pick<OwnStates, 'state'>, place: StatesPlace, hear: (told: Told) => readonly string[]) {
    this.#own = own;
    this.#place = place;
    place.nodes.serve(TELL, (told) => hear(told as Told));
    const goOn = (id: string): void => {
      const watcher = this.#byNode.get(id);
      if (watcher !== undefined) void this.#tell(id, watcher);
    };
    place.link.onUp(() => {
      for (const id of this.#byNode.keys()) goOn(id);
    });
    place.members.listen({
      joined: ({ id }) => goOn(id),
      gone: ({ id }) => {
        const forget = (): void => {
          if (place.members.goneSignal(id).aborted) this.#byNode.delete(id);
        };
        setTimeout(forget, FORGET_MS).unref();
      },
    });
  }

  /** Another node watches these from now on. */
  begin(node: string, topics: readonly string[]): Told {
    const watcher = this.#byNode.get(node) ?? {
      topics: new Map<string, number>(),
      changed: new Set<string>(),
      isTelling: false,
    };
    this.#byNode.set(node, watcher);
    const told = this.#told(topics, Number.POSITIVE_INFINITY);
    for (const topic of topics) watcher.topics.set(topic, told.at);
    return told;
  }

  changed(topic: string): void {
    for (const [id, watcher] of this.#byNode) {
      if (!watcher.topics.has(topic)) continue;
      watcher.changed.add(topic);
      void this.#tell(id, watcher);
    }
  }

  /** One message after the other, so that changes come in their order; each has what changed meanwhile. */
  async #tell(id: string, watcher: Watcher): Promise<void> {
    if (watcher.isTelling) return;
    watcher.isTelling = true;
    try {
      while (watcher.changed.size > 0 && isThere(this.#place, id)) {
        await delay(GATHER_MS, undefined, { ref: false });
        await this.#send(id, watcher);
      }
    } finally {
      watcher.isTelling = false;
    }
  }

  async #send(id: string, watcher: Watcher): Promise<void> {
    const told = this.#told(watcher.changed, LENGTH);
    for (const topic of told.topics) watcher.changed.delete(topic);
    try {
      const over = (await this.#place.nodes.ask(id, TELL, told, ANSWER_MS)) as readonly string[];
      // It may have begun anew meanwhile.
      for (const topic of over) if ((watcher.topics.get(topic) ?? 0) < told.at) watcher.topics.delete(topic);
    } catch (err) {
      this.#place.log.debug({ err }, 'another node was not told a state that it watches');
      // It failed at it, and would do so again.
      if (err instanceof NodeFailedError) return;
      for (const topic of told.topics) watcher.changed.add(topic);
      await delay(RETRY_MS, undefined, { ref: false });
    }
  }

  /** @param longest characters of states; further topics are left out */
  #told(wanted: Iterable<string>, longest: number): Told {
    const topics: string[] = [];
    const states: Record<string, unknown> = {};
    let length = 0;
    for (const topic of wanted) {
      if (length > longest) break;
      const state = this.#own.state(topic);
      topics.push(topic);
      if (state === undefined) continue;
      states[topic] = state;
      length += JSON.stringify(state).length;
    }
    this.#at += 1;
    return { node: this.#place.id, at: this.#at, topics, states };
  }
}
