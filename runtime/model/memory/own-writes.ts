/**
 * Writes of this node whose notices are pending. All nodes apply all writes in commit order, and so does the writer:
 * otherwise its own write and a later one of another node could cross.
 */

/** One transaction. */
export interface OwnWrite {
  /** Notices not yet received. */
  readonly marks: Set<number>;
  readonly followed: PromiseWithResolvers<void>;
  isCommitted: boolean;
}

interface Waiting {
  readonly write: OwnWrite;
  readonly follow: () => void;
}

export class OwnWrites {
  readonly #waiting = new Map<number, Waiting>();
  #last = 0;

  begin(): OwnWrite {
    return { marks: new Set(), followed: Promise.withResolvers(), isCommitted: false };
  }

  /**
   * @param follow called when the notice arrives in order
   * @returns the mark to publish it with
   */
  expect(write: OwnWrite, follow: () => void): number {
    this.#last += 1;
    write.marks.add(this.#last);
    this.#waiting.set(this.#last, { write, follow });
    return this.#last;
  }

  /** Handles a received notice of this node. False when nobody waits for it any more. */
  arrived(mark: number): boolean {
    const waiting = this.#waiting.get(mark);
    if (waiting === undefined) return false;
    const { write, follow } = waiting;
    this.#waiting.delete(mark);
    write.marks.delete(mark);
    try {
      follow();
    } finally {
      if (write.marks.size === 0) write.followed.resolve();
    }
    return true;
  }

  /** Stops waiting; late notices are applied like those of other nodes. */
  forget(write: OwnWrite): void {
    for (const mark of write.marks) this.#waiting.delete(mark);
    write.marks.clear();
    write.followed.resolve();
  }

  /** Everything was reloaded: committed writes are included, and their notices may be lost. */
  release(): void {
    for (const { write } of this.#waiting.values()) if (write.isCommitted) this.forget(write);
  }

  /**
   * Waits until all notices of a committed write have arrived.
   *
   * @param limitMs milliseconds
   * @returns false after the limit
   */
  async followed(write: OwnWrite, limitMs: number): Promise<boolean> {
    write.isCommitted = true;
    if (write.marks.size === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<boolean>((resolve) => {
      timer = setTimeout(resolve, limitMs, false);
    });
    const isFollowed = await Promise.race([write.followed.promise.then(() => true), late]);
    clearTimeout(timer);
    return isFollowed;
  }
}
