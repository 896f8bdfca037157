import type { EslConnection } from '../esl/connection.ts';
import { type BuildHeaders, EventDraft, type EventHeaders } from '../esl/event.ts';

/** Delivers events to the event socket connections that subscribe to them. */
export class EventBus {
  readonly #listeners = new Set<EslConnection>();
  /**
   * Connections whose filters name channels, by Unique-ID: an event of a channel skips the connections of all others.
   */
  readonly #ofChannel = new Map<string, Set<EslConnection>>();
  /** Connections that may subscribe to events of any channel. */
  readonly #ofAny = new Set<EslConnection>();

  add(connection: EslConnection): void {
    this.#listeners.add(connection);
    this.#enter(connection, connection.subscription.channels);
    connection.subscription.onFilter = (before) => {
      this.#leave(connection, before);
      this.#enter(connection, connection.subscription.channels);
    };
  }

  remove(connection: EslConnection): void {
    if (!this.#listeners.delete(connection)) return;
    connection.subscription.onFilter = () => undefined;
    this.#leave(connection, connection.subscription.channels);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /** Number of channels named in filters. */
  get channels(): number {
    return this.#ofChannel.size;
  }

  /**
   * Publishes an event. The headers are built only when a connection subscribes to the name, and the frame of each
   * format only once.
   */
  publish(name: string, build: () => EventHeaders, subclass?: string, body?: string): void {
    this.#deliver([this.#listeners], name, build, subclass, body);
  }

  /** Publishes an event of a channel, whose Unique-ID header is `uuid`. */
  publishOf(uuid: string, name: string, build: BuildHeaders): void {
    const own = this.#ofChannel.get(uuid);
    this.#deliver(own === undefined ? [this.#ofAny] : [own, this.#ofAny], name, build);
  }

  #deliver(
    groups: readonly ReadonlySet<EslConnection>[],
    name: string,
    build: BuildHeaders,
    subclass?: string,
    body?: string,
  ): void {
    let draft: EventDraft | undefined;
    let frames: Map<string, string> | undefined;
    for (const group of groups) {
      for (const listener of group) {
        if (!listener.subscription.wantsName(name, subclass)) continue;
        draft ??= new EventDraft(name, subclass, body, build);
        frames ??= new Map();
        listener.event(draft, frames);
      }
    }
  }

  #enter(connection: EslConnection, channels: ReadonlySet<string> | undefined): void {
    if (channels === undefined) {
      this.#ofAny.add(connection);
      return;
    }
    for (const uuid of channels) {
      const known = this.#ofChannel.get(uuid);
      if (known === undefined) this.#ofChannel.set(uuid, new Set([connection]));
      else known.add(connection);
    }
  }

  #leave(connection: EslConnection, channels: ReadonlySet<string> | undefined): void {
    this.#ofAny.delete(connection);
    for (const uuid of channels ?? []) {
      const known = this.#ofChannel.get(uuid);
      known?.delete(connection);
      if (known?.size === 0) this.#ofChannel.delete(uuid);
    }
  }
}
