/** The webhooks of this node's domains, and the events that each of them gets. */
import { randomUUID } from 'node:crypto';
import type { LiveDirectory, WebhookRow } from '../domain/index.ts';
import type { DomainName } from '../domain-name/index.ts';
import { type EventBus, lastingSelectionOf, type NodeEvent, type Select, type Selected } from '../events/index.ts';
import type { NewDelivery } from './queue.ts';

/** The selection of a webhook. */
export function selectedBy({
  events,
  objects,
  classpath,
  exargs,
}: Pick<WebhookRow, 'events' | 'objects' | 'classpath' | 'exargs'>): Selected {
  return {
    events,
    ...(objects.length > 0 && { objects }),
    ...(classpath !== '' && { classpath }),
    exargs,
  };
}

/** The body of a delivery (Standard Webhooks 1.0, "Payload structure"). */
function bodyOf({ domain, class: name, type, ts, data }: Omit<NodeEvent, 'seq'>): string {
  return JSON.stringify({ type: `${name}.${type}`, timestamp: new Date(ts).toISOString(), domain, data });
}

/** A delivery of an event. Its id has no dot, which separates the parts of the signed text. */
export function deliveryOf(webhookId: string, event: Omit<NodeEvent, 'seq'>): NewDelivery {
  const { class: name, type, ts } = event;
  const id = `msg_${randomUUID().replaceAll('-', '')}`;
  return { id, webhookId, event: `${name}.${type}`, body: bodyOf(event), created: ts };
}

type Directory = Pick<LiveDirectory, 'collections' | 'domainById'>;

interface Subscriber {
  readonly id: string;
  readonly select: Select;
}

export interface SubscribedOptions {
  readonly directory: Directory;
  readonly events: EventBus;
  readonly deliver: (delivery: NewDelivery) => void;
  /**
   * A webhook was loaded, created, changed, removed or switched off.
   *
   * @param webhook undefined: it sends nothing
   */
  readonly changed: (id: string, webhook: WebhookRow | undefined, isLoaded: boolean) => void;
}

/** A domain without webhooks costs nothing: only the others are subscribed on the bus. */
export class SubscribedWebhooks {
  readonly #options: SubscribedOptions;
  readonly #webhooks = new Map<string, WebhookRow>();
  readonly #unsubscribe = new Map<DomainName, () => void>();
  readonly #stops: (() => void)[];

  private constructor(options: SubscribedOptions) {
    this.#options = options;
    const { webhooks, domains } = options.directory.collections;
    this.#stops = [
      webhooks.onChange(({ before, after }) => {
        this.#put((after ?? before)?.id ?? '', after, false);
        this.#subscribe();
      }),
      webhooks.onReset(() => this.#load()),
      domains.onChange(() => this.#subscribe()),
    ];
  }

  static async open(options: SubscribedOptions): Promise<SubscribedWebhooks> {
    const subscribed = new SubscribedWebhooks(options);
    await subscribed.#load();
    return subscribed;
  }

  /** An enabled webhook. */
  get(id: string): WebhookRow | undefined {
    return this.#webhooks.get(id);
  }

  ids(): readonly string[] {
    return [...this.#webhooks.keys()];
  }

  close(): void {
    for (const stop of [...this.#stops, ...this.#unsubscribe.values()]) stop();
    this.#unsubscribe.clear();
  }

  async #load(): Promise<void> {
    const rows = await this.#options.directory.collections.webhooks.list();
    const known = new Set(rows.map(({ id }) => id));
    for (const id of this.ids()) if (!known.has(id)) this.#put(id, undefined, true);
    for (const row of rows) this.#put(row.id, row, true);
    this.#subscribe();
  }

  #put(id: string, row: WebhookRow | undefined, isLoaded: boolean): void {
    const enabled = row?.enabled === true ? row : undefined;
    if (enabled === undefined) this.#webhooks.delete(id);
    else this.#webhooks.set(id, enabled);
    this.#options.changed(id, enabled, isLoaded);
  }

  #subscribe(): void {
    for (const stop of this.#unsubscribe.values()) stop();
    this.#unsubscribe.clear();
    const byDomain = new Map<DomainName, Subscriber[]>();
    for (const webhook of this.#webhooks.values()) {
      const domain = this.#options.directory.domainById(webhook.domain_id)?.name;
      if (domain === undefined) continue;
      const subscriber = { id: webhook.id, select: lastingSelectionOf(selectedBy(webhook)) };
      byDomain.set(domain, [...(byDomain.get(domain) ?? []), subscriber]);
    }
    for (const [domain, subscribers] of byDomain) {
      const listener = (event: NodeEvent): void => this.#happened(subscribers, event);
      this.#unsubscribe.set(domain, this.#options.events.subscribe({ domain }, listener));
    }
  }

  #happened(subscribers: readonly Subscriber[], event: NodeEvent): void {
    // The node that wrote it delivers it.
    if (event.elsewhere === true) return;
    for (const { id, select } of subscribers) {
      const selected = select(event);
      if (selected !== undefined) this.#options.deliver(deliveryOf(id, selected));
    }
  }
}
