/** Domains whose events on demand are wanted at some node. */
import { asDomainName, type DomainName } from '../../domain-name/index.ts';
import { Broadcast } from '../link/broadcast.ts';
import type { NatsLink } from '../link/nats-link.ts';

/** Milliseconds between two messages of a node that wants something. */
const REPEAT_MS = 10_000;
/** For so long the last message of a node holds: subscribers of a dead one may resume at another within a minute. */
const VALID_MS = 75_000;

interface Told {
  /** Of the process. */
  readonly node: string;
  readonly domains: readonly string[];
}

interface Heard {
  readonly at: number;
  readonly domains: ReadonlySet<DomainName>;
}

export class SharedDemand {
  readonly #others: Broadcast;
  readonly #id: string;
  readonly #changed: () => void;
  /** Wishes of this node, counted. */
  readonly #own = new Map<DomainName, number>();
  readonly #heard = new Map<string, Heard>();
  readonly #repeat: NodeJS.Timeout;

  /**
   * @param id of this process
   * @param changed called when {@link domains} may be others
   */
  constructor(link: NatsLink, id: string, changed: () => void) {
    this.#id = id;
    this.#changed = changed;
    this.#others = new Broadcast(link, id, 'event-demand', (message) => {
      const { node, domains } = message as Told;
      if (domains.length === 0) this.#heard.delete(node);
      else this.#heard.set(node, { at: performance.now(), domains: new Set(domains.map(asDomainName)) });
      changed();
    });
    link.onUp(() => this.#tell());
    this.#repeat = setInterval(() => {
      this.#tell();
      for (const [node, { at }] of this.#heard) if (performance.now() - at > VALID_MS) this.#heard.delete(node);
      changed();
    }, REPEAT_MS).unref();
  }

  /** A subscriber of this node wants them. @returns ends it */
  want(domain: DomainName): () => void {
    this.#count(domain, 1);
    return () => this.#count(domain, -1);
  }

  /** Those wanted at this node, or at another one. */
  get domains(): ReadonlySet<DomainName> {
    return new Set([...this.#own.keys(), ...[...this.#heard.values()].flatMap(({ domains }) => [...domains])]);
  }

  close(): void {
    clearInterval(this.#repeat);
  }

  #count(domain: DomainName, by: 1 | -1): void {
    const before = this.#own.get(domain) ?? 0;
    const now = before + by;
    if (now > 0) this.#own.set(domain, now);
    else this.#own.delete(domain);
    if (before > 0 && now > 0) return;
    this.#others.tell(this.#told);
    this.#changed();
  }

  #tell(): void {
    if (this.#own.size > 0) this.#others.tell(this.#told);
  }

  get #told(): Told {
    return { node: this.#id, domains: [...this.#own.keys()] };
  }
}
