/** Webhooks of a node: events in, signed requests out. */
import type { LiveDirectory, WebhookRow } from '../domain/index.ts';
import { type DomainName, NO_DOMAIN } from '../domain-name/index.ts';
import type { EventBus } from '../events/index.ts';
import type { Storage } from '../storage/index.ts';
import { backOff, DAY_MS } from './back-off.ts';
import { type DeliveryRow, deliveriesOf } from './deliveries.ts';
import { Lanes } from './lanes.ts';
import { Outbox } from './outbox.ts';
import { DeliveryQueue, type NewDelivery } from './queue.ts';
import { type Attempt, send } from './send.ts';
import { signatureOf } from './signature.ts';
import { WebhookStates } from './states.ts';
import { deliveryOf, SubscribedWebhooks } from './subscribed.ts';
import type { Addresses } from './target.ts';

/** Milliseconds for an answer (Standard Webhooks 1.0, "Request timeouts"). */
const TIMEOUT_MS = 15_000;
/** Milliseconds between two clearings of old deliveries. */
const SWEEP_MS = 600_000;
/** Milliseconds between two log lines about the same trouble. */
const WARN_MS = 60_000;
/** Milliseconds that a webhook has failed without a break when a delivery of a day's attempts is given up. */
const FAILED_FOR_MS = DAY_MS - 3_600_000;
/** Milliseconds of failures after which a success ends an outage: what waits is sent at once. */
const OUTAGE_MS = 60_000;
const GONE = 410;

/** `retried`: an attempt failed, another follows. `dropped`: it never reached the queue. */
export type DeliveryResult = 'delivered' | 'retried' | 'failed' | 'dropped';

export interface WebhookLog {
  info(details: object, message: string): void;
  warn(details: object, message: string): void;
  error(details: object, message: string): void;
}

export interface WebhooksOptions {
  readonly storage: Storage;
  readonly directory: Pick<LiveDirectory, 'collections' | 'domainById'>;
  readonly events: EventBus;
  /** Which servers may be reached. */
  readonly addresses: Addresses;
  /** Counts results. */
  readonly observe: (result: DeliveryResult) => void;
  readonly log: WebhookLog;
}

export class Webhooks {
  /** All deliveries, for lists. */
  readonly deliveries: ReturnType<typeof deliveriesOf>;
  readonly #options: WebhooksOptions;
  readonly #queue: DeliveryQueue;
  readonly #states: WebhookStates;
  readonly #outbox: Outbox;
  readonly #lanes: Lanes;
  readonly #stop = new AbortController();
  #subscribed!: SubscribedWebhooks;
  #sweeper: NodeJS.Timeout | undefined;
  readonly #work = new Set<Promise<void>>();
  #warned = Number.NEGATIVE_INFINITY;

