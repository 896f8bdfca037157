/** The other nodes, as the parts of this room ask them. */
import { OperationError } from '../operations/index.ts';
import { ClusterAwayError, NodeGoneError, NodeSilentError } from './errors.ts';
import type { AskOptions, Handler, Requests } from './link/requests.ts';
import type { Membership } from './members/membership.ts';
import type { Member } from './members/member.ts';

/** Milliseconds for an answer from memory. */
const QUICK_MS = 2000;
/** A node that nobody hears at NATS may be connecting again: it is asked once more, this often and after this time. */
const RETRIES = 3;
const RETRY_MS = 250;
/** Seconds after which a caller who was answered 503 should ask again. */
const RETRY_AFTER_SECONDS = 1;

export interface NodeAnswer<Answer> {
  /** Of the node's process. */
  readonly id: string;
  readonly answer: Answer;
}

export class Nodes {
  readonly #requests: Requests;
  readonly #members: Membership;

  constructor(requests: Requests, members: Membership) {
    this.#requests = requests;
    this.#members = members;
  }

  /** True while this node reaches the others. */
  get isConnected(): boolean {
    return this.#members.isConnected;
  }

  /** @param met called with each node that comes */
  onJoined(met: (id: string) => void): void {
    this.#members.listen({ joined: ({ id }) => met(id) });
  }

  serve(method: string, handler: Handler): void {
    this.#requests.serve(method, handler);
  }

  /**
   * Asks all other nodes at once, from memory. Dead ones have no answer.
   * @throws OperationError `node_unreachable` while NATS is away, or a living node does not answer
   */
  async askAll<Answer>(
    method: string,
    parameters: unknown,
    timeoutMs = QUICK_MS,
  ): Promise<readonly NodeAnswer<Answer>[]> {
    if (!this.#members.isConnected) throw unreachable(new ClusterAwayError());
    const answers = await Promise.all(
      this.#members.others.map(async (member) => {
        try {
          return {
            id: member.id,
            answer: (await this.#patiently(member, method, parameters, { timeoutMs, probes: true })) as Answer,
          };
        } catch (error) {
          if (error instanceof NodeGoneError) return undefined;
          throw unreachable(error);
        }
      }),
    );
    return answers.filter((answer) => answer !== undefined);
  }

  /**
   * Asks one node for something that may take long: until it answers, or dies.
   * @param id of its process
   * @throws NodeGoneError; OperationError `node_unreachable` while NATS is away; NodeFailedError
   */
  async ask(id: string, method: string, parameters: unknown, timeoutMs: number): Promise<unknown> {
    const member = this.#members.others.find((each) => each.id === id);
    if (member === undefined) throw new NodeGoneError(id);
    try {
      return await this.#patiently(member, method, parameters, { timeoutMs });
    } catch (error) {
      throw error instanceof NodeGoneError ? error : unreachable(error);
    }
  }

  async #patiently(
    member: Member,
    method: string,
    parameters: unknown,
    options: Omit<AskOptions, 'gone'>,
  ): Promise<unknown> {
    const gone = this.#members.goneSignal(member.id);
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#requests.ask(member, method, parameters, { ...options, gone });
      } catch (error) {
        if (!(error instanceof NodeGoneError) || gone.aborted) throw error;
        if (attempt === RETRIES) throw this.#members.unreachable(member.id) ? error : new ClusterAwayError();
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}

/** The error for callers of what needs another node; others stay as they are. */
export function unreachable(error: unknown): unknown {
  const isKnown =
    error instanceof ClusterAwayError || error instanceof NodeSilentError || error instanceof NodeGoneError;
  if (!isKnown) return error;
  return new OperationError({
    kind: 'node_unreachable',
    reason: error.message,
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  });
}
