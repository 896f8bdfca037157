/** Messages about the data model between the nodes of one database, over change notices. */
import type { Kysely } from 'kysely';
import type { NoticePayload, Schema, Storage } from '../storage/index.ts';
import type { OwnWrites } from './memory/own-writes.ts';
import type { SharedMessage } from './memory/shared-entities.ts';
import type { ModelChange } from './model.ts';

type Db = Kysely<Schema>;

const TOPIC = 'model';

/** A change of a table entity, for subscribers on other nodes. */
export interface PeerChange extends Omit<ModelChange, 'domain' | 'classname' | 'elsewhere'> {
  /** Id of the class. */
  readonly classId: string;
}

/** JSON of a notice. */
type Message =
  | { readonly kind: 'classes' }
  | { readonly kind: 'changes'; readonly changes: readonly PeerChange[] }
  | SharedMessage
  | { readonly kind: 'notify'; readonly classId: string; readonly suspended: boolean; readonly reload: boolean };

/** Reactions of a node to messages of other nodes. */
export interface ClusterFollower {
  classesChanged(): Promise<void>;
  entityChanged(change: PeerChange): void;
  /** @param elsewhere true for a write of another node */
  sharedChanged(message: SharedMessage, elsewhere?: true): void;
  notificationsChanged(classId: string, isSuspended: boolean, reload: boolean): void;
  /** Notices may have been lost: any state may have changed. */
  gap(): Promise<void>;
}

export class Cluster {
  readonly #storage: Storage;
  #waiting: PeerChange[] = [];
  #sending: Promise<void> | undefined;
  readonly #own: OwnWrites;
  readonly #stop: () => void;

  /** @param own writes of this node that wait for their own notices */
  constructor(storage: Storage, follower: ClusterFollower, own: OwnWrites) {
    this.#storage = storage;
    this.#own = own;
    this.#stop = storage.notices.subscribe(TOPIC, {
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- sent by #publish of another node
      notice: (payload) => follow(follower, payload as unknown as Message),
      own: (mark) => own.arrived(mark),
      gap: async () => {
        await follower.gap();
        own.release();
      },
    });
  }

  /** Reports created, changed or removed classes, with the commit of `tx`. */
  async classesChanged(tx: Db): Promise<void> {
    await this.#publish({ kind: 'classes' }, tx);
  }

  /** Reports written memory entities to all nodes with the commit of `tx`; this node receives its own with the mark. */
  async sharedChanged(message: SharedMessage, mark: number, tx: Db): Promise<void> {
    await this.#publish(message, tx, mark);
  }

  /** Reports changes soon and in order. Nobody waits for it: only events depend on it. */
  entityChanged(change: PeerChange): void {
    if (!this.#storage.notices.hasOthers) return;
    this.#waiting.push(change);
    this.#sending ??= this.#send();
  }

  notificationsChanged(classId: string, suspended: boolean, reload: boolean): void {
    this.#publish({ kind: 'notify', classId, suspended, reload }).catch((error: unknown) => {
      this.#storage.log.error({ err: error, classId }, 'other nodes were not told about suspended notifications');
    });
  }

  async close(): Promise<void> {
    this.#stop();
    this.#own.release();
    await this.#sending;
  }

  /** Changes that arrive while a notice is being sent go into the next one. */
  async #send(): Promise<void> {
    while (this.#waiting.length > 0) {
      const changes = this.#waiting;
      this.#waiting = [];
      try {
        await this.#publish({ kind: 'changes', changes });
      } catch (error) {
        this.#storage.log.error({ err: error, count: changes.length }, 'changes were not told to other nodes');
      }
    }
    this.#sending = undefined;
  }

  async #publish(message: Message, db?: Db, mark?: number): Promise<void> {
    // Entities are JSON, therefore messages are too.
    await this.#storage.notices.publish(TOPIC, message as unknown as NoticePayload, db, mark);
  }
}

async function follow(follower: ClusterFollower, message: Message): Promise<void> {
  switch (message.kind) {
    case 'classes':
      await follower.classesChanged();
      break;
    case 'changes':
      for (const change of message.changes) follower.entityChanged(change);
      break;
    case 'entity':
    case 'entities':
    case 'clear':
      follower.sharedChanged(message, true);
      break;
    case 'notify':
      follower.notificationsChanged(message.classId, message.suspended, message.reload);
      break;
    default:
      message satisfies never;
  }
}
