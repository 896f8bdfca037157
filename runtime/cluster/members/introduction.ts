/** How a node becomes one of the cluster. */
import { NodeGoneError } from '../errors.ts';
import type { Requests } from '../link/requests.ts';
import type { Log } from '../log.ts';
import type { Member } from './member.ts';
import type { Membership } from './membership.ts';

/** Milliseconds that a start waits for the cluster; after them the node works with what it knows. */
const LIMIT_MS = 3000;
/** Milliseconds for another node to answer. */
const ANSWER_MS = 1000;
const HELLO = 'members.hello';

/** A node takes calls when it knows the others, and they know it: a call may go to each of them, and each asks back. */
export class Introduction {
  readonly #members: Membership;
  readonly #requests: Requests;
  readonly #log: Log;

  constructor(members: Membership, requests: Requests, log: Log) {
    this.#members = members;
    this.#requests = requests;
    this.#log = log;
    requests.serve(HELLO, (told) => members.meet(told as Member));
  }

  /**
   * Begins to tell the others of this node.
   * @param self called at each heartbeat
   * @param waits false while NATS is away
   */
  async join(self: () => Member, waits: boolean): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, waits ? LIMIT_MS : 0);
    });
    await Promise.race([this.#members.read, late]);
    this.#members.join(self);
    await Promise.race([this.#members.echoed.then(() => this.#greet(self())), late]);
    clearTimeout(timer);
  }

  /** The heartbeat comes to each of the others at a time of its own. */
  async #greet(self: Member): Promise<void> {
    await Promise.all(
      this.#members.others.map(async (member) => {
        const gone = this.#members.goneSignal(member.id);
        try {
          await this.#requests.ask(member, HELLO, self, { timeoutMs: ANSWER_MS, gone });
        } catch (err) {
          // Its last heartbeat outlives it, as that of the process before this one does after a crash.
          if (err instanceof NodeGoneError) this.#members.unreachable(member.id);
          this.#log.debug({ err, node: member.node }, 'a node of the cluster did not answer at the start of this one');
        }
      }),
    );
  }
}
