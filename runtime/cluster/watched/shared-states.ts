/** States of other nodes that this node watches, such as the calls of a sipuser with a busy lamp. */
import { setTimeout as delay } from 'node:timers/promises';
import { NodeFailedError } from '../errors.ts';
import { isThere, type OwnStates, type StatesPlace, type Told } from './states.ts';
import { Watchers } from './watchers.ts';

const BEGIN = 'states.begin';
const ANSWER_MS = 2000;
const RETRY_MS = 500;
/** Milliseconds in which what begins to be watched goes into one request, such as the lamps of a key module. */
const GATHER_MS = 5;
/** The longest wait for the states of other nodes: a node that does not answer holds up no phone. */
const PATIENCE_MS = 1000;
/** Topics of one request. */
const MANY = 2000;

interface Watched {
  count: number;
  /** Resolves when the other nodes have told their states, or take too long. */
  readonly known: Promise<void>;
  /** By process. */
  readonly states: Map<string, { readonly at: number; readonly state: unknown }>;
}

/**
 * A node asks all others once for the states of what it watches, and they tell it the changes. It asks again when a node
 * joins, and when NATS is back. What a dead node told is dropped when its calls are taken care of: then those that go on are told by the
 * node that adopted them. Nothing is sent for what nobody watches.
 */
export class SharedStates {
  readonly #own: OwnStates;
  readonly #place: StatesPlace;
  readonly #watchers: Watchers;
  readonly #watched = new Map<string, Watched>();
  #gathered: { readonly topics: Set<string>; readonly asked: Promise<void> } | undefined;

  constructor(own: OwnStates, place: StatesPlace) {
    const { link, members, nodes, settlements } = place;
    this.#own = own;
    this.#place = place;
    this.#watchers = new Watchers(own, place, (told) => this.#heard(told));
    nodes.serve(BEGIN, (asked) => {
      const { node, topics } = asked as { readonly node: string; readonly topics: readonly string[] };
      return this.#watchers.begin(node, topics);
    });
    members.listen({ joined: ({ id }) => void this.#ask(id, [...this.#watched.keys()]) });
    settlements.listen({ settled: (id, by) => void this.#settled(id, by) });
    link.onUp(() => {
      for (const { id } of members.others) void this.#ask(id, [...this.#watched.keys()]);
    });
  }

  /**
   * Watches a topic until `unwatch`.
   * @returns resolves when the states of the other nodes are known; a node that does not answer has none
   */
  watch(topic: string): Promise<void> {
    const watched = this.#watched.get(topic) ?? { count: 0, known: this.#begin(topic), states: new Map() };
    watched.count += 1;
    this.#watched.set(topic, watched);
    return watched.known;
  }

  /** Their next change of it is the last one that the others tell. */
  unwatch(topic: string): void {
    const watched = this.#watched.get(topic);
    if (watched === undefined) return;
    watched.count -= 1;
    if (watched.count === 0) this.#watched.delete(topic);
  }

  /** As of `watch`; undefined for what is not watched. */
  known(topic: string): Promise<void> | undefined {
    return this.#watched.get(topic)?.known;
  }

  /** The states of the other nodes. */
  of(topic: string): readonly unknown[] {
    return [...(this.#watched.get(topic)?.states.values() ?? [])].flatMap(({ state }) => state ?? []);
  }

  /** The state of this node has changed. */
  changed(topic: string): void {
    this.#watchers.changed(topic);
  }

  async #begin(topic: string): Promise<void> {
    if (this.#gathered === undefined) {
      const topics = new Set<string>();
      const asked = delay(GATHER_MS).then(async () => {
        this.#gathered = undefined;
        const answers = Promise.all(this.#place.members.others.map(({ id }) => this.#ask(id, [...topics])));
        await Promise.race([answers, delay(PATIENCE_MS, undefined, { ref: false })]);
      });
      this.#gathered = { topics, asked };
    }
    this.#gathered.topics.add(topic);
    await this.#gathered.asked;
  }

  async #ask(id: string, topics: readonly string[]): Promise<void> {
    const { nodes, id: node } = this.#place;
    for (let at = 0; at < topics.length; ) {
      const asked = topics.slice(at, at + MANY);
      try {
        this.#heard((await nodes.ask(id, BEGIN, { node, topics: asked }, ANSWER_MS)) as Told);
        at += MANY;
      } catch (err) {
        this.#place.log.debug({ err }, 'the states of another node are not known yet');
        // A node that joins, or NATS that is back, is asked for all again.
        if (err instanceof NodeFailedError || !isThere(this.#place, id)) return;
        await delay(RETRY_MS, undefined, { ref: false });
      }
    }
  }

  /** @returns topics that this node does not watch any more */
  #heard({ node, at, topics, states }: Told): readonly string[] {
    if (!isThere(this.#place, node)) return [];
    const over: string[] = [];
    for (const topic of topics) {
      const watched = this.#watched.get(topic);
      if (watched === undefined) {
        over.push(topic);
        continue;
      }
      const before = watched.states.get(node);
      if (before !== undefined && before.at >= at) continue;
      watched.states.set(node, { at, state: states[topic] });
      if (before?.state !== undefined || states[topic] !== undefined) this.#own.changed(topic);
    }
    return over;
  }

  async #settled(id: string, by: string | undefined): Promise<void> {
    if (by !== undefined && by !== this.#place.id) await this.#ask(by, [...this.#watched.keys()]);
    this.#drop(id);
  }

  #drop(id: string): void {
    for (const [topic, { states }] of this.#watched) {
      const before = states.get(id);
      if (states.delete(id) && before?.state !== undefined) this.#own.changed(topic);
    }
  }
}
