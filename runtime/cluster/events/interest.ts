/** Which domains somebody in the cluster follows. Events of other domains are sent to nobody. */
import { setTimeout as delay } from 'node:timers/promises';
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import { ClusterAwayError, NodeGoneError } from '../errors.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';
import type { Nodes } from '../nodes.ts';

/** Asks a node to send the events of a domain from now on. */
const FOLLOW = 'events.follow';
/** For how long a domain counts as followed after its last sign: longer than a subscription to it can be resumed. */
const GRACE_MS = 660_000;
const RENEW_MS = 30_000;
/**
 * Milliseconds after which a node knows what the others follow: it has read the bucket, and the others know of it and ask it. Until then
 * it sends everything.
 */
const SETTLE_MS = 3000;
const RETRY_MS = 100;
/** Milliseconds for a node to answer. */
const ANSWER_MS = 2000;
const BUCKET = { name: 'ringmaster_followed', ttlMs: GRACE_MS } as const;

/** A domain that this node follows. */
export interface Held {
  /** Resolves when every node sends the events of the domain, or after `release`. */
  readonly confirmed: Promise<void>;
  release(): void;
}

interface Hold {
  count: number;
  readonly over: AbortController;
  readonly confirmed: Promise<void>;
}

type Others = Pick<Nodes, 'serve' | 'ask' | 'askAll' | 'isConnected' | 'onJoined'>;

/**
 * A node that begins to follow a domain asks all others, so that no event of theirs is missing once they have answered, and each node
 * that comes later. The entry in the bucket is for the time after the death of the node; nobody waits for it, as it may take NATS
 * many seconds to choose who stores it.
 */
export class Interest {
  readonly #nodes: Others;
  readonly #bucket: Bucket;
  readonly #log: Log;
  /** When each domain no longer counts as followed, by the clock of this process. */
  readonly #followed = new Map<DomainName, number>();
  readonly #holds = new Map<DomainName, Hold>();
  readonly #timer: NodeJS.Timeout;
  /** When the bucket was read, and when this node joined the others. */
  #readAt: number | undefined;
  #joinedAt: number | undefined;

  constructor(link: NatsLink, nodes: Others, log: Log) {
    this.#nodes = nodes;
    this.#log = log;
    this.#bucket = new Bucket(
      link,
      BUCKET,
      {
        entry: (key, value) => {
          if (value !== undefined) this.#heard(asDomainName(Buffer.from(key, 'base64url').toString()));
        },
        complete: () => {
          this.#readAt = performance.now();
          this.#renew();
        },
      },
      log,
    );
    link.onDown(() => {
      this.#readAt = undefined;
    });
    nodes.serve(FOLLOW, (asked) => {
      this.#heard(asDomainName((asked as { readonly domain: string }).domain));
    });
    nodes.onJoined((id) => {
      for (const [domain, { over }] of this.#holds)
        void this.#persist(domain, over.signal, async () => {
          await nodes.ask(id, FOLLOW, { domain }, ANSWER_MS);
        });
    });
    this.#timer = setInterval(() => this.#renew(), RENEW_MS).unref();
  }

  /** The others are told of this node from now on. */
  joined(): void {
    this.#joinedAt ??= performance.now();
  }

  /** Whether the others can be asked for the events of a domain. True before this node joins them, when nobody follows a domain. */
  get canFollow(): boolean {
    return this.#joinedAt === undefined || this.#nodes.isConnected;
  }

  /** Whether events of the domain have to be sent. */
  wants(domain: DomainName): boolean {
    const until = this.#followed.get(domain);
    if (until !== undefined && performance.now() < until) return true;
    if (until !== undefined) this.#followed.delete(domain);
    return !this.#isSettled;
  }

  /** Lets the others send the events of the domain until `release`, and for the time of grace. */
  hold(domain: DomainName): Held {
    const hold = this.#holds.get(domain) ?? this.#begin(domain);
    hold.count += 1;
    let isHeld = true;
    return {
      confirmed: hold.confirmed,
      release: () => {
        if (!isHeld) return;
        isHeld = false;
        hold.count -= 1;
        if (hold.count > 0) return;
        this.#holds.delete(domain);
        hold.over.abort();
      },
    };
  }

  close(): void {
    clearInterval(this.#timer);
    for (const { over } of this.#holds.values()) over.abort();
    this.#bucket.close();
  }

  get #isSettled(): boolean {
    const [read, joined] = [this.#readAt, this.#joinedAt];
    return read !== undefined && joined !== undefined && performance.now() > Math.max(read, joined) + SETTLE_MS;
  }

  #heard(domain: DomainName): void {
    this.#followed.set(domain, performance.now() + GRACE_MS);
  }

  #begin(domain: DomainName): Hold {
    this.#heard(domain);
    const over = new AbortController();
    const hold = { count: 0, over, confirmed: this.#confirm(domain, over.signal) };
    this.#holds.set(domain, hold);
    return hold;
  }

  async #confirm(domain: DomainName, over: AbortSignal): Promise<void> {
    void this.#persist(domain, over, () => this.#put(domain));
    await this.#persist(domain, over, async () => {
      await this.#nodes.askAll(FOLLOW, { domain });
    });
  }

  /** Does it until it succeeds, or nobody needs it any more. */
  async #persist(domain: DomainName, over: AbortSignal, work: () => Promise<void>): Promise<void> {
    while (!over.aborted) {
      try {
        return await work();
      } catch (err) {
        if (err instanceof NodeGoneError) return;
        this.#log.debug({ err, domain }, 'not every node knows yet that the events of the domain are followed');
      }
      await delay(RETRY_MS, undefined, { signal: over, ref: false }).catch(() => undefined);
    }
  }

  /** @throws while NATS does not store it */
  async #put(domain: DomainName): Promise<void> {
    const { kv } = this.#bucket;
    if (kv === undefined) throw new ClusterAwayError();
    await kv.put(Buffer.from(domain).toString('base64url'), '');
  }

  #renew(): void {
    for (const domain of this.#holds.keys()) {
      this.#heard(domain);
      this.#put(domain).catch((err: unknown) => this.#log.debug({ err, domain }, 'a followed domain was not renewed'));
    }
  }
}
