/** Which member of a hunt group had the last call when, of all nodes. */
import { createHash } from 'node:crypto';
import { asDomainName } from '../../domain-name/index.ts';
import type { MemoryHuntHistory } from '../../runs/index.ts';
import { Broadcast } from '../link/broadcast.ts';
import { Bucket } from '../link/buckets.ts';
import type { NatsLink } from '../link/nats-link.ts';
import type { Log } from '../log.ts';

/** As long as a member is of interest: who had no call for a month comes first anyway. */
const BUCKET = { name: 'ringmaster_hunts', ttlMs: 30 * 86_400_000 } as const;

interface Call {
  readonly domain: string;
  readonly number: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Tells the last call of each member to all nodes, as the next call may come at once, and keeps it in a bucket, so that a node
 * knows those before its start, too.
 */
export class SharedHunts {
  readonly #bucket: Bucket;

  /** @param id of this process */
  constructor(link: NatsLink, id: string, history: MemoryHuntHistory, log: Log) {
    const others = new Broadcast(link, id, 'hunts', (message) => {
      const { domain, number, at } = message as Call;
      history.hear(asDomainName(domain), number, at);
    });
    this.#bucket = new Bucket(
      link,
      BUCKET,
      {
        entry: (_key, value) => {
          const call = value === undefined ? undefined : parsed(value);
          if (call !== undefined) history.hear(asDomainName(call.domain), call.number, call.at);
        },
      },
      log,
    );
    history.tell = (domain, number, at) => {
      const key = createHash('sha256').update(`${domain} ${number}`).digest('hex').slice(0, 32);
      const call: Call = { domain, number, at };
      others.tell(call);
      this.#bucket.kv
        ?.put(key, JSON.stringify(call))
        .catch((err: unknown) => log.debug({ err }, 'a call of a hunt group was not told'));
    };
  }

  close(): void {
    this.#bucket.close();
  }
}

/** Undefined for what is no call. */
function parsed(value: Uint8Array): Call | undefined {
  try {
    const call = JSON.parse(Buffer.from(value).toString('utf8')) as Partial<Call>;
    return typeof call.at === 'number' && typeof call.domain === 'string' ? (call as Call) : undefined;
  } catch {
    return undefined;
  }
}