  private constructor(options: WebhooksOptions) {
    const { storage, observe } = options;
    this.#options = options;
    this.deliveries = deliveriesOf(storage);
    this.#queue = new DeliveryQueue(storage);
    this.#states = new WebhookStates(storage);
    this.#outbox = new Outbox(this.#queue, {
      queued: (ids) => ids.forEach((id) => this.#lanes.wake(id)),
      dropped: ({ webhookId, event }, reason) => {
        // A removed or disabled one gets no events anyway.
        if (this.#subscribed.get(webhookId) === undefined) return;
        observe('dropped');
        this.#warn({ webhook: webhookId, event, reason }, 'events for webhooks are dropped');
      },
      failed: (err) => this.#warn({ err }, 'deliveries of webhooks cannot be stored'),
    });
    this.#lanes = new Lanes({
      queue: this.#queue,
      attempt: (delivery) => this.#attempt(delivery),
      back: (id) => this.#goOn(id),
      failed: (err) => this.#warn({ err }, 'the queue of webhooks cannot be read or written'),
    });
  }

  /** Sends what is queued, and the events from now on. */
  static async open(options: WebhooksOptions): Promise<Webhooks> {
    const webhooks = new Webhooks(options);
    if (options.storage.notices.wasAlone) await webhooks.#queue.releaseAll();
    webhooks.#subscribed = await SubscribedWebhooks.open({
      directory: options.directory,
      events: options.events,
      deliver: (delivery) => webhooks.#outbox.add(delivery),
      changed: (id, webhook, isLoaded) => webhooks.#changed(id, webhook, isLoaded),
    });
    webhooks.#sweeper = setInterval(() => {
      webhooks.#track(webhooks.#sweep());
    }, SWEEP_MS).unref();
    return webhooks;
  }

  /** Live objects by kind. */
  counts(): { readonly webhook_deliveries: number } {
    return { webhook_deliveries: this.#lanes.running + this.#outbox.waiting };
  }

  /** Sends a test event once, also to a disabled webhook. Settles with its result. */
  async test(webhook: WebhookRow): Promise<DeliveryRow> {
    const delivery = testOf(webhook, this.#options.directory.domainById(webhook.domain_id)?.name);
    const claimed = await this.#queue.addClaimed(delivery);
    const attempt = await this.#send(webhook, claimed);
    const { status, error } = attempt;
    const result = error === '' ? 'delivered' : 'failed';
    this.#options.observe(result);
    const ended = { status: result, due: undefined, lastStatus: status, lastError: error } as const;
    return (await this.#queue.end(claimed, ended)) ?? claimed;
  }

  /** Sends a delivery once more, with another day of attempts. Undefined while it is being sent. */
  async redeliver({ id, webhook_id: webhookId }: DeliveryRow): Promise<DeliveryRow | undefined> {
    const again = await this.#queue.again(id);
    if (again !== undefined) this.#lanes.wake(webhookId);
    return again;
  }

  /** Stores the latest events; attempts in progress end and are repeated at the next start. */
  async close(): Promise<void> {
    this.#subscribed.close();
    clearInterval(this.#sweeper);
    await this.#outbox.close();
    this.#stop.abort();
    await this.#lanes.close();
    await Promise.allSettled(this.#work);
  }

  #changed(id: string, webhook: WebhookRow | undefined, isLoaded: boolean): void {
    if (webhook === undefined) this.#lanes.shut(id);
    else if (isLoaded) this.#lanes.open(id);
    else this.#track(this.#goOn(id));
  }

  /** Sends what waits: the webhook was changed, or its server is back. */
  async #goOn(id: string): Promise<void> {
    try {
      await this.#queue.hurry(id);
    } catch (err) {
      this.#warn({ err }, 'the queue of webhooks cannot be read or written');
    }
    if (this.#subscribed.get(id) !== undefined) this.#lanes.open(id);
  }

  #track(work: Promise<void>): void {
    this.#work.add(work);
    void work.finally(() => this.#work.delete(work));
  }

  /** @returns whether the server took it; undefined when the attempt does not count */
  async #attempt(delivery: DeliveryRow): Promise<boolean | undefined> {
    const webhook = this.#subscribed.get(delivery.webhook_id);
    // It was switched off after the claim.
    if (webhook === undefined) {
      await this.#queue.release(delivery);
      return undefined;
    }
    const attempt = await this.#send(webhook, delivery);
    if (this.#stop.signal.aborted && attempt.status === undefined) {
      await this.#queue.release(delivery);
      return undefined;
    }
    if (attempt.error === '') {
      await this.#queue.end(delivery, {
        status: 'delivered',
        due: undefined,
        lastStatus: attempt.status,
        lastError: '',
      });
      this.#options.observe('delivered');
      const failedMs = await this.#states.succeeded(webhook.id);
      // An earlier run, or another node, may have seen the failures.
      if (failedMs >= OUTAGE_MS) await this.#goOn(webhook.id);
      return true;
    }
    await this.#failed(webhook, delivery, attempt);
    return false;
  }

  async #failed(webhook: WebhookRow, delivery: DeliveryRow, attempt: Attempt): Promise<void> {
    const now = Date.now();
    const next = now + backOff(delivery.attempts, attempt.retryAfterMs);
    const isLast = next > delivery.expires;
    await this.#queue.end(delivery, {
      status: isLast ? 'failed' : 'waiting',
      due: isLast ? undefined : next,
      lastStatus: attempt.status,
      lastError: attempt.error,
    });
    this.#options.observe(isLast ? 'failed' : 'retried');
    const since = await this.#states.failed(webhook.id, attempt);
    const isDead = isLast && since !== undefined && now - since >= FAILED_FOR_MS;
    if (isDead || attempt.status === GONE) await this.#disable(webhook, attempt);
  }

  async #disable({ id, url }: WebhookRow, attempt: Attempt): Promise<void> {
    await this.#options.directory.collections.webhooks.update(id, { enabled: false });
    await this.#states.disabled(id, attempt);
    const { status, error } = attempt;
    this.#options.log.warn(
      { webhook: id, host: hostOf(url), status, error },
      'a webhook is disabled: its server fails',
    );
  }

  async #send({ url, secrets }: WebhookRow, { id, body }: DeliveryRow): Promise<Attempt> {
    const now = Date.now();
    const seconds = Math.floor(now / 1000);
    const valid = secrets.filter(({ until }) => until === null || until > now).map(({ secret }) => secret);
    const signal = AbortSignal.any([this.#stop.signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const headers = {
      'content-type': 'application/json',
      'user-agent': 'ringmaster-webhooks',
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': signatureOf({ id, seconds, body }, valid),
    };
    const attempt = await send({ url, headers, body, signal }, this.#options.addresses);
    const isLate = attempt.status === undefined && signal.aborted && !this.#stop.signal.aborted;
    return isLate ? { error: `no answer within ${TIMEOUT_MS / 1000} s` } : attempt;
  }

  async #sweep(): Promise<void> {
    try {
      const { webhooks } = this.#options.directory.collections;
      const all = await webhooks.list();
      const given = await this.#queue.sweep(all.map(({ id }) => id));
      for (let count = 0; count < given; count += 1) this.#options.observe('failed');
    } catch (err) {
      this.#warn({ err }, 'old deliveries of webhooks cannot be removed');
    }
  }

  /** At most a line a minute: a dead server or database is no reason for more. */
  #warn(details: object, message: string): void {
    const now = performance.now();
    if (now - this.#warned < WARN_MS) return;
    this.#warned = now;
    this.#options.log.warn(details, message);
  }
}

function testOf({ id, name }: WebhookRow, domain: DomainName = NO_DOMAIN): NewDelivery {
  return deliveryOf(id, {
    class: 'webhookevents',
    type: 'test',
    ts: Date.now(),
    domain,
    data: { webhook_id: id, name },
  });
}

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
