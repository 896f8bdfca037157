import type { EslConnection } from '../esl/connection.ts';
import type { EslEvent, EventHeaders } from '../esl/event.ts';

/** Carries events from where they happen to the event socket connections that want them. */
export class EventBus {
  readonly #listeners = new Set<EslConnection>();

  add(connection: EslConnection): void {
    this.#listeners.add(connection);
  }

  remove(connection: EslConnection): void {
    this.#listeners.delete(connection);
  }

  get listeners(): number {
    return this.#listeners.size;
  }

  /**
   * Publishes an event. The headers are only built when somebody subscribes to the name, and the frame of each format
   * only once.
   */
  publish(name: string, build: () => EventHeaders, subclass?: string, body?: string): void {
    let event: EslEvent | undefined;
    let frames: Map<string, string> | undefined;
    for (const listener of this.#listeners) {
      if (!listener.subscription.wantsName(name, subclass)) continue;
      event ??= { name, subclass, headers: build(), body };
      frames ??= new Map();
      listener.event(event, frames);
    }
  }
}
