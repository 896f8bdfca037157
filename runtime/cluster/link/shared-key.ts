/** A secret that all nodes share, made by the first of them. */
import { randomBytes } from 'node:crypto';
import type { Log } from '../log.ts';
import { Bucket } from './buckets.ts';
import type { NatsLink } from './nats-link.ts';

const BUCKET = { name: 'ringmaster_keys' } as const;

/** Signs what one node makes and another one checks. Until NATS answers, the node has a key of its own. */
export class SharedKey {
  readonly #bucket: Bucket;
  #key: Uint8Array = randomBytes(32);
  #isShared = false;

  constructor(link: NatsLink, name: string, log: Log) {
    this.#bucket = new Bucket(
      link,
      BUCKET,
      {
        entry: (key, value) => {
          if (key !== name || value === undefined || value.length < 32) return;
          this.#key = value;
          this.#isShared = true;
        },
        complete: (kv) => {
          // Another node may be first: its key then comes as an entry.
          if (!this.#isShared) kv.create(name, this.#key).catch(() => undefined);
          this.#isShared = false;
        },
      },
      log,
    );
  }

  get current(): Uint8Array {
    return this.#key;
  }

  close(): void {
    this.#bucket.close();
  }
}
